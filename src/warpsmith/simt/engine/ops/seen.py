"""Floating-point values whose bits are seen: where they are NaN, it has to be the one NaN of their type.

An op that computes gives one NaN (ssa/semantics/patterns.py); processors have many. What only computes with a number,
or compares it, cannot tell them apart. So no work is done for values that are never seen otherwise:

    seen by              store, atomic ops, bitcast to an integer, lanes that exchange, fetches from textures,
                         whatever is not listed here
    passed on by         select, phi, and what changes a sign
    not seen by          arithmetic, comparisons, tests, conversions, functions of the library
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from warpsmith.simt.library import is_fetch
from warpsmith.ssa.nodes import Function, Value
from warpsmith.ssa.ops import OPS

__all__ = ["makes_nan", "values_seen"]

_PASSES: Final = frozenset({"select", "fneg", "fabs", "copysign"})
_COMPUTES: Final = frozenset(
    {"fadd", "fsub", "fmul", "fdiv", "ffma", "fmin", "fmax", "fmin_nan", "fmax_nan", "fround", "sqrt", "rsqrt", "rcp"}
    | {"sin", "cos", "tanh", "exp2", "log2", "fext", "ftrunc", "lanewise"}
)
_ASKS: Final = frozenset({"ftosi", "ftoui"} | {name for name, op in OPS.items() if op.shape in ("compare", "test")})


def makes_nan(op: str) -> bool:
    """Whether an op may give a NaN that it was not given."""
    return op in _COMPUTES


def values_seen(function: Function) -> frozenset[Value]:
    """Return the floating-point values of a function whose bits are seen."""
    sources: dict[Value, list[Value]] = defaultdict(list)
    pending: list[Value] = []
    for block in function.blocks:
        for phi in block.phis:
            sources[phi.result] += [operand for _, operand in phi.incoming if isinstance(operand, Value)]
        for i in block.instructions:
            given = [operand for operand in i.operands if isinstance(operand, Value) and operand.type.kind == "float"]
            if i.op in _PASSES:
                sources[i.results[0]] += given
            elif i.op not in _COMPUTES | _ASKS or is_fetch(i):
                pending += given
        pending += [operand for operand in getattr(block.terminator, "operands", ()) if isinstance(operand, Value)]
    found: set[Value] = set()
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += sources[value]
    return frozenset(value for value in found if value.type.kind == "float")
