"""New values of atomic ops: scalar code, since lanes update one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import Emit, Ir
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import F32, F64

__all__ = ["COMBINED"]


def _make_ordered(how: str, *, sign: bool) -> Callable[[Emit, Ir, list[Ir]], Ir]:
    def emit(e: Emit, old: Ir, more: list[Ir]) -> Ir:
        compare = e.b.icmp_signed if sign else e.b.icmp_unsigned
        return e.b.select(compare(how, old, more[0]), old, more[0])

    return emit


def _add_numbers(e: Emit, old: Ir, more: list[Ir]) -> Ir:
    """Return a sum; where it is NaN, the one that ops give."""
    made = e.b.fadd(old, more[0])
    single = isinstance(old.type, ir.FloatType)
    bits = ir.Constant(ir.IntType(32 if single else 64), pattern_of(math.nan, F32 if single else F64))
    return e.b.select(e.b.fcmp_unordered("uno", made, made), e.b.bitcast(bits, old.type), made)


def _compare_exchange(e: Emit, old: Ir, more: list[Ir]) -> Ir:
    if isinstance(old.type, ir.IntType):
        same = e.b.icmp_unsigned("==", old, more[0])
    else:
        whole = ir.IntType(32 if isinstance(old.type, ir.FloatType) else 64)
        same = e.b.icmp_unsigned("==", e.b.bitcast(old, whole), e.b.bitcast(more[0], whole))
    return e.b.select(same, more[1], old)


def _wrap_increase(e: Emit, old: Ir, more: list[Ir]) -> Ir:
    over = e.b.icmp_unsigned(">=", old, more[0])
    return e.b.select(over, ir.Constant(old.type, 0), e.b.add(old, ir.Constant(old.type, 1)))


def _wrap_decrease(e: Emit, old: Ir, more: list[Ir]) -> Ir:
    none = e.b.icmp_unsigned("==", old, ir.Constant(old.type, 0))
    over = e.b.or_(none, e.b.icmp_unsigned(">", old, more[0]))
    return e.b.select(over, more[0], e.b.sub(old, ir.Constant(old.type, 1)))


COMBINED: Final[dict[str, Callable[[Emit, Ir, list[Ir]], Ir]]] = {
    "atomic_add": lambda e, old, more: e.b.add(old, more[0]),
    "atomic_fadd": _add_numbers,
    "atomic_and": lambda e, old, more: e.b.and_(old, more[0]),
    "atomic_or": lambda e, old, more: e.b.or_(old, more[0]),
    "atomic_xor": lambda e, old, more: e.b.xor(old, more[0]),
    "atomic_smin": _make_ordered("<", sign=True),
    "atomic_smax": _make_ordered(">", sign=True),
    "atomic_umin": _make_ordered("<", sign=False),
    "atomic_umax": _make_ordered(">", sign=False),
    "atomic_exchange": lambda e, old, more: more[0],
    "atomic_compare": _compare_exchange,
    "atomic_inc": _wrap_increase,
    "atomic_dec": _wrap_decrease,
}
"""What an atomic op puts in the place of `old`."""
