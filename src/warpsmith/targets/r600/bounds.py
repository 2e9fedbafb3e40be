"""Fewer bundles than this there cannot be.

    head(o)   bundles before o: the longest chain of operations that it depends on     (fetches take none)
    tail(o)   bundles behind o: the longest chain that depends on it

Invariant: all operations with head ≥ h and tail ≥ t stand in the bundles from h to the last but t, so that there are at
least h + t + (bundles that their number, by kind of slot, needs). The bound is the largest of these; it is what a
schedule is held against, and where they are equal the schedule is shortest.

Source: the interval bounds of scheduling with unit times (Jackson 1955; Carlier, EJOR 11, 1982), by kind of slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from warpsmith.machine.vliw.slots import Generation, slots_of, width_of
from warpsmith.targets.r600.groups import RegisterGroups
from warpsmith.targets.r600.operations import Fetch, Fetched, Operation, Value

__all__ = ["Distances", "distances_of", "lower_bound", "needs_of", "slots_for"]

Node = Operation | Fetch


class Distances(Struct, frozen=True):
    """How far each operation and fetch is from the first bundle and from the last."""

    head: Mapping[Node, int]
    tail: Mapping[Node, int]


def needs_of(node: Node, groups: RegisterGroups) -> tuple[Node, ...]:
    """Return the operations and fetches that a node waits for."""
    values: Iterable[Value | None]
    if isinstance(node, Fetch):
        values = groups.fetches[node].values
    else:
        values = [operand.value for operand in node.operands]
    found: dict[Node, None] = {}
    for value in values:
        if isinstance(value, Operation):
            found[value] = None
        elif isinstance(value, Fetched):
            found[value.fetch] = None
    return tuple(found)


def distances_of(groups: RegisterGroups) -> Distances:
    """Return head and tail of every node."""
    nodes: tuple[Node, ...] = (*groups.operations, *groups.fetches)
    needs = {node: needs_of(node, groups) for node in nodes}
    head: dict[Node, int] = {}
    order: list[Node] = []
    pending: list[Node] = list(needs)
    while pending:
        node = pending[-1]
        waiting = [one for one in needs[node] if one not in head]
        if node in head or waiting:
            pending += waiting
            if node in head:
                pending.pop()
            continue
        head[node] = max((head[one] + isinstance(one, Operation) for one in needs[node]), default=0)
        order.append(node)
        pending.pop()
    tail: dict[Node, int] = dict.fromkeys(order, 0)
    for node in reversed(order):
        for one in needs[node]:
            tail[one] = max(tail[one], tail[node] + isinstance(node, Operation))
    return Distances(head, tail)


def slots_for(one: Operation, groups: RegisterGroups, generation: Generation) -> str:
    """Return the slots that an operation may stand in: where it is bound to a component, that and t."""
    slots = slots_of(one.name, generation)
    pin = groups.pins.get(one)
    if pin is None or width_of(one.name, generation) > 1:
        return slots
    return "".join(slot for slot in slots if slot in (pin[1], "t"))


def lower_bound(groups: RegisterGroups, generation: Generation, distances: Distances) -> int:
    """Return how many bundles there are at least."""
    head, tail = distances.head, distances.tail
    best = 0
    for first in sorted({head[one] for one in groups.operations}):
        kept = [one for one in groups.operations if head[one] >= first]
        for last in sorted({tail[one] for one in kept}):
            among = [one for one in kept if tail[one] >= last]
            best = max(best, first + last + _bundles(among, groups, generation))
    return best


def _bundles(operations: list[Operation], groups: RegisterGroups, generation: Generation) -> int:
    """Return how many bundles so many operations need, by the slots that they may stand in."""
    total = sum(width_of(one.name, generation) for one in operations)
    needed = -(-total // (4 if generation == "cayman" else 5))
    allowed = [slots_for(one, groups, generation) for one in operations]
    for slots in {"t", "xyzw", *allowed}:
        inside = sum(
            width_of(one.name, generation)
            for one, own in zip(operations, allowed, strict=True)
            if set(own) <= set(slots)
        )
        needed = max(needed, -(-inside // len(slots)))
    return needed
