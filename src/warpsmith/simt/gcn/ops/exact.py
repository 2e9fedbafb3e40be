"""Products and sums that are rounded once, in arrays of lanes.

    a·b of two f32 is exact as a double. The sum with c is rounded to odd (if it is not exact and its last bit is 0,
    the neighbor on the side of the true sum is taken), and then to f32: as if rounded once, since 53 ≥ 2·24 + 2.

Source: S. Boldo, G. Melquiond, Emulation of a FMA and correctly rounded sums (IEEE Trans. Computers 57(4), 2008).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from warpsmith.simt.gcn.memory import Array

__all__ = ["fused", "fused_scaled"]


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a·b + c, rounded once to the type of `a`."""
    return fused_scaled(a, b, c, np.zeros(len(a), np.int32))


def fused_scaled(a: Array, b: Array, c: Array, power: Array) -> Array:
    """Return (a·b + c)·2^power, rounded once to the type of `a`."""
    if a.dtype == np.float64:
        lanes = zip(a.tolist(), b.tolist(), c.tolist(), power.tolist(), strict=True)
        return np.array([_one(*lane) for lane in lanes], np.float64)
    whole = _to_odd(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
    return np.ldexp(whole, power).astype(a.dtype)


def _to_odd(product: Array, c: Array) -> Array:
    total = product + c
    rest = total - product
    error = (product - (total - rest)) + (c - rest)
    odd = (total.view(np.uint64) & np.uint64(1)).astype(bool)
    moves = np.isfinite(total) & np.isfinite(error) & (error != 0) & ~odd
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where(moves, np.nextafter(total, toward), total)


def _one(a: float, b: float, c: float, power: int) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return c if math.isinf(c) and math.isfinite(a) and math.isfinite(b) else a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        # the product may be too small for a double, and has a sign all the same
        sign = math.copysign(1.0, a) * math.copysign(1.0, b)
        return math.copysign(0.0, sign) + c if a == 0 or b == 0 else 0.0
    try:
        return float(exact * Fraction(2) ** power)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
