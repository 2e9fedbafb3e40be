"""Lost lane slots: charged to the branch where lanes diverged, also in loops inside loops that lanes leave early."""

from __future__ import annotations

import struct

import pytest
from llvmlite import ir

from tests.simt.engine.agree import Case, Differs, agree
from tests.simt.engine.agree_policy import agree_under
from tests.simt.engine.policy_kernels import graph_case
from tests.simt.engine.seeded import BUGS, shown
from tests.simt.test_tally import ALTERNATE, NESTED, TRIPS
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.engine.lanes import VOID, Emit, Ir
from warpsmith.simt.engine.observers import lost
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


def forget_all(e: Emit) -> Ir:
    """A bug: what has grown old is of no use."""
    made = ir.Function(e.module, ir.FunctionType(VOID, [ir.PointerType()]), "forget")
    e.at(made.append_basic_block("entry"))
    e.write(made.args[0], 0, ir.Constant(ir.IntType(64), 0))
    e.b.ret_void()
    return made


def test_entries_of_use_are_kept_where_the_log_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost, "ROOM", 1)
    assert agree_under("per-lane", graph_case(1)) == ""
    monkeypatch.setattr(lost, "_forget_function", forget_all)
    with pytest.raises(Differs):
        agree_under("per-lane", graph_case(1))
