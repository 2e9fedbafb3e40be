"""Functions of other files as plain data: what is read back is what was written, and nothing else is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.poly.analysis import program_of
from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.effects.outside import Outside, OutsideFunction, decode_function, encode_function, outside_of
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.pointers.pointers import UNKNOWN, Root
from warpsmith.tree.types import DOUBLE, INT, FunctionType, Pointer, Symbol

X, Y = (Symbol(name, name, Pointer(DOUBLE), "parameter") for name in "xy")
G, H = (Symbol(name, name, INT, "global") for name in "gh")
F = Symbol("f", "f", FunctionType(DOUBLE, (INT,), False), "function")
FULL = Summary(
    reads=frozenset({G, H}),
    writes=frozenset({G}),
    loads=frozenset({Root("entry", X), Root("object", H), UNKNOWN}),
    stores=frozenset({Root("entry", Y)}),
    retains=frozenset({1, 0}),
    returns=frozenset({Root("fresh")}),
    calls_unknown=True,
    io=False,
    allocates=True,
    reason="calls g",
)
FUNCTIONS = [
    OutsideFunction(F),
    OutsideFunction(F, (X, Y)),
    OutsideFunction(F, (X, Y), FULL),
    OutsideFunction(F, (), Summary()),
    OutsideFunction(F, (X,), Summary(io=True)),
    OutsideFunction(F, (X,), Summary(asserts=True)),
    OutsideFunction(F, (X,), Summary(calls_unknown=True)),
    OutsideFunction(F, (X,), Summary(allocates=True, returns=frozenset({Root("object", G), UNKNOWN}))),
]


@pytest.mark.parametrize("one", FUNCTIONS)
def test_what_is_read_back_is_what_was_written(one: OutsideFunction) -> None:
    plain = json.loads(json.dumps(encode_function(one)))
    assert decode_function(plain) == one


def test_the_place_of_a_reason_and_the_call_of_an_allocation_stay_behind() -> None:
    program = program_of("void g(void); void f(void) { g(); }")
    _, node = next(program.functions())
    call = node.body.statements[0]
    placed = replace(FULL, span=Span(SourceFile("a.c", "x"), 0, 1), returns=frozenset({Root("fresh", node=call)}))
    assert decode_function(encode_function(OutsideFunction(F, (X, Y), placed))).summary == FULL


def test_one_function_is_written_one_way() -> None:
    again = replace(FULL, reads=frozenset([H, G]), retains=frozenset([0, 1]))
    assert encode_function(OutsideFunction(F, (X,), again)) == encode_function(OutsideFunction(F, (X,), FULL))


def _set(*path: int) -> Callable[[Any, object], None]:
    def change(plain: Any, value: object) -> None:
        for step in path[:-1]:
            plain = plain[step]
        plain[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((1,), None),
        ((2,), 7),
        ((2, 0), []),
        ((2, 1, 0), [["unknown", ["x"]]]),
        ((2, 1, 0), [["object", None]]),
        ((2, 1, 0), [["elsewhere", None]]),
        ((2, 2), "01"),
        ((2, 2), ["one"]),
        ((2, 3, 0), 1),
        ((2, 3, 3), None),
        ((0,), ["f"]),
    ],
)
def test_what_is_none_of_ours_is_refused(place: tuple[int, ...], value: object) -> None:
    plain = json.loads(json.dumps(encode_function(OutsideFunction(F, (X, Y), FULL))))
    decode_function(plain)
    _set(*place)(plain, value)
    with pytest.raises(ValueError):
        decode_function(plain)


def test_a_program_without_other_files_knows_nothing_of_them() -> None:
    program = program_of("int x;")
    assert outside_of(program) == outside_of(program) and not outside_of(program).closed
    known = Outside(closed=True)
    assert outside_of(replace(program, outside=known)) is known
