"""Numbers and the bit patterns that stand for them."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Final

from warpsmith.ssa.nodes import Rounding
from warpsmith.ssa.types import BF16, F16, F32, F64, Type

__all__ = ["number_of", "pattern_of", "round_exact", "to_signed"]


def to_signed(bits: int, type: Type) -> int:
    """Return the two's complement number that `bits` is.

    >>> from warpsmith.ssa.types import I8
    >>> to_signed(255, I8)
    -1
    """
    return bits - (1 << type.bits) if bits >> (type.bits - 1) else bits


_FORMS: Final = {F16: "<e", F32: "<f", F64: "<d"}
_NAN: Final = {F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF, F64: 0x7FF8000000000000}
"""The NaN that ops give, whichever they were given: that of PTX (ISA, single precision), of doubles that of C
libraries. What only moves or changes a sign keeps the bits."""


def number_of(bits: int, type: Type) -> float:
    """Return the floating-point number that `bits` is."""
    if type == BF16:
        return number_of(bits << 16, F32)
    value: float = struct.unpack(_FORMS[type], bits.to_bytes(type.bytes, "little"))[0]
    return value


def pattern_of(value: float, type: Type) -> int:
    """Return the bits of `value` in `type`, rounded to nearest even; beyond its range it is infinite."""
    if math.isnan(value):
        return _NAN[type]
    if type == BF16:
        return _upper_half(_to_odd(value))
    try:
        return int.from_bytes(struct.pack(_FORMS[type], value), "little")
    except OverflowError:
        return int.from_bytes(struct.pack(_FORMS[type], math.copysign(math.inf, value)), "little")


def _to_odd(value: float) -> int:
    """Return the bits of a number in f32, rounded to odd where f32 does not have it: so rounding it again is right."""
    bits = pattern_of(value, F32)
    near = number_of(bits, F32)
    if near == value or math.isinf(near):
        return bits
    return (bits - 1 if abs(near) > abs(value) else bits) | 1


def _upper_half(bits: int) -> int:
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _exact(value: Fraction, type: Type) -> int:
    """Return the pattern nearest to an exact number, ties to even: by way of a double that was rounded to odd."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if type == F64 or math.isinf(near) or Fraction(near) == value:
        return pattern_of(near, type)
    if int.from_bytes(struct.pack("<d", near), "little") & 1 == 0:
        near = math.nextafter(near, math.inf if value > Fraction(near) else -math.inf)
    return pattern_of(near, type)


def round_exact(value: Fraction, type: Type, rounding: Rounding) -> int:
    """Return the pattern of an exact number under a rounding mode."""
    bits = _exact(value, type)
    found = number_of(bits, type)
    if rounding in ("", "nearest", "away") or (math.isfinite(found) and Fraction(found) == value):
        return bits
    down = rounding == "down" or (rounding == "zero" and value > 0)
    # an infinity is further from zero than any number
    above = found > 0 if math.isinf(found) else Fraction(found) > value
    too_far = above == down
    return _neighbor(bits, type, down) if too_far else bits


def _neighbor(bits: int, type: Type, down: bool) -> int:
    """Return the next pattern below or above."""
    sign = 1 << (type.bits - 1)
    if bits & (sign - 1) == 0:
        return sign | 1 if down else 1
    return bits - 1 if bool(bits & sign) != down else bits + 1
