"""The threads that are looked at: all of a small grid, or of blocks that stand for the others.

    axis of 1,000 blocks    | 0 | 1 ............ 998 | 999 |
    looked at                 0   1              998   999       weights 1, 998, 0, 1

Between blocks 1 and 998 everything that is a sum of block numbers changes steadily, so that what is the same at both
ends is the same between; who finds it is not calls `unsteady`, and the ends count half each. Who knows from which block
on threads do otherwise has the axis cut there (`cut`), and both pieces are looked at:

    cut at 400              | 0 | 1 ... 399 | 400 ... 998 | 999 |
    looked at                 0   1     399   400     998   999      weights 1, 399, 0, 599, 0, 1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.counts.columns import Column
from warpsmith.analysis.uniformity.facts import Dim

__all__ = ["AXES", "LaunchedThreads"]

AXES: Final = ("ctaid.x", "ctaid.y", "ctaid.z")
_MOST: Final = 32_768
"""Threads of a grid that are all looked at."""
_FEW: Final = 4
"""Blocks along an axis that are all looked at."""


class LaunchedThreads(Struct, frozen=True):
    """`blocks`: along each axis the numbers of the blocks that are looked at, the first and the last of each piece;
    `warp` threads are a warp; `cuts`: along each axis, where pieces begin. Columns have one number for each place in a
    warp of each warp of each block, blocks along x first."""

    block: Dim
    grid: Dim
    warp: int
    blocks: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    cuts: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] = ((), (), ())

    @classmethod
    def of(cls, block: Dim, grid: Dim, warp: int) -> LaunchedThreads:
        """Return those of a launch."""
        whole = prod(block) * prod(grid) <= _MOST
        x, y, z = (_looked_at(blocks, whole=whole) for blocks in grid)
        return cls(block, grid, warp, (x, y, z))

    def cut(self, places: Mapping[str, Collection[int]]) -> LaunchedThreads:
        """Return those that are looked at where pieces begin at some blocks besides."""
        cuts = [tuple(sorted({*known, *places.get(axis, ())})) for axis, known in zip(AXES, self.cuts, strict=True)]
        x, y, z = (
            _of_pieces(_pieces(blocks, cut)) if self.sampled(axis) else known
            for axis, blocks, cut, known in zip(AXES, self.grid, cuts, self.blocks, strict=True)
        )
        return replace(self, blocks=(x, y, z), cuts=(cuts[0], cuts[1], cuts[2]))

    def pairs(self, axis: str) -> list[tuple[int, int]]:
        """Return the places of the first and the last block of each piece of more than one, among those that are looked
        at; none along an axis all of whose blocks are."""
        if not self.sampled(axis):
            return []
        at = AXES.index(axis)
        numbers = self.blocks[at]
        return [(numbers.index(a), numbers.index(b)) for a, b in _pieces(self.grid[at], self.cuts[at]) if b > a]

    @property
    def whole(self) -> bool:
        """Whether every block is looked at."""
        return self.count == prod(self.grid)

    @property
    def count(self) -> int:
        """How many blocks are looked at."""
        return prod(map(len, self.blocks))

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-prod(self.block) // self.warp)

    @property
    def lanes(self) -> int:
        """Places in the warps of a block; in the last warp some may be empty."""
        return self.warps * self.warp

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Blocks along z, y, x, and places in each: what a column may be seen as."""
        x, y, z = map(len, self.blocks)
        return z, y, x, self.lanes

    def filled(self) -> Column:
        """Return which places have a thread."""
        return np.tile(np.arange(self.lanes) < prod(self.block), self.count)

    def weights(self, unsteady: frozenset[str]) -> Column:
        """Return for how many blocks each stands."""
        x, y, z = (self.axis_weights(axis, steady=axis not in unsteady) for axis in AXES)
        return (z[:, None, None] * y[None, :, None] * x[None, None, :]).reshape(-1)

    def sampled(self, axis: str) -> bool:
        """Whether blocks along an axis stand for others."""
        at = AXES.index(axis)
        return len(self.blocks[at]) < self.grid[at]

    def extents(self) -> dict[str, Column]:
        """Return for each axis how many blocks further what a thread's block stands for ends."""
        found: dict[str, Column] = {}
        for at, axis in enumerate(AXES):
            numbers = self.blocks[at]
            if not self.sampled(axis):
                continue
            further = [0] * len(numbers)
            for first, last in self.pairs(axis):
                further[first] = numbers[last] - numbers[first]
            found[axis] = self._spread(further, at)
        return found

    def axis_weights(self, axis: str, *, steady: bool) -> Column:
        """Return for how many blocks along an axis each that is looked at stands."""
        at = AXES.index(axis)
        numbers, weights = self.blocks[at], np.ones(len(self.blocks[at]))
        for first, last in self.pairs(axis):
            inner = numbers[last] - numbers[first] + 1
            weights[first], weights[last] = (inner, 0.0) if steady else (inner / 2, inner / 2)
        return weights

    def register(self, name: str) -> Column | None:
        """Return a special register as 32-bit numbers; None for one that is not known before a run."""
        kind, _, axis = name.partition(".")
        if axis in ("x", "y", "z") and len(axis) == 1:
            at = "xyz".index(axis)
            match kind:
                case "tid":
                    return self._thread(at)
                case "ntid":
                    return np.array([self.block[at]], np.int32)
                case "nctaid":
                    return np.array([self.grid[at]], np.int32)
                case "ctaid":
                    return self._spread(self.blocks[at], at).astype(np.int32)
        lane = np.tile(np.arange(self.lanes) % self.warp, self.count).astype(np.int32)
        match name:
            case "laneid":
                return lane
            case "warpid":
                return np.tile(np.arange(self.lanes) // self.warp, self.count).astype(np.int32)
            case "nwarpid":
                return np.array([self.warps], np.int32)
            case _:
                return None

    def _thread(self, at: int) -> Column:
        linear = np.arange(self.lanes)
        step = prod(self.block[:at])
        return np.tile(linear // step % self.block[at], self.count).astype(np.int32)

    def _spread(self, numbers: Sequence[int], at: int) -> Column:
        """Return a number of each block along an axis, for every place."""
        shape = [1, 1, 1, 1]
        shape[2 - at] = len(numbers)
        made = np.broadcast_to(np.array(numbers, np.int64).reshape(shape), self.shape)
        return made.reshape(-1)


def _looked_at(blocks: int, *, whole: bool) -> tuple[int, ...]:
    return tuple(range(blocks)) if whole or blocks <= _FEW else _of_pieces(_pieces(blocks, ()))


def _pieces(blocks: int, cuts: Collection[int]) -> list[tuple[int, int]]:
    """Return the first and the last block of each piece of an axis: its ends are pieces of their own."""
    starts = sorted({0, 1, blocks - 1} | {cut for cut in cuts if 0 < cut < blocks})
    return [(first, after - 1) for first, after in zip(starts, [*starts[1:], blocks], strict=True)]


def _of_pieces(pieces: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted({end for piece in pieces for end in piece}))
