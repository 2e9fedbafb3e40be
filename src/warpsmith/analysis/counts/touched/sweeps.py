"""Each access on its way through the loops around it: what it touches with each of them, and what else is touched
meanwhile.

    for (i …)          level 2: all iterations of both
        for (k …)      level 1: all iterations of k, for one i
            a[i][k]    level 0: one iteration

Loops that are gone through at once have told their levels; of others the first visits are put together, as many as the
loop has iterations. `held` at a level are the lines of all accesses that one iteration of that loop touches: so much
has to stay for the next one to find what the last one left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from msgspec import Struct

from warpsmith.analysis.counts.footprint import Intervals, union_of
from warpsmith.analysis.counts.tallies import Tallies
from warpsmith.analysis.counts.touched.order import Touches
from warpsmith.analysis.counts.touching import LINE, AccessCounter, Sweeps, count_of_one
from warpsmith.machine.requests import SECTOR
from warpsmith.machine.time.work import Sweep
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import Function, Instruction

__all__ = ["LoopTrips", "sweeps_of"]

_NEARLY: Final = 1.5
"""So many times the visits that loops explain are all of them: blocks leave loops after different iterations."""


class LoopTrips(Struct, frozen=True):
    """Where accesses stand, and how many iterations loops have, on average over the warps that come to them."""

    homes: Mapping[Instruction, tuple[str, ...]]
    trips: Mapping[str, float]

    @classmethod
    def of(cls, function: Function, graph: Graph, sums: Tallies) -> LoopTrips:
        """Return those of a launch, from its sums."""
        homes: dict[Instruction, tuple[str, ...]] = {}
        trips: dict[str, float] = {}
        for block, i in function.instructions():
            if block.name in graph.rank:
                homes[i] = tuple(cycle.header for cycle in graph.cycles_around(block.name))
        for cycle in {id(one): one for name in graph.order for one in graph.cycles_around(name)}.values():
            trips[cycle.header] = max(1.0, _trips(cycle, graph, {name: float(n[0]) for name, n in sums.visits.items()}))
        return cls(homes, trips)


def _trips(cycle: Cycle, graph: Graph, visits: Mapping[str, float]) -> float:
    """Return how many iterations a loop has, from how often its blocks are visited."""
    goes = visits.get(cycle.header, 0.0)
    latches = [name for name in graph.predecessors[cycle.header] if name in cycle.blocks]
    back = sum(visits.get(name, 0.0) for name in latches)
    if all(len(graph.successors[name]) == 1 for name in latches):
        # tested at its begin
        return back / (goes - back) if goes > back else 1.0
    comes = visits.get(graph.dominator[cycle.header], 0.0)
    return goes / comes if comes else 1.0


class _Levels(Struct):
    """An access: the headers around it from outside; sectors, lines and iterations by level, the innermost first."""

    headers: tuple[str, ...]
    sectors: list[float]
    lines: list[float]
    times: list[float]
    shared: float
    order: Touches
    loads: bool


def sweeps_of(
    found: Mapping[Instruction, tuple[float, float]],
    orders: Mapping[Instruction, Touches],
    writer: AccessCounter,
    loops: LoopTrips,
) -> dict[Instruction, Sweep]:
    """Return the ways of accesses that are found, each with the part of what it touches that is left where several
    blocks touch the same, and the sectors that a block asks for."""
    levels = {
        i: _levels(i, about, orders.get(i, Touches()), writer, loops)
        for i, about in found.items()
        if i in writer.sweeps and i in writer.touched
    }
    return {i: _sweep(one, list(levels.values())) for i, one in levels.items()}


def _levels(
    i: Instruction, about: tuple[float, float], order: Touches, writer: AccessCounter, loops: LoopTrips
) -> _Levels:
    shared, asked = about
    kept = max(writer.sweeps[i].values(), key=lambda one: one.visits * prod(n / one.visits for n in one.times))
    headers = loops.homes.get(i, ())
    sectors, lines, times = ([n / kept.visits for n in one] for one in (kept.sectors, kept.lines, kept.times))
    whole = union_of([part.found for part in writer.touched[i]])
    around = [loops.trips.get(header, 1.0) for header in reversed(headers)]
    visits, together = float(kept.visits), 1.0
    stretches = min(visits, prod(around[: len(times)]) / prod(times)) if times else 1.0
    if stretches >= _NEARLY:
        # a loop that is gone through in several stretches is one loop
        together *= stretches
        times[-1] *= stretches
        sectors[-1], lines[-1] = _sizes(_some_visits(kept, together), (sectors[-1], lines[-1]), stretches)
    for trips in around[len(times) :]:
        together *= trips
        part = _some_visits(kept, together) if together < visits / _NEARLY else whole
        size = _sizes(part, (sectors[-1], lines[-1]), trips)
        times.append(trips)
        sectors.append(size[0])
        lines.append(size[1])
    most = count_of_one(whole, SECTOR), count_of_one(whole, LINE)
    sectors[-1], lines[-1] = max(sectors[0], most[0]), max(lines[0], most[1])
    sectors, lines = [min(n, sectors[-1]) for n in sectors], [min(n, lines[-1]) for n in lines]
    if times and sectors[0] * prod(times) > asked:
        # lanes that leave a loop before the others
        times[-1] = max(1.0, times[-1] * asked / (sectors[0] * prod(times)))
    return _Levels(headers, sectors, lines, times, shared, order, i.op == "load" or i.op.startswith("atomic"))


def _sizes(part: Intervals | None, inner: tuple[float, float], times: float) -> tuple[float, float]:
    """Return the sectors and lines of a loop, at least those of one iteration; what too many visits touch (None) is
    taken to grow with them."""
    if part is None:
        return inner[0] * times, inner[1] * times
    return max(inner[0], count_of_one(part, SECTOR)), max(inner[1], count_of_one(part, LINE))


def _some_visits(kept: Sweeps, count: float) -> Intervals | None:
    """Return what so many visits touch that follow each other; None where they are too many."""
    first = (len(kept.touched) - round(count)) // 2
    return union_of(kept.touched[first : first + round(count)]) if first >= 0 else None


def _sweep(one: _Levels, every: Sequence[_Levels]) -> Sweep:
    held = [_held(one, level, every, second=False) for level in range(len(one.sectors))]
    second = [_held(one, level, every, second=True) for level in range(len(one.sectors))]
    again = min(one.order.again, len(one.times)) if one.order.again >= 0 else -1
    return Sweep(
        tuple(one.sectors), tuple(one.times), tuple(held), tuple(second), one.shared, one.order.part,
        one.lines[0], again, one.order.loaded, one.order.near,
    )  # fmt: skip


def _held(one: _Levels, level: int, every: Sequence[_Levels], *, second: bool) -> float:
    """Return the lines that accesses touch in one iteration of the loop that has so many inside; the second cache holds
    what stores touch as well, and once what several blocks do."""
    around = one.headers[: max(0, len(one.headers) - level)]
    whole = level >= len(one.times)
    nests: dict[tuple[int, int, bool], float] = {}
    for other in every:
        if other.headers[: len(around)] != around or not (second or other.loads):
            continue
        at = len(other.lines) - 1 if whole else min(len(other.headers) - len(around), len(other.lines) - 1)
        key = other.order.data, other.order.nest, other.loads
        lines = other.lines[at] * other.order.part * (other.shared if second else 1.0)
        nests[key] = nests.get(key, 0.0) + lines
    # what several nests touch, or loads and stores of one, has its place once
    most: dict[int, float] = {}
    for (data, _, _), lines in nests.items():
        most[data] = max(most.get(data, 0.0), lines)
    return sum(most.values())
