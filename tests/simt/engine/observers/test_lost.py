"""Lost lane slots: charged to the branch where lanes diverged, also in loops inside loops that lanes leave early."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.agree import Case, Differs, agree
from tests.simt.engine.seeded import BUGS, shown
from tests.simt.test_tally import ALTERNATE, NESTED, TRIPS
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.launch import Launch
from warpsmith.ssa.reader import parse_module

ONLY = Checks(lost=True, requests=False, uninitialized=False, races=False)


@pytest.mark.parametrize("text", [TRIPS, NESTED, ALTERNATE], ids=["trips", "nested", "alternate"])
@pytest.mark.parametrize("width", [2, 4, 33])
def test_slots_are_charged_as_the_interpreter_charges_them(text: str, width: int) -> None:
    numbers = [1, 2, 3, 5, 0, 9, 9, 1]
    launch = Launch((1, 1, 1), (len(numbers), 1, 1), warp=width)
    case = Case(parse_module(text), "k", launch, {"a": (struct.pack("<8I", *numbers), True)})
    assert agree(case, ONLY) == ""


def test_lanes_that_leave_in_two_runs_of_a_loop_are_told_apart() -> None:
    (bug,) = (bug for bug in BUGS if "two runs" in bug.what)
    assert shown(bug)
    assert agree(bug.case()) == ""
    assert issubclass(Differs, AssertionError)
