"""Which threads may be in a block together: those that take the sides of the branches that it lies behind.

    i = 64 * ctaid.x + tid.x
    if (tid.x < 2)              behind it, threads 0 and 1
        if (i >= 2) …           64 * ctaid.x + 0 and + 1: the same answer for both
    if (tid.x == n)             behind it, one thread at a time, whichever it is

A branch tells something of a block if every way there leads through one of its sides, in the same iteration of every
cycle around the branch, and if its condition is a known number for each thread, or picks one. A value is the same in a
block where the threads that may be there have the same number; what the others would have had does not matter.

Optimistic, as all of uniformity: at first nobody takes a side; who may take it only grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from warpsmith.analysis.uniformity.tables import ThreadTable, ThreadTables
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Operand, Phi, Value

__all__ = ["ActiveThreadSets", "KnownValues"]


class KnownValues(Protocol):
    """What is known of values by now."""

    @property
    def definitions(self) -> Mapping[Value, Instruction | Phi]:
        """How each value is made."""
        ...

    @property
    def homes(self) -> Mapping[Value, str]:
        """The block in which each is."""
        ...

    def numbers(self, operand: Operand, *blocks: str) -> ThreadTable | None:
        """Return the numbers of an operand as a block uses it."""
        ...

    def find_left_apart(self, value: Value, *blocks: str) -> str | None:
        """Return the cycle that a value comes out of and that threads leave in different iterations."""
        ...


class _Guard(Struct, frozen=True):
    """The side of a branch that a block is behind: the headers of the cycles around the branch, the threads that may
    take this side as bits, and whether it is one of a group at most."""

    around: frozenset[str]
    threads: int
    once: bool


class ActiveThreadSets:
    """Who may be in each block of a function, as far as it is known by now."""

    def __init__(
        self, graph: Graph, blocks: Mapping[str, BasicBlock], tables: ThreadTables, known: KnownValues
    ) -> None:
        self.graph, self.blocks, self.tables, self.known = graph, blocks, tables, known
        self._everyone = (1 << tables.count) - 1
        self._around = {name: frozenset(cycle.header for cycle in graph.cycles_around(name)) for name in graph.order}
        self._mixed = {n for n in graph.order if any(len(c.entries) > 1 for c in graph.cycles_around(n))}
        self._sides: dict[str, tuple[int, bool]] = {}
        self._guards: dict[str, tuple[_Guard, ...]] = {}
        self._stand_ins: dict[str, tuple[int, ...] | None] = {}
        self._alone: set[str] = set()

    def look(self, name: str) -> bool:
        """Look again who may be in a block, after those above it; return whether there are more than before."""
        guards = self._behind(name)
        if self._guards.get(name) == guards:
            return False
        self._guards[name] = guards
        threads = self._everyone
        for guard in guards:
            threads &= guard.threads
        self._stand_ins[name] = None if threads == self._everyone else self.tables.stand_ins(threads)
        alone = any(guard.once for guard in guards) or self.tables.at_most_one(threads)
        (self._alone.add if alone else self._alone.discard)(name)
        return True

    def alone(self, name: str) -> bool:
        """Whether at most one thread of a group is in a block at a time."""
        return name in self._alone

    def narrow(self, name: str) -> bool:
        """Whether some threads are known not to be in a block, or not at a time."""
        return name in self._alone or self._stand_ins.get(name) is not None

    def within(self, table: ThreadTable | None, name: str) -> ThreadTable | None:
        """Return the numbers of a value for the threads that may be in a block; the others get the number of one that
        is there."""
        stand_ins = self._stand_ins.get(name)
        return table if table is None or stand_ins is None else self.tables.replace(table, stand_ins)

    def agree(self, table: ThreadTable | None, name: str) -> bool:
        """Whether the threads of a group that may be in a block have the same number."""
        here = self.within(table, name)
        return here is not None and self.tables.is_same(here)

    def _behind(self, name: str) -> tuple[_Guard, ...]:
        """Return the sides of branches that every way to a block leads through, the nearest last."""
        above = self.graph.dominator.get(name)
        if above is None or name in self._mixed:
            return ()
        inside = self._around[name]
        guards = tuple(guard for guard in self._guards.get(above, ()) if guard.around <= inside)
        if self.graph.predecessors[name] != (above,) or not self._around[above] <= inside:
            return guards
        threads, once = self._side(above, name)
        plain = threads == self._everyone and not once
        return guards if plain else (*guards, _Guard(self._around[above], threads, once))

    def _side(self, branch: str, side: str) -> tuple[int, bool]:
        """Return who may go from a branch to one of its sides, and whether it is one of a group at most."""
        end = self.blocks[branch].terminator
        if not isinstance(end, Branch) or end.then == end.other or not isinstance(end.condition, Value):
            return self._everyone, False
        value = side == end.then
        row = self.known.numbers(end.condition, branch)
        threads = self._everyone if row is None else self.tables.holders(row, value=value)
        before, once = self._sides.get(side, (0, True))
        once = once and (self.tables.at_most_one(threads) or self._picks(end.condition, branch, value=value))
        self._sides[side] = before | threads, once
        return self._sides[side]

    def _picks(self, condition: Value, branch: str, *, value: bool) -> bool:
        """Whether a condition is an equality that holds (does not hold) for at most one thread of a group."""
        made, home = self.known.definitions[condition], self.known.homes[condition]
        if not isinstance(made, Instruction) or made.op != ("eq" if value else "ne"):
            return False
        if self.known.find_left_apart(condition, branch) is not None:
            return False
        return self.tables.picks_one(made, [self.known.numbers(operand, home) for operand in made.operands])
