"""Which threads of a group are there when one of them is: at a block of the function, in one iteration.

    all     whenever one thread of the group is there, all are
    known   exactly those for which every dominating condition holds, and these are numbers: `if (tid.x < 16)`
    some    some of them; which ones depends on what is not known

A branch that parts threads matters for the blocks up to where they are together again (joins.region). It is decided for
a block if only one of its ways leads there, always, and its condition is a known number for each thread.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from warpsmith.analysis.forms import Forms
from warpsmith.analysis.joins import region
from warpsmith.ssa.nodes import Branch, Switch, Value

__all__ = ["Guard", "Presence", "Presences", "conditions"]


@dataclass(frozen=True, slots=True)
class Guard:
    """A branch that a block is behind: the block that it ends, and whether its condition holds (None: a switch)."""

    block: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Presence:
    """`threads` of the block of threads that may be there; all of them where `kind` is not `known`."""

    kind: Literal["all", "known", "some"]
    threads: frozenset[int]


class Presences:
    """The answer for every block of a function."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.everyone = frozenset(range(forms.lanes.count))
        self._parting: dict[str, list[str]] = defaultdict(list)
        self._found: dict[str, Presence] = {}
        graph = forms.graph
        self._order = {name: n for n, name in enumerate(graph.order)}
        for name in forms.answer.branches:
            for inside in region(graph, name):
                self._parting[inside].append(name)

    def at(self, block: str) -> Presence:
        """Return who is there."""
        if block not in self._found:
            self._found[block] = self._at(block)
        return self._found[block]

    def parted_by(self, block: str) -> tuple[str, ...]:
        """Return the blocks whose branches may keep threads away from this one, in the order of the graph."""
        return tuple(sorted(self._parting[block], key=self._order.__getitem__))

    def _at(self, block: str) -> Presence:
        parting = self._parting[block]
        if not parting:
            return Presence("all", self.everyone)
        left = set(self.everyone)
        decided = True
        for name in parting:
            guard = self.guard(name, block)
            holds = None if guard is None else self._holds(guard)
            if holds is None:
                decided = False
            else:
                left &= holds
        return Presence("known" if decided else "some", frozenset(left))

    def guard(self, branch: str, block: str) -> Guard | None:
        """Return which way of a branch is the only one that leads to `block`."""
        graph, forms = self.forms.graph, self.forms
        terminator = forms.blocks[branch].terminator
        inside = {c.header for c in forms.around[block]}
        if not isinstance(terminator, Branch) or any(c.header not in inside for c in forms.around[branch]):
            return None
        if any(len(c.entries) > 1 for c in forms.around[block]):
            return None
        for way, holds in ((terminator.then, True), (terminator.other, False)):
            if (
                graph.predecessors[way] == (branch,)
                and graph.dominates(way, block)
                and terminator.then != terminator.other
            ):
                return Guard(branch, holds)
        return None

    def _holds(self, guard: Guard) -> set[int] | None:
        """Return the threads for which a guard lets through, None where that is not known."""
        terminator = self.forms.blocks[guard.block].terminator
        assert isinstance(terminator, Branch)
        form = self.forms.of(terminator.condition, guard.block)
        numbers = None if form is None else self.forms.lanes.numbers(form)
        if numbers is None:
            return None
        return {t for t, n in enumerate(numbers) if bool(n & 1) == guard.holds}


def conditions(forms: Forms) -> list[Value]:
    """Return the conditions of the branches."""
    found = []
    for name in forms.graph.order:
        terminator = forms.blocks[name].terminator
        operand = terminator.condition if isinstance(terminator, Branch) else None
        operand = terminator.value if isinstance(terminator, Switch) else operand
        if isinstance(operand, Value):
            found.append(operand)
    return found
