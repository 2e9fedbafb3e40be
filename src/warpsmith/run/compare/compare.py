"""Comparing two arrays element by element: absolute, relative and ULP distance, and the first element that differs.

Equal are: the same number, -0 and 0, NaN and NaN, an infinity and the same infinity. Every other pair is judged by its
distance: an element passes where |actual - expected| <= allowed[i]. Integers and bytes have no distance that counts:
they are equal or not.

An object that is zero everywhere although the original's is not never passes, however large the allowance: that is
what a kernel that did nothing leaves. (The exception: the original's own builds have no digit of the object in common.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

__all__ = ["Comparison", "compare_arrays", "distances", "epsilon", "epsilon_of", "is_floating", "show_value"]

_EPSILON = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52, 16: 2.0**-63}
_LARGEST = 2**63 - 1

Values = npt.NDArray[np.generic]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating[npt.NBitBase]]


class Comparison(Struct, frozen=True):
    """Distances over the compared elements; `first` is the position of the first one that fails, `failing` how many."""

    max_abs: float
    max_rel: float
    max_ulp: int
    first: int | None
    failing: int


def is_floating(values: Values) -> bool:
    """Whether the elements are floating point."""
    return values.dtype.kind == "f"


def epsilon(values: Values) -> float:
    """Return the distance of 1 to the next number of this floating-point type."""
    return _EPSILON[values.dtype.itemsize]


def epsilon_of(bits: int) -> float:
    """Return the distance of 1 to the next number of the floating-point type of so many bits."""
    return _EPSILON[bits // 8]


def distances(expected: Values, actual: Values) -> npt.NDArray[np.float64]:
    """Return |actual - expected| for each element, 0 where they count as equal, infinity where one is not finite."""
    with np.errstate(all="ignore"):
        gap = np.abs(actual.astype(np.longdouble) - expected.astype(np.longdouble))
    gap[_same(expected, actual)] = 0
    gap[np.isnan(gap)] = np.inf
    return gap.astype(np.float64)


def compare_arrays(
    expected: Values, actual: Values, allowed: npt.NDArray[np.float64] | float, skip: Mask, *, noise: bool = False
) -> Comparison:
    """Compare two arrays of one shape and type; elements under `skip` are left out. `noise`: no digit of the object is
    determined, so zeros are as good as other numbers."""
    unequal = ~_same(expected, actual) & ~skip
    if not bool(unequal.any()):
        return Comparison(0.0, 0.0, 0, None, 0)
    if not is_floating(expected):
        return _exact(expected, actual, unequal)
    gap = distances(expected, actual)
    failing = unequal & ~(gap <= allowed)
    if not noise:
        failing |= unequal & _find_wiped_out(expected, actual, ~skip)
    size = np.abs(expected.astype(np.float64))
    with np.errstate(all="ignore"):
        relative = np.where(size > 0, gap / size, np.inf)
    return Comparison(
        float(np.max(gap[unequal])),
        float(np.max(np.nan_to_num(relative[unequal], nan=np.inf, posinf=np.inf))),
        int(np.max(_ulps(expected, actual)[unequal])),
        int(np.argmax(failing)) if bool(failing.any()) else None,
        int(failing.sum()),
    )


def show_value(values: Values, position: int) -> str:
    """Return the element as a person reads it."""
    value = values[position]
    if isinstance(value, np.floating):
        return repr(float(value)) if value.dtype.itemsize == 8 else str(value)
    return str(value)


def _same(expected: Values, actual: Values) -> Mask:
    same: Mask = np.asarray(expected == actual)
    if is_floating(expected):
        same = same | ((expected != expected) & (actual != actual))
    return same


def _exact(expected: Values, actual: Values, unequal: Mask) -> Comparison:
    first, failing = int(np.argmax(unequal)), int(unequal.sum())
    pairs = zip(expected[unequal].tolist(), actual[unequal].tolist(), strict=True)
    gaps = [(abs(a - e), abs(e)) for e, a in pairs]
    relative = max(gap / size if size else np.inf for gap, size in gaps)
    largest = max(gap for gap, _ in gaps)
    return Comparison(float(largest), float(relative), min(largest, _LARGEST), first, failing)


def _find_wiped_out(expected: Values, actual: Values, compared: Mask) -> Mask:
    zero = np.asarray(actual == 0)
    if bool(zero[compared].all()):
        return np.asarray(expected != 0)
    return np.zeros(expected.shape, np.bool_)


def _ulps(expected: Values, actual: Values) -> npt.NDArray[np.int64]:
    """Return how many representable numbers lie between each pair (saturated; 0 for formats without such an order)."""
    if expected.dtype.itemsize > 8:
        return np.zeros(expected.shape, np.int64)
    a, b = (_line(values) for values in (expected, actual))
    low, high = np.minimum(a, b).view(np.uint64), np.maximum(a, b).view(np.uint64)
    gap: npt.NDArray[np.int64] = np.minimum(high - low, np.uint64(_LARGEST)).astype(np.int64)
    return gap


def _line(values: Values) -> npt.NDArray[np.int64]:
    """Return the bits as integers in the order of the numbers: negative ones mirrored, so that -0 and 0 coincide."""
    size = values.dtype.itemsize
    bits: npt.NDArray[np.int64] = np.ascontiguousarray(values).view(np.dtype(f"i{size}")).astype(np.int64)
    lowest = np.int64(-(2 ** (8 * size - 1)))
    mirrored: npt.NDArray[np.int64] = np.where(bits < 0, lowest - bits, bits)
    return mirrored
