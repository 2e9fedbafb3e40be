"""How types lie in memory, and by which accesses objects are copied."""

from __future__ import annotations

import pytest

from warpsmith.lower.layout import (
    MOST_PIECES,
    NotModeled,
    align_of,
    is_object,
    lanes_of,
    leaf,
    member_at,
    pieces,
    size_of,
    stored_type,
    value_type,
)
from warpsmith.ssa.types import F16, F32, I1, I8, I32, I64
from warpsmith.tree.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    VOID,
    Array,
    Field,
    FunctionType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Type,
)


def record(*members: Type, alignment: int = 0, union: bool = False) -> Record:
    fields, offset, most = [], 0, 1
    for n, type in enumerate(members):
        align = align_of(type)
        most = max(most, align)
        offset = 0 if union else (offset + align - 1) // align * align
        fields.append(Field(f"m{n}", type, offset))
        offset += size_of(type)
    size = max(size_of(m) for m in members) if union else offset
    whole = alignment or most
    return Record("r", (size + whole - 1) // whole * whole, tuple(fields), union=union, alignment=whole)


def shape(type: Type) -> list[tuple[int, str, int]]:
    return [(p.offset, str(p.type), p.count) for p in pieces(type)]


FLOAT4 = record(*[FLOAT] * 4, alignment=16)
INT3 = Record("int3", 16, tuple(Field(f"s{n}", INT, 4 * n) for n in range(3)), alignment=16, lanes=3)


def test_values_in_registers_and_in_memory() -> None:
    assert (value_type(BOOL), stored_type(BOOL), value_type(CHAR)) == (I1, I8, I8)
    assert value_type(Pointer(INT)) == value_type(FunctionType(INT, ())) == I64
    assert value_type(Scalar("__half", 16, "float")) == F16 and value_type(FLOAT) == F32 and value_type(INT) == I32
    assert value_type(Opaque("__read_only image2d_t")) == value_type(Opaque("sampler_t")) == I64
    for type in (VOID, FLOAT4, Array(INT, None, 2), Opaque("event_t"), Scalar("long double", 128, "float")):
        with pytest.raises(NotModeled, match="a value of type"):
            value_type(type)


def test_sizes() -> None:
    assert [size_of(t) for t in (VOID, INT, Pointer(INT), Array(Array(INT, None, 3), None, 2), FLOAT4)] == [
        1,
        4,
        8,
        24,
        16,
    ]
    assert size_of(Record("empty", 0)) == 1 and align_of(Record("empty", 0)) == 1
    assert [align_of(t) for t in (VOID, DOUBLE, Array(LONG, None, 2), FLOAT4, record(CHAR, INT))] == [1, 8, 8, 16, 4]
    for type in (Array(INT, None, None), FunctionType(INT, ())):
        with pytest.raises(NotModeled, match="the size of"):
            size_of(type)
    assert leaf(Array(Array(INT, None, 3), None, 2)) == INT and is_object(FLOAT4) and not is_object(Pointer(INT))
    assert lanes_of(INT3) == 3 and lanes_of(FLOAT4) == 0


def test_vectors_that_are_aligned_move_at_once() -> None:
    assert shape(FLOAT4) == [(0, "f32", 4)]
    assert shape(record(*[FLOAT] * 4)) == [(4 * n, "f32", 1) for n in range(4)]
    assert shape(record(FLOAT, FLOAT, FLOAT)) == [(0, "f32", 1), (4, "f32", 1), (8, "f32", 1)]
    assert shape(INT3) == [(0, "i32", 2), (8, "i32", 1)]
    assert shape(record(DOUBLE, DOUBLE, alignment=16)) == [(0, "f64", 2)]
    assert shape(record(INT, FLOAT, alignment=8)) == [(0, "i32", 1), (4, "f32", 1)]
    eight = Record("float8", 32, tuple(Field(f"s{n}", FLOAT, 4 * n) for n in range(8)), alignment=32, lanes=8)
    assert shape(eight) == [(0, "f32", 4), (16, "f32", 4)]
    wrapped = record(record(FLOAT), record(FLOAT), alignment=8)
    assert shape(wrapped) == [(0, "f32", 2)]


def test_equal_scalars_move_at_once_as_far_as_the_object_is_aligned() -> None:
    half = Scalar("__half", 16, "float")
    assert shape(record(Array(FLOAT, None, 4), alignment=16)) == [(0, "f32", 4)]
    assert shape(record(Array(FLOAT, None, 4), alignment=8)) == [(0, "f32", 2), (8, "f32", 2)]
    assert shape(record(Array(half, None, 8), alignment=16)) == [(0, "f16", 8)]
    assert shape(record(FLOAT, Array(FLOAT, None, 4), alignment=16)) == [(0, "f32", 4), (16, "f32", 1)]
    assert shape(record(INT, Array(FLOAT, None, 4), alignment=16)) == [
        (0, "i32", 1),
        (4, "f32", 1),
        (8, "f32", 2),
        (16, "f32", 1),
    ]
    assert shape(Array(FLOAT, None, 4)) == [(4 * n, "f32", 1) for n in range(4)]


def test_a_member_is_called_as_the_source_calls_it() -> None:
    inner = Record("i", 8, (Field("w", INT, 0), Field("h", INT, 4)), alignment=4)
    base = Field("", inner, 0)
    outer = Record("o", 28, (base, Field("row", Array(inner, None, 2), 8), Field("f", FLOAT, 24)), alignment=4)
    named = {at: member_at(outer, at) for at in range(0, 28, 4)}
    assert named == {0: ".w", 4: ".h", 8: ".row[0].w", 12: ".row[0].h", 16: ".row[1].w", 20: ".row[1].h", 24: ".f"}
    assert (member_at(INT, 0), member_at(record(INT, FLOAT, union=True), 0)) == ("", "")


def test_structs_arrays_and_unions() -> None:
    assert shape(record(CHAR, INT, Array(BOOL, None, 2))) == [(0, "i8", 1), (4, "i32", 1), (8, "i8", 2)]
    assert shape(record(INT, FLOAT4, union=True)) == [(0, "f32", 4)]
    assert shape(record(record(CHAR, INT), DOUBLE, union=True)) == [(0, "f64", 1)]
    assert shape(record(record(CHAR, INT), INT, union=True)) == [(0, "i32", 1), (4, "i32", 1)]
    bits = Record("b", 4, (Field("a", INT, 0, 3), Field("b", INT, 0, 4, 3)), alignment=4)
    assert shape(bits) == [(0, "i32", 1)]
    with pytest.raises(NotModeled, match="more than"):
        pieces(Array(INT, None, MOST_PIECES + 1))
    assert len(pieces(Array(INT, None, MOST_PIECES))) == MOST_PIECES
