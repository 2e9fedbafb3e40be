"""How much the blocks of a launch touch together, from what those do that are looked at.

    looked at      | 0 | 1 ............ 998 | 999 |         each piece of the grid is what stands for it, moved block by
    moved          | 0 | 1 → → → → → → → →  | 999 |         block as its addresses move; what overlaps counts once
    unsteady       | 0 | 1 → → → →|← ← ← 998| 999 |         both ends stand for half

The first blocks in the order in which they start are whole rows of blocks; between two rows the count is taken to grow
evenly. Parts whose addresses move unevenly are taken to share nothing, but to stay between
the first and the last byte that any block touches which is looked at.

Blocks of a loop that ask for less in an iteration than others run ahead of them: `lag` says how far at the end, and
`apart` what is touched if blocks that differ in this share nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.columns import Column
from warpsmith.analysis.counts.footprint import (
    MOST,
    Intervals,
    TooManyIntervalsError,
    join,
    repeated,
    touched_units,
    union_of,
)
from warpsmith.analysis.counts.tallies import REQUESTS
from warpsmith.analysis.counts.threads import AXES, LaunchedThreads
from warpsmith.analysis.counts.touching import GROUPS, TouchedPart
from warpsmith.analysis.counts.walk import Walked
from warpsmith.machine.requests import SECTOR
from warpsmith.machine.time.work import TouchedSectors
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction

__all__ = ["BlockSpans"]

_STEPS_APART: Final = 0.9
"""Blocks whose requests an iteration are at least so many times those of others keep step with them."""


_PLACES: Final = 8
"""Places along an axis at which blocks that run together are looked for, besides the first."""


class _Piece(Struct, frozen=True):
    """Blocks along an axis for which one stands that is looked at, `place` among those: `count` of them, the first
    `first` blocks from it."""

    place: int
    first: int
    count: int


class BlockSpans:
    """What blocks touch with some accesses, in sectors; `running` run at a time."""

    def __init__(self, owner: tuple[Function, Graph], walked: Walked, threads: LaunchedThreads, running: int) -> None:
        (self.function, self.graph), self.walked, self.threads, self.running = owner, walked, threads, running
        self.weights = threads.weights(walked.unsteady)

    def of(self, found: Sequence[Instruction]) -> TouchedSectors:
        """Return what some accesses touch together."""
        if any(i in self.walked.writer.overflow for i in found):
            raise TooManyIntervalsError
        blocks = prod(self.threads.grid)
        counts = [self.running, 2 * self.running]
        while 2 * counts[-1] < blocks:
            counts.append(2 * counts[-1])
        one = _Moving.of(self, found)
        spans = [one.span(count) for count in (*counts, blocks)]
        apart, lag = self._apart(found, spans[0])
        return TouchedSectors(one.block, spans[0], spans[1], spans[-1], tuple(spans[2:-1]), apart, lag, one.active)

    def shared(self, i: Instruction) -> tuple[float, int]:
        """Return which part is left of what the blocks that run at a time touch with an access where several touch the
        same, and how many touch anything."""
        one = _Moving.of(self, (i,))
        running = min(self.running, one.active)
        each = one.block * prod(self.threads.grid) / max(1, one.active)
        return min(1.0, one.span(running) / (each * running)) if each else 1.0, one.active

    # --- who keeps step with whom

    def _apart(self, found: Sequence[Instruction], together: float) -> tuple[float, float]:
        """Return what the blocks that run at a time touch if those that do not keep step share nothing, and by which
        part of their way the others are ahead when they have ended, on average."""
        pace = self._pace(found)
        if pace is None:
            return together, 0.0
        there = (self.weights > 0) & (pace > 0)
        slowest = float(pace[there].max())
        classes = np.floor(np.log(np.where(there, pace, slowest) / slowest) / np.log(_STEPS_APART) + 1e-9)
        kinds = np.unique(classes[there])
        if len(kinds) == 1:
            return together, 0.0
        spans = [self._span_of(found, there & (classes == kind), there) for kind in kinds]
        ahead = there & (classes > 0)
        lag = float(((1 - pace / slowest) * self.weights)[ahead].sum() / self.weights[ahead].sum())
        return max(together, sum(spans)), lag

    def _span_of(self, found: Sequence[Instruction], chosen: Column, there: Column) -> float:
        """Return what those of the blocks that run at a time touch that are like some."""
        share = float(self.weights[chosen].sum() / self.weights[there].sum())
        return _Moving.of(self, found, chosen).span(max(1, round(self.running * share)))

    def _pace(self, found: Sequence[Instruction]) -> Column | None:
        """Return how much each block that is looked at asks for in an iteration of the outermost loop that asks for the
        most; None where nothing stands in a loop."""
        homes = {i: block.name for block, i in self.function.instructions()}
        loops: dict[str, Column] = {}
        for i in found:
            around = self.graph.cycles_around(homes[i]) if i in homes else ()
            requests = self.walked.tallies.requests.get(i)
            if around and requests is not None:
                header = around[0].header
                loops[header] = loops.get(header, np.zeros(self.threads.count)) + requests[REQUESTS]
        if not loops:
            return None
        header = max(loops, key=lambda name: float(loops[name] @ self.weights))
        visits = self.walked.tallies.visits[header][0]
        pace: Column = loops[header] / np.maximum(visits, 1)
        return pace


class _Moving:
    """What some accesses touch, and how it moves from block to block. `chosen`: the blocks that are meant, of those
    that are looked at."""

    def __init__(self, spans: BlockSpans, kept: Sequence[TouchedPart], chosen: Column | None) -> None:
        self.spans, self.threads = spans, spans.threads
        if chosen is not None:
            kept = [TouchedPart(part.steps, _of(part.found, chosen)) for part in kept]
        self.kept = kept
        by_block = self._by_block([part.found for part in kept])
        self.block = float(by_block @ spans.weights) / prod(self.threads.grid)
        self.by_block = by_block
        self.pieces = self._pieces(by_block > 0)
        apart = [part.found for part in kept if part.steps is None]
        uneven, self.hull = self._by_block(apart), _hull(apart)
        active = max(1, prod(sum(piece.count for piece in pieces) for pieces in self.pieces))
        self.active = int((by_block > 0).sum()) if self.threads.whole else active
        self.mean, self.uneven = (float(one @ spans.weights) / active for one in (by_block, uneven))

    @classmethod
    def of(cls, spans: BlockSpans, found: Sequence[Instruction], chosen: Column | None = None) -> _Moving:
        """Return it for some accesses."""
        return cls(spans, [part for i in found for part in spans.walked.writer.touched.get(i, ())], chosen)

    def span(self, blocks: int) -> float:
        """Return what so many blocks touch that run together, of those that touch anything: such as touch as much as
        all do on average."""
        if self.threads.whole:
            return self._window(blocks)
        x, y, z = (sum(piece.count for piece in pieces) for pieces in self.pieces)
        blocks = min(blocks, x * y * z)
        if not blocks:
            return 0.0
        if blocks <= x:
            return self._box(blocks, 1, 1)
        if blocks <= x * y:
            return self._between(blocks / x, lambda rows: self._box(x, rows, 1))
        return self._between(blocks / (x * y), lambda planes: self._box(x, y, planes))

    def _window(self, blocks: int) -> float:
        """Return what so many blocks touch, all of which are looked at."""
        active = np.flatnonzero(self.by_block)
        if blocks >= len(active):
            return _size([_together(part.found, part.found.group >= 0) for part in self.kept])
        first, factor = _nearest(self.by_block[active], blocks)
        taken = np.zeros(len(self.by_block), np.bool_)
        taken[active[first : first + blocks]] = True
        return factor * _size([_together(part.found, taken[part.found.group // GROUPS]) for part in self.kept])

    def _between(self, count: float, of: Callable[[int], float]) -> float:
        low = int(count)
        found = of(low)
        return found if low == count else found + (count - low) * (of(low + 1) - found)

    def _box(self, x: int, y: int, z: int) -> float:
        """Return what so many blocks along each axis touch."""
        blocks = x * y * z
        parts: list[Intervals] = []
        steps = {part.steps: 0 for part in self.kept if part.steps is not None}
        ranges, factor = [], 1.0
        for at, times in enumerate((x, y, z)):
            first, more = self._first(at, times)
            ranges.append((first, times))
            factor *= more
        for step in steps:
            found = union_of([part.found for part in self.kept if part.steps == step])
            for at, taken in enumerate(ranges):
                found = self._moved(found, at, step[at], taken)
            parts.append(found)
        uneven = min(self.uneven * blocks, self.hull)
        return min(factor * _size(parts) + uneven, max(self.mean, self.uneven) * blocks)

    def _first(self, at: int, times: int) -> tuple[int, float]:
        """Return from which block along an axis on so many touch about as much as all do on average, and by which
        factor all touch more than these."""
        pieces = self.pieces[at]
        if times == sum(piece.count for piece in pieces):
            return 0, 1.0
        there = self.by_block.reshape(tuple(map(len, reversed(self.threads.blocks))))
        along = there.sum(axis=tuple(other for other in range(3) if other != 2 - at))
        each = np.repeat([along[piece.place] for piece in pieces], [piece.count for piece in pieces])
        return _nearest(each, times)

    def _moved(self, found: Intervals, at: int, step: int, taken: tuple[int, int]) -> Intervals:
        """Return what blocks along an axis touch, `taken` so many from the first on, of those that stand for them; they
        are one then."""
        stride, count = prod(map(len, self.threads.blocks[:at])), len(self.threads.blocks[at])
        block, array = found.group // GROUPS, found.group % GROUPS
        place, rest = block // stride % count, block - block // stride % count * stride
        group = rest * GROUPS + array
        parts: list[Intervals] = []
        skipped, times = taken
        for piece in self.pieces[at]:
            skip = min(skipped, piece.count)
            here = min(times, piece.count - skip)
            skipped, times = skipped - skip, times - here
            chosen = place == piece.place
            if here and chosen.any():
                offset = (piece.first + skip) * step
                low, high = found.low[chosen] + offset, found.high[chosen] + offset
                found_here = join(group[chosen], low, high)
                parts.append(repeated(found_here, np.full(len(found_here.low), step, np.int64), here))
        return union_of(parts)

    def _by_block(self, parts: Sequence[Intervals]) -> Column:
        """Return how many sectors each block touches; of those that stand for none, 0 where they are many."""
        if sum(len(part.low) for part in parts) <= MOST:
            units = touched_units(parts, SECTOR)
            size = units.high - units.low
            return np.bincount(units.group // GROUPS, weights=size, minlength=self.threads.count)
        found = np.zeros(self.threads.count)
        for block in np.flatnonzero(self.spans.weights).tolist():
            found[block] = _size([_together(part, part.group // GROUPS == block) for part in parts])
        return found

    def _pieces(self, touches: Column) -> tuple[list[_Piece], list[_Piece], list[_Piece]]:
        """Return the pieces of each axis whose blocks touch something, in order."""
        there: Column = touches.reshape(tuple(map(len, reversed(self.threads.blocks))))
        found = []
        for at, axis in enumerate(AXES):
            active = np.asarray(there.any(axis=tuple(other for other in range(3) if other != 2 - at)))
            pieces = self._along(axis, self.threads.blocks[at])
            found.append([piece for piece in pieces if active[piece.place]])
        return found[0], found[1], found[2]

    def _along(self, axis: str, numbers: Sequence[int]) -> list[_Piece]:
        pairs = dict(self.threads.pairs(axis))
        lasts = set(pairs.values())
        found: list[_Piece] = []
        for place, number in enumerate(numbers):
            if place in pairs:
                inner = numbers[pairs[place]] - number + 1
                half = inner // 2 if axis in self.spans.walked.unsteady else 0
                found.append(_Piece(place, 0, inner - half))
                if half:
                    found.append(_Piece(pairs[place], 1 - half, half))
            elif place not in lasts:
                found.append(_Piece(place, 0, 1))
        return found


def _nearest(sizes: Column, count: int) -> tuple[int, float]:
    """Return at which place so many begin whose mean is near that of all, and by which factor the latter is more."""
    left = len(sizes) - count
    mean = float(sizes.mean())
    firsts = {left * at // _PLACES for at in range(_PLACES + 1)}
    means = {first: float(sizes[first : first + count].mean()) for first in firsts}
    first = min(means, key=lambda one: (abs(means[one] - mean), one))
    return first, mean / means[first] if means[first] else 1.0


def _of(part: Intervals, chosen: Column) -> Intervals:
    there = chosen[part.group // GROUPS]
    return Intervals(part.group[there], part.low[there], part.high[there])


def _size(parts: Sequence[Intervals]) -> float:
    units = touched_units(parts, SECTOR)
    return float((units.high - units.low).sum())


def _hull(parts: Sequence[Intervals]) -> float:
    """Return the sectors of each array from the first that is touched to the last."""
    found = union_of(parts)
    arrays, which = np.unique(found.group % GROUPS, return_inverse=True)
    return sum(
        float((found.high[which == at].max() - found.low[which == at].min()) / SECTOR) for at in range(len(arrays))
    )


def _together(part: Intervals, chosen: np.ndarray) -> Intervals:
    """Return the intervals that are chosen, whatever block they are of."""
    return join(part.group[chosen] % GROUPS, part.low[chosen], part.high[chosen])
