"""How far a result may be from the original's: what the original itself leaves open, and no more.

The original is built several ways that C allows (no optimization, full optimization, contraction of a*b+c; for a port
that may sum in another order also reassociation). How far its own results then lie apart is its spread:

    allowed[i] = 4 * spread of the object + 16 ulp(expected[i])

Both terms scale with the object's own numbers, so an object whose values are all near 1e-9 is not matched by zeros.
A port that is known to sum in another order gets 256 ulp of the object's largest number besides: no compiler reorders
sums into elements that only the run tells (a histogram), so they have no spread, and an element may be near zero where
what was added to it is not. No compiler reorders the values of a recurrence either: where those of type float are
kept in a double, ulps are those of float.
What is a number in one build and NaN or infinite in another (x / 0 where x is only rounding noise) is unsettled: left
out as well.
Elements that differ when only time or addresses differ are not determined by the program at all: they are undetermined
and left out. So are elements that nobody has written, where a port has other content there; what is computed from
such memory is compared: in both programs it holds the same. Integers have no spread: they are exact or undetermined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.run.compare.compare import Mask, Values, distances, epsilon, epsilon_of, is_floating

__all__ = [
    "AUTOMATIC_FILLS",
    "EXACT",
    "Allowance",
    "addresses",
    "allowance_of",
    "is_ill_conditioned",
    "is_noise",
    "largest",
    "mask_filled",
    "mask_undetermined",
    "mask_unsettled",
    "mask_unwritten",
    "moved_addresses",
    "spread_of",
]

_SPREAD_FACTOR = 4.0
_ULPS = 16.0
_REORDERED_ULPS = 256.0
_ILL_CONDITIONED = 1e-3


class Allowance(Struct, frozen=True):
    """An element may differ by `absolute` + `relative` * |expected| + `ulps` units in the last place of its type."""

    absolute: float = 0.0
    relative: float = 0.0
    ulps: float = 0.0

    def of(self, expected: Values) -> npt.NDArray[np.float64]:
        """Return what each element of `expected` may differ by; 0 for what is not floating point."""
        if not is_floating(expected):
            return np.zeros(expected.shape[:1], np.float64)
        size = np.abs(expected.astype(np.float64))
        size[~np.isfinite(size)] = 0.0
        ulp = self.ulps * epsilon(expected) * size
        allowed: npt.NDArray[np.float64] = self.absolute + self.relative * size + ulp
        return allowed


EXACT = Allowance()

AUTOMATIC_FILLS: Final = b"\xfe\xaa\xff"
"""What compilers fill automatic variables with, where they are asked to."""


def mask_undetermined(runs: Sequence[Values], shape: tuple[int, ...]) -> Mask:
    """Return which elements of an array of this shape differ between runs of the original."""
    mask = np.zeros(shape, np.bool_)
    alike = [run for run in runs if run.shape == shape]
    for other in alike[1:]:
        mask |= _differ(alike[0], other)
    return mask


def mask_unwritten(runs: Sequence[tuple[Values, bytes]], shape: tuple[int, ...]) -> Mask:
    """Return which elements nobody has written: in each run they still hold the byte, one of those that stand with the
    run, that memory was filled with."""
    mask = np.full(shape, bool(runs), np.bool_)
    for values, fills in runs:
        if values.shape == shape:
            raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, values.dtype.itemsize)
            mask &= (raw == raw[:, :1]).all(axis=1) & np.isin(raw[:, 0], list(fills))
    return mask


def mask_filled(values: Values) -> Mask:
    """Return which elements look as compilers leave automatic variables: nothing is allowed because of their size."""
    return mask_unwritten([(values, AUTOMATIC_FILLS)], values.shape)


def _differ(a: Values, b: Values) -> Mask:
    """Compare bit by bit. Of a pointer all bytes differ where one does; of an x87 number the padding never does."""
    width = a.dtype.itemsize
    left, right = (np.ascontiguousarray(v).view(np.uint8).reshape(-1, width) for v in (a, b))
    used = 10 if width == 16 else width
    mask: Mask = (left[:, :used] != right[:, :used]).any(axis=1)
    return mask | moved_addresses((a, b), mask.shape)


def moved_addresses(runs: Sequence[Values], shape: tuple[int, ...]) -> Mask:
    """Return which bytes of an array of records or pointers lie in words that hold an address in each run, not always
    the same."""
    alike = [run for run in runs if run.shape == shape]
    differ = np.zeros(shape, np.bool_)
    for other in alike[1:]:
        differ |= addresses(alike[0]) & addresses(other) & _in_words(alike[0], alike[0] != other)
    for other in alike[1:]:
        differ &= addresses(other)
    return differ


def addresses(values: Values) -> Mask:
    """Return which bytes of an array of records or pointers lie in words that may be addresses; none of numbers."""
    if values.dtype.itemsize != 1 or values.size % 8:
        return np.zeros(values.shape, np.bool_)
    words = np.ascontiguousarray(values).view(np.uint64)
    return np.repeat((words > np.uint64(2**32)) & (words < np.uint64(2**47)), 8)


def _in_words(values: Values, bytes: Mask) -> Mask:
    """Return the mask of all bytes of the words of which some are under the mask `bytes`."""
    return np.repeat(bytes.reshape(-1, 8).any(axis=1), 8) if values.size % 8 == 0 else bytes


def spread_of(base: Values, variants: Sequence[Values], skip: Mask) -> float:
    """Return the largest distance between an element's values in `base` and the variants, in the object's unit; 0 for
    integers."""
    if not is_floating(base):
        return 0.0
    spread = 0.0
    unlike = {variant.tobytes(): variant for variant in variants if variant.shape == base.shape}
    for left, right in combinations({base.tobytes(): base, **unlike}.values(), 2):
        if left.shape == right.shape:
            gap = np.where(skip, 0.0, distances(left, right))
            finite = gap[np.isfinite(gap)]
            spread = max(spread, float(finite.max()) if finite.size else 0.0)
    return spread


def mask_unsettled(base: Values, variants: Sequence[Values]) -> Mask:
    """Return which elements are finite in one build and not in another; none of integers."""
    mask = np.zeros(base.shape, np.bool_)
    if is_floating(base):
        for other in variants:
            if other.shape == base.shape:
                mask |= np.isinf(distances(base, other))
    return mask


def allowance_of(
    spread: float, values: Values | None = None, size: float = 0.0, *, reordered_bits: int = 0
) -> Allowance:
    """Return the allowance for an object whose original has this spread, with its `values` and `size`, the largest
    number that it ever holds. `reordered_bits`: the width of the narrowest type of which a port combines numbers in
    another order, 0 where it combines none."""
    absolute = _SPREAD_FACTOR * spread
    if reordered_bits and values is not None and is_floating(values):
        unit = max(epsilon_of(reordered_bits), epsilon(values))
        absolute += _REORDERED_ULPS * unit * max(size, largest(values))
    return Allowance(absolute=absolute, ulps=_ULPS)


def largest(values: Values | None) -> float:
    """Return the largest finite magnitude among numbers; 0 for what is not floating point."""
    if values is None or not is_floating(values):
        return 0.0
    size = np.abs(values.astype(np.float64))
    return float(size[np.isfinite(size)].max(initial=0.0))


def is_noise(base: Values, spread: float) -> bool:
    """Whether the original's own builds disagree as much as the object is large: no digit is determined, zero is as
    good as any."""
    return is_floating(base) and spread > 0 and spread >= largest(base)


def is_ill_conditioned(base: Values, spread: float) -> bool:
    """Whether the original's own builds disagree so much that a comparison says little."""
    if not is_floating(base):
        return False
    size = np.abs(base.astype(np.float64))
    finite = size[np.isfinite(size)]
    return bool(finite.size) and spread > _ILL_CONDITIONED * float(finite.max())
