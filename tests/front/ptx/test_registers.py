"""Registers and immediates of PTX as operands."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.ptx.model import Declared
from warpsmith.front.ptx.registers import PtxError, Registers, floating, number
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Constant, Return
from warpsmith.ssa.types import F16, F32, F64, I1, I16, I32, I64, Type


@pytest.mark.parametrize(
    ("text", "type", "bits"),
    [("5", I32, 5), ("-1", I16, 0xFFFF), ("0x1F", I64, 31), ("0b101", I32, 5), ("017", I32, 15), ("7U", I32, 7),
     ("0xFFFFFFFFF", I32, 0xFFFFFFFF)],
)  # fmt: skip
def test_integers(text: str, type: Type, bits: int) -> None:
    assert number(text, type) == Constant(type, bits)


@pytest.mark.parametrize(
    ("text", "type", "bits"),
    [("0f3F800000", F32, 0x3F800000), ("0d3FF0000000000000", F64, 0x3FF0000000000000), ("1.5", F64, 0x3FF8000000000000),
     ("0f3F800000", F64, 0x3FF0000000000000), ("0d3FF0000000000000", F32, 0x3F800000)],
)  # fmt: skip
def test_floating_numbers(text: str, type: Type, bits: int) -> None:
    assert floating(text, type) == Constant(type, bits)


def registers() -> Registers:
    made = Registers(Builder("a"), {"tile": "shared"}, ("f", "g"))
    for name, type in (("%r1", I32), ("%rd1", I64), ("%f1", F32), ("%h1", F16), ("%p1", I1)):
        made.declare(Declared(name, "reg", type, 4, 1, Span(SourceFile("k.ptx", ""), 0, 0)))
    return made


def test_what_is_read_is_cut_or_extended_to_the_type() -> None:
    r = registers()
    for name, type in r.types.items():
        r.write(name, r.builder.emit("param", (), type))
    assert r.read("%r1", I32).type == I32 and r.read("%r1", I16).type == I16
    r.read("%r1", I64, signed=True)
    r.read("%r1", I64)
    assert r.read("%f1", I32).type == I32 and r.read("!%p1", I1).type == I1
    r.builder.end(Return())
    made = [i.op for block in r.builder.finish() for i in block.instructions if i.op != "param"]
    assert made == ["trunc", "sext", "zext", "bitcast", "not"]


def test_special_registers_and_symbols() -> None:
    r = registers()
    assert r.read("%tid.x", I32).type == I32 and r.read("%clock64", I64).type == I64
    assert r.read("WARP_SZ", I32) == constant(I32, 32)
    assert r.read("f", I64) != r.read("g", I64)
    with pytest.raises(PtxError):
        r.read("nowhere", I64)
    with pytest.raises(PtxError):
        r.read("%r77", I32)
    with pytest.raises(PtxError):
        r.write("%r77", constant(I32, 1))


def test_what_is_no_number_is_blamed() -> None:
    assert number("-017", I32) == constant(I32, -15) and number("0", I32) == constant(I32, 0)
    with pytest.raises(PtxError, match="08 is no number"):
        number("08", I32)
