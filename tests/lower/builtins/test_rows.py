"""Rules that turn a call into one op: their arguments, lanes, and calls that do not fit."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.lower.builtins.rows import is_number, needs, of_lanes
from warpsmith.lower.layout import NotModeled
from warpsmith.ssa.builder import constant
from warpsmith.ssa.types import I32
from warpsmith.tree.nodes import Call, Literal, Name
from warpsmith.tree.types import BOOL, DOUBLE, FLOAT, INT, Field, FunctionType, Pointer, Record, Symbol, Type

HERE = Span(SourceFile("k.cl", "f(1)"), 0, 4)
ONE = Literal(span=HERE, type=INT, text="1", value=1)
INT2 = Record("int2", 8, (Field("s0", INT, 0), Field("s1", INT, 4)), lanes=2)


def call(count: int, type: Type = INT) -> Call:
    kind = FunctionType(type, (INT,) * count)
    function = Name(span=HERE, type=kind, symbol=Symbol("f", "f", kind, "function"))
    return Call(span=HERE, type=type, function=function, arguments=(ONE,) * count)


def test_a_call_with_too_few_arguments_is_not_modeled() -> None:
    assert needs(call(2), 2) == (ONE, ONE) and len(needs(call(3), 2)) == 3 and needs(call(0), 0) == ()
    with pytest.raises(NotModeled, match="a call with 1 arguments where 2 are needed"):
        needs(call(1), 2)


def test_results_have_the_lanes_of_the_call() -> None:
    lanes = [constant(I32, 1), constant(I32, 2)]
    assert of_lanes(call(1, INT2), lanes) == tuple(lanes) and of_lanes(call(1), lanes[:1]) == lanes[0]


def test_floating_point_numbers() -> None:
    assert is_number(FLOAT) and is_number(DOUBLE)
    others: tuple[Type, ...] = (INT, BOOL, Pointer(FLOAT), INT2)
    assert not any(map(is_number, others))
