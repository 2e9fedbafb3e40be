"""Vectors of lanes: how wide, and masks as numbers."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from warpsmith.simt.engine.lanes import I64, Emit, element, lanes_of
from warpsmith.ssa.types import BF16, F16, F32, F64, I1, I32


@pytest.mark.parametrize("width", range(1, 65))
def test_a_vector_holds_a_warp_and_is_a_power_of_two(width: int) -> None:
    lanes = lanes_of(width)
    assert lanes >= max(8, width) and lanes & (lanes - 1) == 0
    assert lanes == 8 or lanes < 2 * width


def test_half_precision_is_its_bits() -> None:
    assert [str(element(type)) for type in (I1, I32, F16, BF16, F32, F64)] == [
        "i1", "i32", "i16", "i16", "float", "double",
    ]  # fmt: skip


def test_what_is_built_is_llvm_ir() -> None:
    module = ir.Module("m")
    e = Emit(module, 12)
    function = ir.Function(module, ir.FunctionType(I64, [e.mask_type]), "f")
    e.at(function.append_basic_block("entry"))
    total = e.slot(I64)
    e.b.store(I64(0), total)

    def body(left, lane):  # type: ignore[no-untyped-def]
        e.add_to(total, lane)
        return e.remove_lowest(left)

    e.while_bits(function.args[0], body)
    e.b.ret(e.b.add(e.b.load(total, typ=I64), e.count(function.args[0])))
    llvm.parse_assembly(str(module)).verify()
