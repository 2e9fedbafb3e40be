"""Rules that turn a call into one op: their arguments, lanes, and calls that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.opencl_answers import answers_cl
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


VALUES: dict[str, list[int | float]] = {
    "oi[g] = max((int2)(g, 4), 3).y + max((int2)(g, 4), 3).x": [7, 7, 7, 7, 8, 9, 10, 11],  # a number for all lanes
    "of[g] = pow((float2)(g, 2), (float2)(2, 3)).x": [n * n for n in range(8)],
    "of[g] = pow((float2)(g, 2), (float2)(2, 3)).y": [8] * 8,
    "of[g] = fmin((float4)(g), 3.0f).w": [0, 1, 2, 3, 3, 3, 3, 3],
    "of[g] = ldexp(1.0f, g)": [1, 2, 4, 8, 16, 32, 64, 128],  # an integer stays one
    "of[g] = pow((float)g, 2)": [n * n for n in range(8)],
    "oi[g] = clamp((int2)(g, 9), 2, 5).x": [2, 2, 2, 3, 4, 5, 5, 5],
}


def test_vectors_lane_by_lane(tmp_path: Path) -> None:
    assert answers_cl(VALUES, tmp_path) == VALUES
