"""The rules of reconvergence, each alone; and what is said where the stack is empty or full."""

from __future__ import annotations

import pytest

from tests.simt.mask.programs import program
from warpsmith.simt.mask.stack import MaskFault, MaskStack, StackError, control, describe_fault

PROGRAM = program("push_mask L\npop_mask\nmask_nz r0.x\nbr_push r0.x, E, L\njmp L\nE:\nret\nL:\nmov r0.x, u(1)\nret\n")
E, L = 5, 6


def after(index: int, true: int, entries: list[tuple[int, int]], exec: int = 0b1111) -> tuple[int, int, object]:
    state = MaskStack(exec, 4, index, list(entries))
    assert control(state, PROGRAM.instructions[index], true) is (index == 5)
    return state.exec, state.pc, state.entries


def test_push_and_pop() -> None:
    assert after(0, 0, [], 0b0110) == (0b0110, 1, [(0b0110, L)])
    assert after(1, 0, [(1, 9), (0b11, 3)], 0b0100) == (0b11, 3, [(1, 9)])


def test_lanes_that_are_not_zero_stay_and_without_one_the_entry_on_top_is_popped() -> None:
    assert after(2, 0b1010, [(0b1111, L)], 0b0111) == (0b0010, 3, [(0b1111, L)])
    assert after(2, 0b1000, [(0b1111, L)], 0b0111) == (0b1111, L, [])


def test_a_branch_pushes_where_all_meet_and_then_the_lanes_of_the_other_arm() -> None:
    assert after(3, 0b0011, [], 0b0110) == (0b0010, 4, [(0b0110, L), (0b0100, E)])
    assert after(3, 0b1111, [], 0b0110) == (0b0110, 4, [(0b0110, L)])
    assert after(3, 0, [], 0b0110) == (0b0110, E, [(0b0110, L)])


def test_jump_and_return() -> None:
    assert after(4, 0, [(1, 2)]) == (0b1111, L, [(1, 2)])
    assert after(5, 0, [(1, 2)]) == (0b1111, 5, [(1, 2)])


def test_lanes_that_never_go_on_are_known() -> None:
    assert MaskStack(0b0011, 4, 0, [(0b1011, 1), (0b0100, 2)]).left_lanes() == 0b1100


def test_an_empty_and_a_full_stack() -> None:
    for index in (1, 2):
        with pytest.raises(StackError) as empty:
            control(MaskStack(1, 4, index, []), PROGRAM.instructions[index], 0)
        assert empty.value.kind == "underflow"
    with pytest.raises(StackError) as full:
        control(MaskStack(3, 1, 3, []), PROGRAM.instructions[3], 1)
    assert full.value.kind == "overflow"
    with pytest.raises(ValueError, match="no control"):
        control(MaskStack(1, 1), PROGRAM.instructions[L], 0)


@pytest.mark.parametrize(
    ("fault", "line", "words"),
    [
        (MaskFault("underflow", 1, 3), 2, "pop_mask pops the mask stack of wave 3, which is empty"),
        (MaskFault("overflow", 0, 0, at=(4, 0)), 1, "push_mask pushes onto the mask stack of wave 0, whose 4 entries"),
        (MaskFault("outside", 6, 1, 7, (64, 64)), 9, "lane 7 of wave 1 accesses byte 64, outside of the 64 bytes"),
        (MaskFault("misaligned", 6, 1, 7, (3, 0)), 9, "byte 3, which is no multiple of 4"),
        (MaskFault("pixel", 6, 1, 7, (3, 9)), 9, "writes the pixel (3, 9), outside"),
        (MaskFault("endless", 4, 0, at=(1000, 0)), 5, "wave 0 is still running here after 1,000 clocks"),
    ],
)
def test_a_fault_is_told_at_its_line_with_a_remedy(fault: MaskFault, line: int, words: str) -> None:
    told = describe_fault(PROGRAM, fault)
    assert told.span is not None and told.span.line == line
    assert words in told.message and told.help
    assert told.rule == ("MSK004" if fault.kind == "endless" else "MSK003")
