"""Ops that convert between types."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from warpsmith.ssa.nodes import Convert, Float, Instruction, Rounding
from warpsmith.ssa.semantics.floats import finish, round_whole
from warpsmith.ssa.semantics.integers import Lane
from warpsmith.ssa.semantics.patterns import number_of, pattern_of, round_exact, to_signed

__all__ = ["CONVERSIONS"]


def _from_integer(*, sign: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        own, type = i.operands[0].type, i.results[0].type
        value = to_signed(operands[0], own) if sign else operands[0]
        return round_exact(Fraction(value), type, _rounding(i)) if value else 0

    return compute


def _to_integer(*, sign: bool) -> Lane:
    """Return the lane of a conversion to an integer: it always saturates, NaN gives 0 (for 64 bits the top bit)."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        own, type = i.operands[0].type, i.results[0].type
        value = number_of(operands[0], own)
        low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if sign else (0, (1 << type.bits) - 1)
        if math.isnan(value):
            return 1 << 63 if type.bits == 64 else 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(high, max(low, round_whole(value, _rounding(i))))

    return compute


def _resize(i: Instruction, operands: tuple[int, ...]) -> int:
    own, type = i.operands[0].type, i.results[0].type
    value = number_of(operands[0], own)
    if math.isfinite(value) and value != 0:
        bits = round_exact(Fraction(value), type, _rounding(i))
    else:
        bits = pattern_of(value, type)
    saturate = isinstance(i.detail, Convert) and i.detail.saturate
    return finish(bits, type, Float(saturate=saturate))


def _rounding(i: Instruction) -> Rounding:
    return i.detail.rounding if isinstance(i.detail, Convert | Float) else ""


CONVERSIONS: Final[dict[str, Lane]] = {
    "fext": _resize,
    "ftrunc": _resize,
    "sitof": _from_integer(sign=True),
    "uitof": _from_integer(sign=False),
    "ftosi": _to_integer(sign=True),
    "ftoui": _to_integer(sign=False),
}
