"""Arithmetic instructions of PTX and the ops that they are."""

from __future__ import annotations

import pytest

from tests.front.ptx.lines import ops

LINES = {
    "add.s32 %r1, 5, 7": "add", "sub.u32 %r1, 5, 7": "sub", "mul.lo.s32 %r1, 5, 7": "mul",
    "mul.hi.u32 %r1, 5, 7": "umulhi",
    "mul.wide.s32 %rd1, 5, 7": "smulwide", "div.s32 %r1, 5, 7": "sdiv", "rem.u32 %r1, 5, 7": "urem",
    "min.s32 %r1, 5, 7": "smin", "max.u32 %r1, 5, 7": "umax", "shl.b32 %r1, 5, 7": "shl", "shr.s32 %r1, 5, 7": "ashr",
    "shr.u32 %r1, 5, 7": "lshr", "and.b32 %r1, 5, 7": "and", "not.b32 %r1, 5": "not", "neg.s32 %r1, 5": "neg",
    "abs.s32 %r1, 5": "abs", "popc.b32 %r1, 5": "popcount", "clz.b32 %r1, 5": "leading", "brev.b32 %r1, 5": "reverse",
    "add.rn.f32 %f1, 0f3F800000, 0f40000000": "fadd [nearest]", "mul.f32 %f1, 0f3F800000, 0f40000000": "fmul",
    "fma.rz.f64 %fd1, 0d3FF0000000000000, 0d3FF0000000000000, 0d3FF0000000000000": "ffma [zero]",
    "div.approx.f32 %f1, 0f3F800000, 0f40000000": "fdiv [approximate]", "sqrt.rn.f32 %f1, 0f40000000": "sqrt [nearest]",
    "add.ftz.f32 %f1, 0f3F800000, 0f40000000": "fadd [flush]", "cvt.s64.s32 %rd1, 5": "sext",
    "cvt.u64.u32 %rd1, 5": "zext", "cvt.rn.f32.s32 %f1, 5": "sitof [nearest]",
    "cvt.rzi.s32.f32 %r1, 0f40000000": "ftosi [zero]", "cvt.rn.f32.f64 %f1, 0d3FF0000000000000": "ftrunc [nearest]",
    "setp.lt.s32 %p1, 5, 7": "slt", "setp.ge.u32 %p1, 5, 7": "uge", "setp.eq.f32 %p1, 0f40000000, 0f40000000": "foeq",
    "setp.neu.f32 %p1, 0f40000000, 0f40000000": "fune", "selp.b32 %r1, 5, 7, %p2": "select",
    "bfe.u32 %r1, 5, 7, 2": "uextract", "bfi.b32 %r1, 5, 7, 2, 3": "insert", "prmt.b32 %r1, 5, 7, 2": "permute",
}  # fmt: skip


@pytest.mark.parametrize("text", LINES)
def test_which_op(text: str) -> None:
    lines, told = ops(f"mov.u32 %r8, %tid.x; setp.eq.s32 %p2, %r8, 3; {text};")
    assert told == []
    op = LINES[text]
    assert any(line == op or line.startswith(f"{op} ") for line in lines), lines


def test_operands_keep_their_places() -> None:
    lines, _ = ops("mov.u32 %r1, %tid.x; sub.s32 %r2, 5, %r1; mad.lo.s32 %r3, %r1, 3, %r2;")
    assert lines[1].startswith("sub 5:i32 %") and any(line.startswith("mul %") for line in lines)
    lines, _ = ops("mov.u32 %r1, %tid.x; setp.lt.and.s32 %p1, %r1, 7, %p2;")
    assert [line.split()[0] for line in lines] == ["query", "slt", "and"]


def test_too_few_operands_are_blamed() -> None:
    _, told = ops("add.s32 %r1, 5;")
    assert told == ["add.s32: add.s32 has 2 operands and needs 3"]
