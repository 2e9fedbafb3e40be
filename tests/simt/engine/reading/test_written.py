"""What a kernel is guessed to write, and that a wrong guess hides no race."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine import engine
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.launch import Ended
from warpsmith.simt.engine.reading.written import WrittenMemory, written_memory
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

_RACE = """
    ld.global.u32 %r2, [%rd1+{away}];
    setp.eq.u32 %p1, %r1, 3; @!%p1 bra $end;
    st.global.u32 [%rd1+{away}], %r1;
$end: ret;"""


def guessed(body: str, more: str = "") -> WrittenMemory:
    function = kernel(body, more).function("k")
    assert function is not None
    return written_memory(function)


def stop_of(away: int) -> Stop:
    """Return why a kernel stops that is given a pointer so many bytes before its buffer, and adds them."""
    memory = LaunchMemory()
    buffer = memory.allocate("out", bytes(256))
    arguments = {"out": struct.pack("<Q", buffer.address - away), "n": bytes(4)}
    launch = Launch((1, 1, 1), (64, 1, 1), arguments, warp=32)
    return run(kernel(_RACE.format(away=away)), "k", launch, memory, Checks()).stop


def test_writes_come_from_the_parameters_of_their_addresses() -> None:
    assert guessed("st.global.u32 [%rd3+4], %r1; ret;").parameters == {("out", 0)}
    assert guessed("atom.global.add.u32 %r2, [%rd1], 3; ret;").parameters == {("out", 0)}
    assert guessed("ld.global.u32 %r2, [%rd3]; ret;").parameters == frozenset()


def test_an_index_from_memory_says_nothing_and_a_pointer_from_memory_says_that_all_may_be_written() -> None:
    index = "ld.global.u32 %r2, [table]; mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], 1;"
    found = guessed(index + "ret;", ".global .align 4 .b8 table[8];")
    assert found.parameters == {("out", 0)}
    assert not found.anywhere
    assert guessed("ld.global.u64 %rd5, [%rd1]; st.global.u32 [%rd5], 1; ret;").anywhere


def test_a_variable_that_is_written_is_told_by_its_name() -> None:
    found = guessed("mov.u64 %rd5, table; st.global.u32 [%rd5], 1; ret;", ".global .align 4 .b8 table[8];")
    assert found.variables == {"table"}


def test_a_wrong_guess_costs_a_second_run_and_hides_no_race(monkeypatch: pytest.MonkeyPatch) -> None:
    guesses: list[bool] = []
    right = engine._Attempt.run_once

    def watched(self: Any, count: int, *, guess: bool) -> Ended:
        guesses.append(guess)
        return right(self, count, guess=guess)

    monkeypatch.setattr(engine._Attempt, "run_once", watched)
    assert stop_of(0) is Stop.RACE
    assert guesses == [True]
    assert stop_of(4096) is Stop.RACE
    assert guesses == [True, True, False]
