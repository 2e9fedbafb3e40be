"""LLVM IR of one lane, and lines of the user's text."""

from __future__ import annotations

from llvmlite import ir

from tests.targets.llvm.texts import ir_of
from warpsmith.targets.llvm.module import OneLane


def test_numbers_are_written_as_they_are_and_nan_by_its_bits() -> None:
    e = OneLane(ir.Module("m"))
    assert str(e.pattern(ir.FloatType(), 0x3F800000)) == "float 0x3ff0000000000000"
    assert str(e.pattern(ir.FloatType(), 0x7FC00001)) == "bitcast (i32 2143289345 to float)"
    assert str(e.pattern(ir.IntType(8), 255)) == "i8 255"


def test_a_vector_of_one_lane_is_a_value() -> None:
    e = OneLane(ir.Module("m"))
    assert e.vector(ir.IntType(32)) == ir.IntType(32)
    assert str(e.splat_constant(ir.IntType(32), 7)) == "i32 7"
    assert str(e.real(ir.DoubleType(), 0.5)) == "double 0x3fe0000000000000"


def test_each_instruction_has_its_line() -> None:
    made = ir_of("__global__ void k(int *a) {\n    int v = a[0];\n    a[1] = v * 5;\n}")
    (multiplied,) = (line for line in made.splitlines() if " mul i32" in line)
    number = multiplied.rpartition("!dbg !")[2]
    (place,) = (line for line in made.splitlines() if line.startswith(f"!{number} = !DILocation("))
    assert "line: 3," in place
