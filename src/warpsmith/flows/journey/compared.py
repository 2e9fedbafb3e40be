"""What two runs left in memory, element by element.

Invariant: nothing is equal that was not looked at. Arrays that one run has and the other has not are a difference, as
are arrays of other lengths; where there is no element, nothing was compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from warpsmith.kernels.arguments import Array

__all__ = ["Compared", "compare"]


class Compared(Struct, frozen=True):
    """`elements` that were compared, and of these those that `differ`; `ulp`: by how many steps floats do at most;
    `first`: one that differs, in words."""

    elements: int
    differ: int
    ulp: int = 0
    first: str = ""


def compare(found: Mapping[str, Array], expected: Mapping[str, Array]) -> Compared:
    """Return how arrays differ from those that are expected; zeros of both signs are one, and so are all NaN."""
    elements = differ = ulp = 0
    first = ""
    for name, wanted in expected.items():
        elements += wanted.size
        one = found.get(name)
        if one is None or one.shape != wanted.shape or one.dtype != wanted.dtype:
            differ += wanted.size
            first = first or f"{name} is not there as it was"
            continue
        wrong = _differs(one, wanted)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            first = first or f"{name}[{at}] is {one.ravel()[at]:g}, not {wanted.ravel()[at]:g}"
            differ += int(wrong.sum())
            ulp = max(ulp, _steps(one.ravel()[wrong], wanted.ravel()[wrong]))
    return Compared(elements, differ, ulp, first)


def _differs(one: Array, other: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    flat, wanted = one.ravel(), other.ravel()
    if flat.dtype.kind != "f":
        return np.asarray(flat != wanted)
    return np.asarray((flat != wanted) & ~(np.isnan(flat) & np.isnan(wanted)))


def _steps(one: Array, other: Array) -> int:
    """Return how many floats lie between two, at most; 0 for whole numbers."""
    if one.dtype.kind != "f":
        return 0
    whole = np.dtype(f"<i{one.dtype.itemsize}")
    places = [np.array(held).view(whole).astype(object) for held in (one, other)]
    low = -(1 << (8 * one.dtype.itemsize - 1))
    ordered = [[low - int(at) if at < 0 else int(at) for at in held] for held in places]
    return max((abs(a - b) for a, b in zip(*ordered, strict=True)), default=0)
