"""Instructions before they have their last names."""

from __future__ import annotations

from warpsmith.front.il.nodes import IlDestination, IlRegister
from warpsmith.front.il.printing import print_il_instruction
from warpsmith.targets.il.writing.code import TRUE, IlCode, Word, component, launch_word

STORED = IlDestination(IlRegister("mem"), "x___")


def _texts(code: IlCode, stored: Word) -> list[str]:
    code.put("uav_raw_store_id", STORED, 0, stored)
    return [print_il_instruction(line) for line in code.finish().lines]


def test_what_nobody_reads_is_left_out() -> None:
    code = IlCode()
    one = code.compute("iadd", launch_word(3), 1)
    code.compute("iadd", one, 2)
    lines = _texts(code, one)
    assert lines == ["iadd r0.x___, cb0[0].x, l0.x", "uav_raw_store_id(0) mem0.x___, l0.y, r0.x"]
    made = code.finish()
    assert made.words == (3,) and made.literals[0].words == (1, 0, 0, 0)


def test_a_value_that_counts_only_itself_is_not_used() -> None:
    code = IlCode()
    count = code.register()
    code.put("whileloop", None)
    code.move(count, code.compute("iadd", component(count), 1))
    code.put("break_logicalnz", None, launch_word(0))
    code.put("endloop", None)
    assert [line.op.name for line in code.finish().lines] == ["whileloop", "break_logicalnz", "endloop"]


def test_an_index_is_a_register_and_what_it_depends_on_is_kept() -> None:
    code = IlCode()
    code.compute("iadd", launch_word(0), 7)
    place = code.compute("iadd", launch_word(0), 1)
    code.put("mov", IlDestination(code.element(place, 2), "x___"), component(code.element(3, 1)))
    code.put("mov", IlDestination(code.element(launch_word(0), 0), "x___"), 5)
    assert [print_il_instruction(line) for line in code.finish().lines] == [
        "iadd r0.x___, cb0[0].x, l0.x", "mov x0[r0.x+2].x___, x0[4].x", "mov r1.x___, cb0[0].x",
        "mov x0[r1.x].x___, l0.y",
    ]  # fmt: skip


def test_numbers_are_computed_at_once_and_neutral_ones_change_nothing() -> None:
    code = IlCode()
    assert code.compute("iadd", TRUE, 2) == 1
    assert code.compute("imul", launch_word(0), 1) == launch_word(0)
    assert code.compute("iand", TRUE, launch_word(0)) == launch_word(0)
    assert code.compute("ishl", 0, launch_word(0)) != launch_word(0)
    assert len(code.lines) == 1


def test_an_operation_is_written_once_in_a_block() -> None:
    code = IlCode()
    one = code.compute("iadd", launch_word(0), 5)
    assert code.compute("iadd", launch_word(0), 5) == one
    code.forget()
    assert code.compute("iadd", launch_word(0), 5) != one


def test_a_word_that_is_written_over_is_computed_anew() -> None:
    code = IlCode()
    register = code.register()
    one = code.compute("iadd", component(register), 5)
    code.move(register, one)
    assert code.compute("iadd", component(register), 5) != one
