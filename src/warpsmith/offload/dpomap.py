"""DPoMAP: which memory of a GPU each array of a nest goes to, by how the nest walks through it, as the paper has it.

    for each array, in order                      rank F < D: an element is used again; else it stays in global memory
        NVIDIA   walked by rows, shared memory not full       ──► a row in shared memory
                 walked by columns, shared memory not full    ──► a column in shared memory
                 else                                         ──► registers
        AMD      walked by columns, shared memory not full    ──► a column in shared memory
                 «shared memory not full                      ──► a row in shared memory»

Invariant: the algorithm as restored, its defects included: an array may take more than is left of shared memory (it
asks whether any is), none of registers is counted, and the order of the arrays decides. `PlacedArray.overflows` says
where the first one shows.
Limits: one access matrix an array. «…» stands where the page of the paper has lost text: what it tests and does there
is restored from its prose and its results. What a row's reuse is, it does not define: here the innermost loop walks the
array along its last dimension (a column's: along another one), and some loop of the nest does not move it; what the
innermost loop does not move is one element.
Source: Data Placement Based on Memory Access Patterns (Zhang Rui, Tian Mi), section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from warpsmith.poly.patterns.model import ArrayReference, Space

__all__ = ["AccessedArray", "Location", "PlacedArray", "Platform", "Walk", "find_walk", "place_arrays"]

Platform = Literal["nvidia", "amd"]
Walk = Literal["row", "column", "element", "other"]
Location = Literal["global", "shared row", "shared column", "register"]


class AccessedArray(Struct, frozen=True):
    """An array of a nest of `depth` loops: the rank of its access matrix, how the innermost loop walks through it, and
    the `bytes` of the row or column that it walks (None: the trip count is not known)."""

    name: str
    depth: int
    rank: int
    walk: Walk
    bytes: int | None

    @property
    def is_reused(self) -> bool:
        """Whether an element is used more than once."""
        return self.rank < self.depth


class PlacedArray(Struct, frozen=True):
    """Where the algorithm puts an array, and the `rule` that says so; `overflows`: it takes more than is left there."""

    array: AccessedArray
    location: Location
    rule: str
    overflows: bool = False


def find_walk(space: Space, reference: ArrayReference) -> Walk:
    """Return how the innermost loop of a space walks through the array of a reference."""
    rows = reference.rows
    if any(row.irregular for row in rows):
        return "other"
    moved = [dimension for dimension, row in enumerate(rows) if row.counters[space.depth - 1]]
    if not moved:
        return "element"
    if len(moved) > 1:
        return "other"
    return "row" if moved[0] == len(rows) - 1 else "column"


def place_arrays(platform: Platform, arrays: Sequence[AccessedArray], capacity: int) -> tuple[PlacedArray, ...]:
    """Return the place of each array, in order, on a GPU whose blocks have `capacity` bytes of shared memory."""
    placed: list[PlacedArray] = []
    occupied = 0
    for array in arrays:
        location, rule = _place(platform, array, occupied, capacity)
        if location in _SHARED:
            size = array.bytes or 0
            rule += "" if array.bytes is not None else "; its size is not known, and counts as 0"
            placed.append(PlacedArray(array, location, rule, overflows=occupied + size > capacity))
            occupied += size
        else:
            placed.append(PlacedArray(array, location, rule))
    return tuple(placed)


_SHARED: Final = ("shared row", "shared column")


def _place(platform: Platform, array: AccessedArray, occupied: int, capacity: int) -> tuple[Location, str]:
    if not array.is_reused:
        return "global", f"rank {array.rank} of {array.depth}: no element is used again"
    free = occupied < capacity
    if free and array.walk == "column":
        return "shared column", f"a column is used again; {_room(occupied, capacity)}"
    if platform == "nvidia":
        if free and array.walk == "row":
            return "shared row", f"a row is used again; {_room(occupied, capacity)}"
        walked = array.walk in ("row", "column")
        return "register", _full(capacity) if walked else "neither a row nor a column is used again"
    if free:
        return "shared row", f"no column is used again; {_room(occupied, capacity)} (a branch that is restored)"
    return "global", _full(capacity)


def _room(occupied: int, capacity: int) -> str:
    return f"{occupied:,} of {capacity:,} bytes are taken"


def _full(capacity: int) -> str:
    return f"all {capacity:,} bytes of shared memory are taken"
