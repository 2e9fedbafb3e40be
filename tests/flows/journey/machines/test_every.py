"""Every machine is named once, and runs the text of a target that is written."""

from __future__ import annotations

from warpsmith.flows.journey.machines.every import MACHINES
from warpsmith.flows.journey.written import ORDER


def test_machines_have_names_and_targets_of_their_own() -> None:
    assert len({one.name for one in MACHINES}) == len(MACHINES)
    targets = [one.target for one in MACHINES if one.target]
    assert len(set(targets)) == len(targets) and set(targets) <= set(ORDER)
