"""Places in memory: how far behind an address, how aligned, in which space."""

from __future__ import annotations

import pytest

from warpsmith.lower.layout import NotModeled
from warpsmith.lower.places import MemoryPlace, copy, load, place_pointed, pointer_to, store
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Instruction, Memory, Return
from warpsmith.ssa.types import I64
from warpsmith.tree.types import BOOL, FLOAT, INT, Field, Pointer, Record, Scalar, Type

FLOAT4 = Record("float4", 16, tuple(Field(n, FLOAT, 4 * k) for k, n in enumerate("xyzw")), alignment=16)


def made(builder: Builder) -> list[Instruction]:
    builder.end(Return())
    return [i for block in builder.finish() for i in block.instructions]


def place(space: str = "global", **more: int) -> MemoryPlace:
    return MemoryPlace(constant(I64, 64), space, **more)  # type: ignore[arg-type]


def test_alignment_shrinks_with_the_offset() -> None:
    whole = place().with_alignment(16)
    assert [whole.at(offset).align for offset in (0, 4, 8, 12, 16, 32, 2)] == [16, 4, 8, 4, 16, 16, 2]
    assert whole.at(8).at(8).offset == 16 and whole.with_alignment(4).align == 16


def test_generic_addresses() -> None:
    b = Builder("a")
    assert pointer_to(b, place("generic")) == constant(I64, 64)
    pointer_to(b, place("shared", offset=8))
    plain = place_pointed(b, constant(I64, 8), Pointer(INT))
    assert (plain.space, plain.volatile) == ("generic", False)
    assert place_pointed(b, constant(I64, 8), Pointer(Scalar("int", 32, "signed", volatile=True))).volatile
    assert place_pointed(b, constant(I64, 8), Pointer(INT, space="shared")).space == "shared"
    assert [i.op for i in made(b)] == ["add", "to_generic", "from_generic"]
    with pytest.raises(NotModeled, match="no pointer"):
        place_pointed(Builder("a"), constant(I64, 8), INT)


@pytest.mark.parametrize(
    ("type", "where", "detail"),
    [
        (INT, place(), Memory("global", 0, 4)),
        (INT, place().with_alignment(16).at(4), Memory("global", 4, 4)),
        (INT, place().with_alignment(16), Memory("global", 0, 16)),
        (BOOL, place("shared"), Memory("shared", 0, 1)),
        (INT, MemoryPlace(constant(I64, 64), "global", volatile=True), Memory("global", 0, 4, "volatile")),
        (INT, MemoryPlace(constant(I64, 64), "global", cached="read only"), Memory("global", 0, 4, "", "read only")),
    ],
)
def test_accesses_say_where_they_are(type: Type, where: MemoryPlace, detail: Memory) -> None:
    b = Builder("a")
    load(b, where, type)
    assert made(b)[0].detail == detail


def test_booleans_are_bytes_in_memory_and_copies_read_first() -> None:
    b = Builder("a")
    store(b, place(), BOOL, load(b, place(), BOOL))
    assert [i.op for i in made(b)] == ["load", "ne", "zext", "store"]
    b = Builder("a")
    pair = Record("pair", 8, (Field("a", INT, 0), Field("b", INT, 4)), alignment=4)
    copy(b, place(), place(offset=4), pair)
    assert [i.op for i in made(b)] == ["load", "load", "store", "store"]
    b = Builder("a")
    copy(b, place(), place("shared"), FLOAT4)
    (read, written) = made(b)
    assert len(read.results) == 4 and len(written.operands) == 5
