"""What a launch begins with."""

from __future__ import annotations

from warpsmith.analysis.counts.footprint import REGION
from warpsmith.analysis.counts.slopes import Known, Lacking, Number
from warpsmith.analysis.counts.threads import LaunchedThreads
from warpsmith.analysis.counts.values import LaunchSources, array_of
from warpsmith.ssa.nodes import Address, Function, Instruction, Memory, Module, Param, Query, Symbol, Value
from warpsmith.ssa.types import F32, I32, I64, I128, Type

SYMBOLS = (
    Symbol("tile", "shared", I32, 33, 4),
    Symbol("open", "shared", I32, 0, 4),
    Symbol("more", "shared", I32, 8, 4),
)
FUNCTION = Function("k", True, (), (), (), SYMBOLS)


def _sources() -> LaunchSources:
    threads = LaunchedThreads.of((32, 1, 1), (5000, 1, 1), 32)
    return LaunchSources.of(Module((FUNCTION,)), FUNCTION, threads, {"n": -3, "m": 7})


def _of(sources: LaunchSources, detail: object, type: Type = I32, op: str = "param") -> Number:
    value = Value(type)
    return sources.of_instruction(Instruction(op, (), (value,), detail), value)  # type: ignore[arg-type]


def test_arguments_that_are_known_and_those_that_are_not() -> None:
    sources = _sources()
    known, pointer, other = (_of(sources, Param(name), type) for name, type in (("n", I32), ("p", I64), ("q", I64)))
    assert isinstance(known, Known) and known.column.tolist() == [-3] and not known.pointer
    assert isinstance(pointer, Known) and isinstance(other, Known) and (pointer.pointer, other.pointer) == ("p", "q")
    assert pointer.column[0] % 256 == 0 and array_of(other.column)[0] == array_of(pointer.column)[0] + 1
    assert array_of(pointer.column - REGION // 4) == array_of(pointer.column)
    assert _of(sources, Param("x")) == Lacking("the argument x") == _of(sources, Param("x"), F32)
    assert isinstance(_of(sources, Param("x"), I128), Lacking)
    real = _of(sources, Param("m"), F32)
    assert isinstance(real, Known) and real.column.view("f4").tolist() == [7.0]


def test_variables_begin_at_the_first_bank() -> None:
    sources = _sources()
    places = [_of(sources, Address(symbol.name), I64, "address") for symbol in SYMBOLS]
    starts = [int(place.column[0]) for place in places if isinstance(place, Known)]
    assert len(starts) == 3 and all(start % 128 == 0 for start in starts)
    assert starts[0] == 0 and starts[2] >= 33 * 4 and starts[1] >= starts[2] + 32
    assert _of(sources, Address("nothing"), I64, "address") == Lacking("where nothing lies")


def test_registers_and_memory() -> None:
    sources = _sources()
    block = _of(sources, Query("ctaid.x"), I32, "query")
    assert isinstance(block, Known) and set(block.slopes) == {"ctaid.x"}
    assert _of(sources, Query("clock64"), I64, "query") == Lacking("the register %clock64")
    assert _of(sources, Memory("global"), I32, "load") == Lacking("what is loaded")
    assert _of(sources, None, I32, "vote") == Lacking("what vote gives")
