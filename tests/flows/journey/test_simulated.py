"""The longest launch is counted for each width and policy as `simulate` counts it."""

from __future__ import annotations

from tests.flows.journey.begun import begun_step
from warpsmith.flows.journey.followed import count_calls, follow_all
from warpsmith.flows.journey.simulated import WIDTHS, simulate_widths
from warpsmith.simt.policies.machine import POLICIES


def test_every_width_and_policy_has_a_row() -> None:
    begun = begun_step()
    followed = follow_all(begun.versions, begun.inputs.arrays)
    stage = simulate_widths(begun, followed)
    assert {(row.width, row.policy) for row in stage.rows} == {(w, p) for w in WIDTHS for p in ("", *POLICIES)}
    assert not [row for row in stage.rows if row.why]
    # a warp twice as wide has half of the instructions, and the one of 32 is that which all launches are counted with
    counts = {row.width: row.warp_instructions for row in stage.rows if not row.policy}
    assert counts[8] > counts[16] > counts[32]
    assert counts[32] == count_calls(followed.of(begun.versions[0])).warp_instructions
    assert all((row.sectors is not None) == (not row.policy) for row in stage.rows)
