"""Symbols and types as plain lists, and back."""

from __future__ import annotations

import json

import pytest

from warpsmith.tree.plain import Plain, decode_symbol, decode_type, encode_symbol, encode_type
from warpsmith.tree.types import DOUBLE, INT, VOID, Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type

TYPES: tuple[Type, ...] = (
    INT, VOID, Scalar("char", 8, "signed", const=True, volatile=True), Pointer(DOUBLE, restrict=True),
    Pointer(Pointer(INT, const=True)), Array(Array(INT, None, 3), None, None), Record("s", 16, union=True, const=True),
    FunctionType(INT, (Pointer(INT), DOUBLE), variadic=True), Opaque("volatile int *volatile"),
)  # fmt: skip


@pytest.mark.parametrize("type", TYPES)
def test_what_is_written_is_read(type: Type) -> None:
    sent = json.loads(json.dumps(encode_type(type)))
    back = decode_type(sent)
    assert back == type and encode_type(back) == sent
    symbol = Symbol("x", "a.c:3:x", type, "static local")
    again = decode_symbol(json.loads(json.dumps(encode_symbol(symbol))))
    assert (again, again.storage, again.type) == (symbol, "static local", type)


@pytest.mark.parametrize(
    "plain",
    [None, [], "s", ["s"], ["s", "int", "32", "signed", False, False], ["p", ["o", "x"], 1, False],
     ["a", ["o", "x"], "3"],     ["r", "s", 4, False], ["f", ["o", "x"], "int", False],
     ["q", "x"], ["p", None, False, False]],
)  # fmt: skip
def test_what_is_none_of_ours_is_refused(plain: Plain) -> None:
    with pytest.raises(ValueError, match="not a type"):
        decode_type(plain)


@pytest.mark.parametrize("plain", [None, [], ["x", "k", "local"], {"x": 1}])
def test_a_symbol_has_four_parts(plain: Plain) -> None:
    with pytest.raises(ValueError, match="not a list of ours"):
        decode_symbol(plain)
