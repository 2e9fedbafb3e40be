"""Loads, stores and atomics on the way: what the requests of warps cost, and which bytes their blocks touch.

an address that moves by s bytes an iteration ──► the same sectors again after 32 / gcd(s, 32) iterations
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import gcd
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.columns import Column
from warpsmith.analysis.counts.footprint import (
    Intervals,
    TooManyIntervalsError,
    is_uniform,
    join,
    repeated,
    touched_units,
    union_of,
)
from warpsmith.analysis.counts.requests import count_local_sectors, count_sectors, count_ways, count_words
from warpsmith.analysis.counts.slopes import WINDOWS, Known, Lacking, NotRegularError, Number, Slope
from warpsmith.analysis.counts.tallies import Tallies
from warpsmith.analysis.counts.threads import AXES, LaunchedThreads
from warpsmith.analysis.counts.values import array_of
from warpsmith.machine.requests import SECTOR, WORD
from warpsmith.ssa.nodes import Instruction, Memory, Space

__all__ = [
    "GROUPS",
    "LINE",
    "AccessCounter",
    "FirstPlace",
    "Sweeps",
    "TouchedPart",
    "bytes_of",
    "count_of_one",
]

_MOST_PARTS: Final = 64
"""Sets of intervals of one access that are kept before they are joined."""
_MOST_STEPS: Final = 4
"""In how many ways lanes of one access may move from block to block."""
LINE: Final = 128
GROUPS: Final = 1 << 20
"""More regions than a launch has."""


def bytes_of(i: Instruction) -> int:
    """Return what one lane asks for."""
    if i.op == "load":
        return sum(value.type.bytes for value in i.results)
    if i.op == "store":
        return sum(operand.type.bytes for operand in i.operands[1:])
    return i.operands[1].type.bytes if len(i.operands) > 1 else i.results[0].type.bytes


class Sweeps(Struct):
    """What an access touches in one block, in sectors and in lines: at once, then with each loop around it that is gone
    through at once, the innermost first, and how many iterations that has; sums over `visits` in as many loops, what
    is `touched` at the first of them."""

    visits: int
    sectors: list[float]
    lines: list[float]
    times: list[float]
    touched: list[Intervals]

    def add(self, sectors: list[float], lines: list[float], times: list[int]) -> None:
        """Add what is touched at another visit."""
        self.visits += 1
        self.sectors = [a + b for a, b in zip(self.sectors, sectors, strict=True)]
        self.lines = [a + b for a, b in zip(self.lines, lines, strict=True)]
        self.times = [a + b for a, b in zip(self.times, times, strict=True)]


class TouchedPart(Struct, frozen=True):
    """What an access touches in blocks; `steps`: by how many bytes it moves from block to block along each axis, None:
    unevenly."""

    steps: tuple[int, int, int] | None
    found: Intervals


class FirstPlace(Struct):
    """Where the first lane is that executes an access, the first time: `address`, and by how much it moves with the
    innermost loop; `number`: how many accesses were met before."""

    lane: int
    address: int
    number: int
    step: int = 0


class AccessCounter:
    """Counts accesses, and keeps what they touch. `loops`: those that are gone through at once, with how many
    iterations; `quiet`: what is touched is known already; `periods`: after how many iterations of a loop requests cost
    the same again; `touched`: by access."""

    def __init__(self, threads: LaunchedThreads) -> None:
        self.threads = threads
        self.loops: dict[str, int] = {}
        self.periods: dict[str, int] = {}
        self.quiet = 0
        self.touched: dict[Instruction, list[TouchedPart]] = defaultdict(list)
        self.places: dict[Instruction, FirstPlace] = {}
        self.overflow: set[Instruction] = set()
        self.sweeps: dict[Instruction, dict[int, Sweeps]] = defaultdict(dict)

    def arrivals(self, mask: Column) -> tuple[Column, Column]:
        """Return how many warps and lanes of each block there are."""
        seen = mask.reshape(self.threads.count, self.threads.warps, self.threads.warp)
        return seen.any(axis=2).sum(axis=1), seen.sum(axis=(1, 2))

    def access(
        self, i: Instruction, address: Number, mask: Column, extents: Mapping[str, Column], tallies: Tallies
    ) -> str | set[str]:
        """Count an access of the lanes of `mask`. Return why its addresses are not known, or the axes along which
        blocks that stand for others may not be like them. Raises NotRegularError where a loop cannot be gone through
        at once."""
        warps, lanes = self.arrivals(mask)
        zero = np.zeros_like(warps)
        if isinstance(address, Lacking):
            tallies.request(i, np.stack((warps, lanes, zero, zero, zero)))
            return address.why
        assert isinstance(i.detail, Memory)
        there = mask.reshape(-1, self.threads.warp)
        place = np.broadcast_to(address.column.astype(np.int64) + i.detail.offset, mask.shape).reshape(there.shape)
        space, place = _own_space(i.detail.space, place, there)
        if space == "generic":
            tallies.request(i, np.stack((warps, lanes, zero, zero, zero)))
            return "the memory that its address leads into"
        unsteady = self._slopes(address.slopes, space, there, extents)
        rows = np.flatnonzero(there.any(axis=1))
        costs = _costs(space, place[rows], there[rows], bytes_of(i))
        owner = rows // self.threads.warps
        by_block = [np.bincount(owner, weights=c, minlength=self.threads.count).astype(np.int64)
                    for c in costs]  # fmt: skip
        tallies.request(i, np.stack((warps, lanes, *by_block)))
        if space == "global" and not self.quiet:
            self._touch(i, Known(place, address.slopes), there)
        return unsteady

    # --- loops that are gone through at once, and blocks that stand for others

    def _slopes(
        self, slopes: Mapping[str, Slope], space: Space, there: Column, extents: Mapping[str, Column]
    ) -> set[str]:
        unit = WORD if space in ("shared", "constant") else SECTOR
        unsteady: set[str] = set()
        for key, slope in slopes.items():
            if key in AXES:
                if self.threads.sampled(key) and self._period(slope, there, unit) != 1:
                    unsteady.add(key)
            elif key in extents:
                period = self._period(slope, there, unit)
                if not period:
                    raise NotRegularError(key)
                self.periods[key] = max(self.periods.get(key, 1), period)
        return unsteady

    def _period(self, slope: Slope, there: Column, unit: int) -> int:
        """Return after how many steps requests cost the same again; 0: never."""
        if isinstance(slope, str):
            return 0
        if len(slope) > 1:
            rows = slope.reshape(there.shape)
            low = np.where(there, rows, np.iinfo(np.int64).max).min(axis=1)
            high = np.where(there, rows, np.iinfo(np.int64).min).max(axis=1)
            some = there.any(axis=1)
            if (low[some] != high[some]).any():
                return 0
            steps = np.unique(low[some])
        else:
            steps = slope
        return max((unit // gcd(unit, int(step)) for step in steps), default=1)

    # --- what is touched

    def _touch(self, i: Instruction, place: Known, there: Column) -> None:
        if i in self.overflow:
            return
        lanes = np.flatnonzero(there.reshape(-1))
        low = place.column.reshape(-1)[lanes]
        group = lanes // self.threads.lanes * GROUPS + array_of(low)
        strides = {key: _taken(place.slopes[key], lanes, there) for key in self.loops if key in place.slopes}
        self._place(i, int(lanes[0]), int(low[0]), int(next(reversed(strides.values()))[0]) if strides else 0)
        try:
            levels = self._repeat((group, low, low + bytes_of(i)), strides)
            self._sweep(i, levels)
            for steps, chosen in _steps_of(place.slopes, lanes, there):
                found = levels[-1]
                if len(chosen) < len(lanes):
                    part = group[chosen], low[chosen], low[chosen] + bytes_of(i)
                    found = self._repeat(part, {key: stride[chosen] for key, stride in strides.items()})[-1]
                self.touched[i].append(TouchedPart(steps, found))
            if len(self.touched[i]) >= _MOST_PARTS:
                self.touched[i] = _joined(self.touched[i])
        except TooManyIntervalsError:
            self.overflow.add(i)
            self.touched.pop(i, None)

    def _place(self, i: Instruction, lane: int, address: int, step: int) -> None:
        """Keep where an access is met first, and how it moves from there."""
        known = self.places.setdefault(i, FirstPlace(lane, address, len(self.places), step))
        if not known.step and known.lane == lane:
            known.step = address - known.address

    def _repeat(self, given: tuple[Column, Column, Column], strides: Mapping[str, Column]) -> list[Intervals]:
        """Return what is touched at once, then with each of the loops that are gone through at once, the innermost
        first: what it touches is what the next one repeats."""
        group = given[0]
        even = all(is_uniform(group, stride) for stride in strides.values())
        if not even and len(strides) > 1:
            raise TooManyIntervalsError
        found = join(*given) if even else Intervals(*given)
        levels = [found]
        for key in reversed(self.loops):
            stride = strides.get(key)
            if stride is not None:
                found = repeated(found, _of_groups(found, group, stride) if even else stride, self.loops[key])
            levels.append(found)
        return levels

    def _sweep(self, i: Instruction, levels: list[Intervals]) -> None:
        sectors, lines = ([count_of_one(found, unit) for found in levels] for unit in (SECTOR, LINE))
        times = [self.loops[key] for key in reversed(self.loops)]
        none = [0.0] * len(sectors)
        found = self.sweeps[i].setdefault(len(times), Sweeps(0, none, none, [0.0] * len(times), []))
        found.add(sectors, lines, times)
        if len(found.touched) < _MOST_PARTS:
            found.touched.append(levels[-1])


def _of_groups(found: Intervals, group: Column, stride: Column) -> Column:
    """Return for each interval the stride of its group."""
    by_group = dict(zip(group.tolist(), stride.tolist(), strict=True))
    return np.array([by_group[g] for g in found.group.tolist()], np.int64)


def count_of_one(found: Intervals, unit: int) -> float:
    """Return how many sectors or lines, of so many bytes, a group touches, on average."""
    units = touched_units([found], unit)
    return float((units.high - units.low).sum()) / max(1, len(np.unique(units.group // GROUPS)))


def _steps_of(
    slopes: Mapping[str, Slope], lanes: Column, there: Column
) -> list[tuple[tuple[int, int, int] | None, Column]]:
    """Return by how much addresses move along each axis of blocks, with which of the lanes do; None: unevenly."""
    everyone = np.arange(len(lanes))
    columns = []
    for axis in AXES:
        slope = slopes.get(axis)
        if isinstance(slope, str):
            return [(None, everyone)]
        columns.append(np.zeros(len(lanes), np.int64) if slope is None else _taken(slope, lanes, there))
    if all((column == column[0]).all() for column in columns):
        x, y, z = (int(column[0]) for column in columns)
        return [((x, y, z), everyone)]
    rows, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    if len(rows) > _MOST_STEPS:
        return [(None, everyone)]
    return [((int(x), int(y), int(z)), everyone[which.reshape(-1) == at]) for at, (x, y, z) in enumerate(rows)]


def _joined(parts: list[TouchedPart]) -> list[TouchedPart]:
    """Return parts of which those that move alike are one."""
    alike: dict[tuple[int, int, int] | None, list[Intervals]] = {}
    for part in parts:
        alike.setdefault(part.steps, []).append(part.found)
    return [TouchedPart(steps, union_of(found)) for steps, found in alike.items()]


def _taken(slope: Slope, lanes: Column, there: Column) -> Column:
    assert not isinstance(slope, str)
    return np.broadcast_to(slope, there.size)[lanes]


def _own_space(space: Space, place: Column, there: Column) -> tuple[Space, Column]:
    """Return the space that addresses lead into, and where in it; `generic` where they lead into several."""
    if space != "generic":
        return space, place
    some = place[there]
    low, high = (int(some.min()), int(some.max())) if len(some) else (0, 0)
    if high < WINDOWS["shared"]:
        return "global", place
    if low >= WINDOWS["local"]:
        return "local", place - WINDOWS["local"]
    if WINDOWS["shared"] <= low and high < WINDOWS["local"]:
        return "shared", place - WINDOWS["shared"]
    return "generic", place


def _costs(space: Space, place: Column, there: Column, size: int) -> tuple[Column, Column, Column]:
    """Return the sectors, the passes and the lines of each row."""
    one = np.ones(len(place), np.int64)
    none = np.zeros(len(place), np.int64)
    match space:
        case "shared":
            return none, count_ways(place, there, size), none
        case "constant":
            return none, count_words(place, there, size), none
        case "local":
            return count_local_sectors(place, there, size), one, none
        case "global":
            return count_sectors(place, there, size), one, count_sectors(place, there, size, LINE)
        case _:
            return none, one, none
