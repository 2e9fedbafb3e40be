"""Which loads touch what was touched before: by another loop that has ended, or by a store.

    for (i …) s += a[i];            first: memory has to give it
    for (i …) a[i] = a[i] - s;      again: found if what lies between fits in the cache
    for (j …) { p[j] = …; q += p[j - 1]; }      a store was there before the load: memory gives nothing

Loads and stores of one array in the same loops are taken together; one block stands for all. What a loop touched
before counts where it covers half of what the other one does, in one iteration of the loops around both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.footprint import Intervals, touched_units
from warpsmith.analysis.counts.touching import GROUPS, AccessCounter
from warpsmith.machine.requests import SECTOR
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction

__all__ = ["Touches", "order_of"]


class Touches(Struct, frozen=True):
    """An access among others. `part`: the share of its sectors that no other load (or store) in its loops has touched,
    where each of several that touch the same has as much; `nest`: the number of its array in its loops, `data`: of the
    first nest that touches mostly the same; `again`: with how many of its loops, the innermost first, it touches what
    another loop did, -1: none did; `loaded`: that one loads; `stored`: a store was the first; `near`: what it loads was
    stored at the end of the iteration before."""

    part: float = 1.0
    again: int = -1
    loaded: bool = False
    stored: bool = False
    nest: int = -1
    data: int = -1
    near: bool = False


class _Nest(Struct):
    """Accesses of one array in the same loops; `headers` of these from outside."""

    headers: tuple[str, ...]
    loads: list[Instruction]
    stores: list[Instruction]
    touched: Intervals
    number: int = 0
    data: int = 0
    first: bool = False
    """Whether a store is the first to touch what it does."""


def order_of(owner: tuple[Function, Graph], found: Sequence[Instruction], writer: AccessCounter) -> dict[
    Instruction, Touches
]:  # fmt: skip
    """Return how each load that is found touches what others did."""
    function, graph = owner
    homes = {i: block.name for block, i in function.instructions() if block.name in graph.rank}
    there = [i for i in writer.places if i in writer.touched and i in set(found)]
    block = _block_of(there, writer)
    nests: dict[tuple[tuple[str, ...], int], _Nest] = {}
    sizes: dict[Instruction, int] = {}
    for i in there:
        touched = _of_block(writer, i, block)
        headers = tuple(cycle.header for cycle in graph.cycles_around(homes[i]))
        sizes[i] = _size(touched)
        for array in np.unique(touched.group).tolist():
            one = nests.setdefault((headers, array), _Nest(headers, [], [], touched_units((), 1)))
            (one.loads if i.op == "load" else one.stores).append(i)
            one.touched = touched_units([one.touched, _only(touched, array)], 1)
    orders: dict[Instruction, Touches] = {}
    earlier: list[tuple[int, _Nest]] = []
    for number, ((_, array), nest) in enumerate(nests.items()):
        alike = (one.data for at, one in earlier if at == array and 2 * _common_size(one, nest) >= _size(nest.touched))
        nest.number, nest.data = number, next(alike, number)
        behind = [one for at, one in reversed(earlier) if at == array and _covers(one, nest, writer)]
        _order(nest, behind, writer, sizes, orders)
        earlier.append((array, nest))
    return orders


def _order(
    nest: _Nest, behind: Sequence[_Nest], writer: AccessCounter, sizes: Mapping[Instruction, int],
    orders: dict[Instruction, Touches],
) -> None:  # fmt: skip
    """Note how the accesses of a nest touch what others did, the last one first, and who is the first in it."""
    follows = {i: any(_is_behind(i, s, writer) for s in nest.stores) for i in nest.loads}
    nest.first = behind[0].first if behind else bool(nest.stores) and all(follows.values())
    for found in (nest.loads, nest.stores):
        whole = sum(sizes[i] for i in found)
        part = min(1.0, _size(nest.touched) / whole) if whole else 1.0
        # a store finds what another one left: what is not written again stays to be written once
        before = next((one for one in behind if one.stores or found is nest.loads), None)
        again = -1 if before is None else _inside(nest, before)
        for i in found:
            stored = nest.first or (not behind and follows.get(i, False))
            loaded = any(one.loads for one in behind[:1])
            near = any(_is_next(i, s, writer) for s in nest.stores) if i in nest.loads else False
            orders[i] = Touches(part, again, loaded, stored, nest.number, nest.data, near)


def _covers(before: _Nest, nest: _Nest, writer: AccessCounter) -> bool:
    """Whether what a nest touches, in one iteration of the loops around both, the other has touched before it."""
    if before.headers == nest.headers:
        return False
    if _common(before, nest):
        most = max(_sectors(i, _inside(before, nest), writer) for i in (*before.loads, *before.stores))
        least = max(_sectors(i, _inside(nest, before), writer) for i in (*nest.loads, *nest.stores))
        if 2 * most < least:
            return False
    return 2 * _common_size(before, nest) >= _size(nest.touched)


def _common_size(one: _Nest, other: _Nest) -> int:
    return _size(one.touched) + _size(other.touched) - _size(touched_units([one.touched, other.touched], 1))


def _common(one: _Nest, other: _Nest) -> int:
    return sum(1 for a, b in zip(one.headers, other.headers, strict=False) if a == b)


def _inside(nest: _Nest, other: _Nest) -> int:
    """Return how many loops of a nest stand inside those around both."""
    return len(nest.headers) - _common(nest, other)


def _sectors(i: Instruction, level: int, writer: AccessCounter) -> float:
    found = [one for one in writer.sweeps.get(i, {}).values() if level < len(one.sectors)]
    return max((one.sectors[level] / one.visits for one in found), default=inf)


def _is_behind(load: Instruction, store: Instruction, writer: AccessCounter) -> bool:
    """Whether a load follows a store of the same lane: later in an iteration, or with what an earlier one stored."""
    one, other = writer.places.get(load), writer.places.get(store)
    if one is None or other is None or one.lane != other.lane:
        return False
    distance = one.address - other.address
    if not distance:
        return other.number < one.number
    return distance * other.step < 0 and abs(distance) >= abs(other.step)


def _is_next(load: Instruction, store: Instruction, writer: AccessCounter) -> bool:
    """Whether a load finds what a store of the same lane left in the last iteration."""
    one, other = writer.places.get(load), writer.places.get(store)
    if one is None or other is None or one.lane != other.lane or one.number > other.number:
        return False
    return other.address - one.address == other.step


def _block_of(there: Sequence[Instruction], writer: AccessCounter) -> int:
    """Return the block that touches the most."""
    sizes = np.zeros(writer.threads.count)
    for i in there:
        for part in writer.touched[i]:
            blocks = part.found.group // GROUPS
            sizes += np.bincount(blocks, weights=part.found.high - part.found.low, minlength=len(sizes))
    return int(sizes.argmax())


def _of_block(writer: AccessCounter, i: Instruction, block: int) -> Intervals:
    parts = []
    for part in writer.touched[i]:
        chosen = part.found.group // GROUPS == block
        parts.append(Intervals(part.found.group[chosen] % GROUPS, part.found.low[chosen], part.found.high[chosen]))
    return touched_units(parts, SECTOR)


def _only(touched: Intervals, array: int) -> Intervals:
    chosen = touched.group == array
    return Intervals(touched.group[chosen], touched.low[chosen], touched.high[chosen])


def _size(touched: Intervals) -> int:
    return int((touched.high - touched.low).sum())
