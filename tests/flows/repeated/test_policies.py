"""A launch once more under policies: same arguments, same results, and what each of them costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.ptx import file, kernel
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.units import KernelFile
from warpsmith.report.simulation.model import SimulationReport
from warpsmith.simt.policies.machine import POLICIES, PolicyName

BOTH = Path(__file__).parents[3] / "examples" / "manual" / "both.cu"
HALF = ("a=rand:i32[32]:below=2", "b=rand:i32[32]:seed=2:below=2", "out=empty:i32[32]")
# the last lane that stores wins
LAST = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1;\n"


def both(*policies: PolicyName, arguments: tuple[str, ...] = HALF, timeline: bool = False) -> SimulationReport:
    options = SimulateOptions(block=(32, 1, 1), arguments=arguments, policies=policies, timeline=timeline)
    return simulate(KernelFile(str(BOTH)), options)


def test_an_else_of_two_conditions_runs_twice_on_a_stack() -> None:
    found = both(*POLICIES)
    assert found.work is not None and found.status == "ok"
    rows = {row.policy: row for row in found.policies}
    assert tuple(rows) == POLICIES
    for name in ("maximal", "structurized", "per-lane"):
        row = rows[name]
        assert (row.warp_instructions, row.issued_slots) == (found.work.warp_instructions, found.work.issued_slots)
    # the else arm has 13 instructions
    stacks = {rows[name].warp_instructions for name in ("ipdom", "true-first", "smaller-first")}
    assert stacks == {found.work.warp_instructions + 13}
    assert all(not row.differs and not row.stopped for row in rows.values())
    assert len({row.lane_instructions for row in rows.values()}) == 1


def test_a_timeline_is_of_the_one_policy_that_was_asked_for() -> None:
    drawn = both("ipdom", timeline=True)
    assert drawn.drawn == "ipdom" and drawn.work is not None
    (group,) = drawn.timeline
    assert sum(step.count for step in group.steps) == drawn.work.warp_instructions + 13
    assert both("ipdom", "maximal", timeline=True).drawn == both(timeline=True).drawn == ""


def test_results_that_depend_on_the_order_of_lanes_are_named() -> None:
    options = SimulateOptions(
        block=(8, 1, 1), grid=(1, 1, 1), arguments=("a=zeros:i32[8]", "n=3"), policies=("maximal",), checks=(), seed=1
    )
    seen = {simulate(file(kernel(body=LAST)), options).policies[0].differs for options in _seeds(options)}
    assert ("a",) in seen


def _seeds(options: SimulateOptions) -> list[SimulateOptions]:
    return [replace(options, seed=seed) for seed in range(6)]


def test_a_policy_that_never_ends_says_so() -> None:
    spin = (
        "ld.param.u64 %rd1, [a];\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n"
        "atom.global.exch.b32 %r2, [%rd1], 0;\n"
    )
    options = SimulateOptions(
        block=(8, 1, 1), grid=(1, 1, 1), arguments=("a=zeros:i32[8]", "n=3"), max_steps=4000, policies=POLICIES
    )
    found = simulate(file(kernel(body=spin)), options)
    assert found.exit_code == 0
    ended = {row.policy for row in found.policies if not row.stopped}
    assert ended == {"per-lane"}
    assert all("did not end within 4,000 steps" in row.stopped for row in found.policies if row.policy != "per-lane")


def test_a_policy_that_takes_too_long_leaves_the_rest_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise InputError(Finding("INP009", "error", "k ran longer than 1 s: it was stopped"))

    monkeypatch.setattr("warpsmith.flows.repeated.policies.execute_policy", late)
    found = both("ipdom", timeline=True)
    assert found.status == "ok" and found.work is not None and found.drawn == ""
    assert found.policies[0].stopped == "stopped: k ran longer than 1 s: it was stopped"


def test_lanes_of_two_warps_that_wait_for_ever_are_soon_known() -> None:
    spin = (
        "ld.param.u64 %rd1, [a];\n$try: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $try;"
        "\natom.global.exch.b32 %r1, [%rd1], 0;\nret;\n"
    )
    options = SimulateOptions(
        block=(8, 1, 1), grid=(1, 1, 1), arguments=("a=zeros:i32[8]", "n=3"), warp=4, policies=("ipdom", "per-lane")
    )
    found = simulate(file(kernel(body=spin)), options)
    assert found.work is not None
    stack, lane = found.policies
    most = 100_000 + 20 * found.work.lane_instructions
    assert stack.stopped.startswith(f"stopped: it did not end within {most:,} steps; lane")
    assert not lane.stopped
