"""Kernels of one op: thread i stores what it gives for the operands at place i of an array."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.simt.engine.agree import Case
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Detail, Function, Memory, Module, Operand, Param, Parameter, Query, Return
from warpsmith.ssa.types import F32, I1, I32, I64, Type

__all__ = ["FLOATS", "NUMBERS", "op_case"]

NUMBERS = (0, 1, 2, 3, 7, 31, 32, 33, 40, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFF9, 0x12345678)
_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.2, 1e-40, -1e-40, 1e9, 3e9, -3e9, 5e9, 16777217.0, 1e38,
    float("inf"), -float("inf"), float("nan"),
)  # fmt: skip
FLOATS = tuple(struct.unpack("<I", struct.pack("<f", one))[0] for one in _FLOATS)


def op_case(
    op: str, types: Sequence[Type], result: Type, words: Sequence[int], *, detail: Detail | None = None, fixed: int = -1
) -> Case:
    """Return a kernel of one op on operands of `types`, for all pairs of words; the last operand may be `fixed`."""
    pairs = [(a, b) for a in words for b in words] if len(types) > 1 else [(a, a) for a in words]
    rows = [(a, b, words[(at * 7 + 3) % len(words)]) for at, (a, b) in enumerate(pairs)]
    b = Builder("start")
    thread = b.emit("query", (), I32, Query("tid.x"))
    operands = [_operand(b, thread, at, type) for at, type in enumerate(types)]
    if fixed >= 0:
        operands[-1] = constant(types[-1], fixed)
    made: Operand = b.emit(op, tuple(operands), result, detail)
    if result == I1:
        made = b.emit("select", (made, constant(I32, 1), constant(I32, 0)), I32)
    out = b.emit("add", (b.emit("param", (), I64, Param("out")), _bytes(b, thread, 4, 0)), I64)
    b.emit_many("store", (out, made), (), Memory("global", 0, 4))
    b.end(Return())
    parameters = (Parameter("out", 8, 8, I64), Parameter("in", 8, 8, I64))
    module = Module((Function("k", True, parameters, (), b.finish()),))
    arrays = {
        "out": (bytes(4 * len(rows)), True),
        "in": (struct.pack(f"<{3 * len(rows)}I", *(word for row in rows for word in row)), True),
    }
    return Case(module, "k", Launch((1, 1, 1), (len(rows), 1, 1), {}), arrays)


def _bytes(b: Builder, thread: Operand, size: int, more: int) -> Operand:
    offset = b.emit("umulwide", (thread, constant(I32, size)), I64)
    return b.emit("add", (offset, constant(I64, more)), I64)


def _operand(b: Builder, thread: Operand, at: int, type: Type) -> Operand:
    place = b.emit("add", (b.emit("param", (), I64, Param("in")), _bytes(b, thread, 12, 4 * at)), I64)
    word = b.emit("load", (place,), F32 if type == F32 else I32, Memory("global", 0, 4))
    return b.emit("trunc", (word,), I1) if type == I1 else word
