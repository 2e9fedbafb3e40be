"""Ops that GPUs have themselves, in LLVM's words: what is not here is composed as for vectors of lanes (simt/engine).

    sqrt fneg fabs copysign fmin fmax fmin_nan fmax_nan rcp      the same numbers, each one instruction or a few
    sin cos exp2 log2, where they may be approximate             the hardware's own
    exp exp2 exp10 log log2 log10 of f32                         LLVM's expansions, where its back end has them

Functions of the mathematics library besides are AMD's and NVIDIA's own libraries of bitcode, which are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import Emit, Ir
from warpsmith.simt.engine.ops.directed import is_directed
from warpsmith.simt.engine.ops.floats import FLOATS, finish_result, flush_subnormals, number
from warpsmith.simt.engine.ops.functions import OPS as FUNCTION_OPS
from warpsmith.simt.engine.ops.halves import half_op, has_halves
from warpsmith.simt.engine.ops.integers import INTEGERS, PAIRS
from warpsmith.ssa.nodes import Float, Instruction, Text
from warpsmith.ssa.types import F32
from warpsmith.targets.llvm.machines import Machine
from warpsmith.targets.llvm.refused import refuse

__all__ = ["compute"]

Write = Callable[[Emit, list[Ir]], Ir]


def compute(e: Emit, machine: Machine, i: Instruction, o: list[Ir], active: Ir) -> list[Ir]:
    """Return the results of an op of operands; raises InputError where the machine has no such thing."""
    if i.op in PAIRS:
        return list(PAIRS[i.op](e, o))
    if i.op in FUNCTION_OPS or i.op == "lanewise":
        return [_function(e, machine, i, o)]
    if is_directed(i):
        raise refuse(f"{machine.name} has no {i.op} that rounds in a direction of its own", i.span)
    if i.op in FLOATS and has_halves(i):
        return [half_op(e, i, o, active)]
    if i.op in _OWN and i.result.type.bits > 16:
        detail = i.detail if isinstance(i.detail, Float) else Float()
        return [finish_result(e, _OWN[i.op](e, [flush_subnormals(e, one, detail) for one in o]), detail)]
    table = INTEGERS if i.op in INTEGERS else FLOATS
    if i.op not in table:
        raise refuse(f"nothing of {machine.name} is {i.op}", i.span)
    return [table[i.op](e, i, o, active)]


def _function(e: Emit, machine: Machine, i: Instruction, o: list[Ir]) -> Ir:
    """Return a function of the mathematics library."""
    name = i.detail.text if isinstance(i.detail, Text) else i.op
    approximate = isinstance(i.detail, Float) and i.detail.approximate
    single = all(one.type == F32 for one in (*i.operands, *i.results)) and len(i.results) == 1
    found = _APPROXIMATE.get(name) if approximate or name.startswith(("__", "native_")) else None
    if found is None and machine.expands:
        found = _EXPANDED.get(name)
    if found is None or not single:
        helps = ("its approximate form is an instruction",) if name in _APPROXIMATE else ()
        raise refuse(f"{name} is a function of {machine.library}, which is not here", i.span, *helps)
    detail = i.detail if isinstance(i.detail, Float) else Float()
    made = e.intrinsic(f"llvm.{found}", (o[0].type,), [flush_subnormals(e, o[0], detail)])
    if found in _APPROXIMATE.values():
        made.fastmath = ir.instructions.FastMathFlags(("afn",))
    return finish_result(e, made, detail)


def _intrinsic(name: str) -> Write:
    return lambda e, o: e.intrinsic(f"llvm.{name}", (o[0].type,), o)


_OWN: Final[Mapping[str, Write]] = {
    "sqrt": _intrinsic("sqrt"),
    "fabs": _intrinsic("fabs"),
    "fneg": lambda e, o: e.b.fneg(o[0]),
    "copysign": lambda e, o: e.intrinsic("llvm.copysign", (o[0].type,), [o[1], o[0]]),
    "fmin": _intrinsic("minimumnum"),
    "fmax": _intrinsic("maximumnum"),
    "fmin_nan": _intrinsic("minimum"),
    "fmax_nan": _intrinsic("maximum"),
    "rcp": lambda e, o: e.b.fdiv(number(e, o[0].type, 1.0), o[0]),
}
_APPROXIMATE: Final[Mapping[str, str]] = {
    **{name: name for name in ("sin", "cos", "exp2", "log2")},
    **{f"native_{name}": name for name in ("sin", "cos", "exp2", "log2")},
    "__sinf": "sin",
    "__cosf": "cos",
    "__log2f": "log2",
}
_EXPANDED: Final[Mapping[str, str]] = {name: name for name in ("exp", "exp2", "exp10", "log", "log2", "log10")}
