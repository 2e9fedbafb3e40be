"""Where threads with a stack of labels each go; they do what a wave of one lane does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.mask.programs import program
from warpsmith.simt.mask.parting import Together, part
from warpsmith.simt.mask.stack import MaskStack, StackError, control

TEXT = "push_mask D\npop_mask\nmask_nz r0.x\nbr_push r0.x, C, D\nC:\njmp D\nmov r0.x, u(1)\nD:\nret\n"
PUSH, POP, NONZERO, BRANCH, JUMP, MOVE, RET = program(TEXT).instructions


def test_ways_of_each_instruction() -> None:
    one = Together(0b1111, 2, (9,))
    assert part(one, PUSH, 0, 8) == (Together(0b1111, 3, (9, 6)),)
    assert part(one, POP, 0, 8) == (Together(0b1111, 9),)
    assert part(one, NONZERO, 0b0110, 8) == (Together(0b0110, 3, (9,)), Together(0b1001, 9))
    assert part(one, NONZERO, 0, 8) == (Together(0b1111, 9),)
    assert part(one, BRANCH, 0b0110, 8) == (Together(0b0110, 3, (9, 6)), Together(0b1001, 4, (9, 6)))
    assert part(one, BRANCH, 0b1111, 8) == (Together(0b1111, 3, (9, 6)),)
    assert part(one, JUMP, 0, 8) == (Together(0b1111, 6, (9,)),)
    for other in (MOVE, RET):
        with pytest.raises(ValueError, match="sends no thread anywhere"):
            part(one, other, 0, 8)


def test_a_stack_is_empty_or_full() -> None:
    for instruction, labels, kind in ((POP, (), "underflow"), (NONZERO, (), "underflow"), (PUSH, (1, 1), "overflow"),
                                      (BRANCH, (1, 1), "overflow")):  # fmt: skip
        with pytest.raises(StackError) as raised:
            part(Together(1, 0, labels), instruction, 0, 2)
        assert raised.value.kind == kind
    # where all go on, nothing is popped
    assert part(Together(1, 0), NONZERO, 1, 2) == (Together(1, 1),)


def test_one_thread_goes_where_a_wave_of_one_lane_does() -> None:
    made = np.random.default_rng(0)
    for _ in range(300):
        thread, wave = Together(1, 0, (6, 5)), MaskStack(1, 64, 0, [(1, 6), (1, 5)])
        for _ in range(6):
            instruction = (PUSH, POP, NONZERO, BRANCH, JUMP)[made.integers(5)]
            true = int(made.integers(2))
            try:
                (thread,) = part(thread, instruction, true, 64)
            except StackError as error:
                with pytest.raises(StackError, match=error.kind):
                    control(wave, instruction, true)
                break
            control(wave, instruction, true)
            assert (thread.pc, thread.lanes) == (wave.pc, wave.exec)
