"""Instructions that may run between two barriers. An interval starts at the entry or a barrier; the next ones end it.

    barrier ──► A ──► back edge of h ──► B ──► barrier        A in one iteration of h, B in the next: `turns` 0 and 1

All threads of a block are in one interval at a time, if every barrier is reached by all of them together. For each
interval, each place in it and each way there: how often it goes around each loop that has a barrier inside; None where
that may be any number. A loop without a barrier is gone around by each thread as it likes: always None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.analysis.memory.forms import Forms
from warpsmith.ssa.nodes import GRID_BARRIER, Constant, Instruction, Text

__all__ = ["ALL_LANES", "Cut", "Interval", "Turns", "around", "full_barrier", "intervals", "warp_barrier"]

Turns = Mapping[str, int | None]
"""Header of a loop → how often its back edge was taken since the interval began; None: it varies."""

ALL_LANES: Final = 0xFFFFFFFF

Cut = Callable[[Instruction], bool]
_MANY = 2


class Interval(Struct, frozen=True):
    """`start` is a barrier, None for the entry; `inside`: the instructions that were asked for, with the turns of each
    way there."""

    start: Instruction | None
    inside: Mapping[Instruction, tuple[Turns, ...]]


def full_barrier(i: Instruction) -> bool:
    """Whether all threads of the block wait here for each other, or all of the grid."""
    if i.op != "barrier":
        return i.op == "unmodeled" and isinstance(i.detail, Text) and i.detail.text == GRID_BARRIER
    detail = i.detail
    waits, reduces = getattr(detail, "waits", True), bool(getattr(detail, "reduces", ""))
    return waits and len(i.operands) - reduces <= 1


def warp_barrier(i: Instruction) -> bool:
    """Whether all lanes of the warp wait here for each other."""
    whole = not i.operands or (isinstance(i.operands[0], Constant) and i.operands[0].bits == ALL_LANES)
    return full_barrier(i) or (i.op == "warp_barrier" and whole)


def intervals(
    forms: Forms, wanted: Iterable[Instruction], cut: Cut, entered: frozenset[str] = frozenset()
) -> list[Interval]:
    """Return every interval, with those of the wanted instructions that may happen in it; `entered`: headers of loops
    whose first test lets an iteration begin."""
    walk = _Walk(forms, set(wanted), cut, entered)
    found = [Interval(None, walk.go(forms.graph.entry, 0))]
    for name in forms.graph.order:
        found += [Interval(i, walk.go(name, n + 1)) for n, i in enumerate(walk.cuts[name])]
    return found


def around(forms: Forms, wanted: Iterable[Instruction], cut: Cut, at: Instruction) -> tuple[set[Instruction], ...]:
    """Return those of the wanted instructions that may happen in the intervals that end at a barrier, and in the one
    that starts there."""
    walk = _Walk(forms, set(wanted), cut)
    for name in forms.graph.order:
        for number, i in enumerate(walk.cuts[name]):
            if i is at:
                return walk.back(name, number), set(walk.go(name, number + 1))
    return set(), set()


class _Walk:
    """Walks from a barrier to the next ones; blocks are in pieces, which barriers end."""

    def __init__(self, forms: Forms, asked: set[Instruction], cut: Cut, entered: frozenset[str] = frozenset()) -> None:
        self.forms, self.entered = forms, entered
        self.cuts: dict[str, list[Instruction]] = {}
        self.pieces: dict[str, list[list[Instruction]]] = {}
        for name in forms.graph.order:
            self.cuts[name], self.pieces[name] = [], [[]]
            for i in forms.blocks[name].instructions:
                if cut(i):
                    self.cuts[name].append(i)
                    self.pieces[name].append([])
                elif i in asked:
                    self.pieces[name][-1].append(i)
        self.phased = {h for h, cycle in forms.headers.items() if any(self.cuts[name] for name in cycle.blocks)}

    def go(self, block: str, piece: int) -> dict[Instruction, tuple[Turns, ...]]:
        """Return what may come next from a piece of a block, with the turns of each way."""
        seen: dict[Instruction, dict[object, Turns]] = {}
        visited: set[object] = set()
        pending: list[tuple[str, int, dict[str, int], bool]] = [(block, piece, {}, False)]
        while pending:
            name, number, turns, first = pending.pop()
            key = (name, number, frozenset(turns.items()), first)
            if key in visited:
                continue
            visited.add(key)
            for i in self.pieces[name][number]:
                around = (cycle.header for cycle in self.forms.around[name])
                found = tuple((header, self._turns(header, turns.get(header, 0))) for header in around)
                seen.setdefault(i, {})[found] = dict(found)
            if number == len(self.cuts[name]):
                pending += [
                    (after, 0, self._cross_edge(turns, name, after), self._begins(name, after))
                    for after in self.forms.graph.successors[name]
                    if not first or after in self.forms.headers[name].blocks
                ]
        return {i: tuple(found.values()) for i, found in seen.items()}

    def _begins(self, before: str, after: str) -> bool:
        """Whether a loop begins there whose first test is passed."""
        return after in self.entered and before not in self.forms.headers[after].blocks

    def back(self, block: str, piece: int) -> set[Instruction]:
        """Return what may come last before the end of a piece of a block."""
        found = set(self.pieces[block][piece])
        pending = list(self.forms.graph.predecessors[block]) if piece == 0 else []
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                found.update(self.pieces[name][-1])
                pending += self.forms.graph.predecessors[name] if not self.cuts[name] else ()
        return found

    def _cross_edge(self, turns: dict[str, int], before: str, after: str) -> dict[str, int]:
        cycle = self.forms.headers.get(after)
        if cycle is None or after not in self.phased:
            return turns
        if before in cycle.blocks:
            return {**turns, after: min(_MANY, turns.get(after, 0) + 1)}
        # it begins anew: iterations of before are of another time
        return {h: n for h, n in turns.items() if h != after}

    def _turns(self, header: str, count: int) -> int | None:
        return None if count == _MANY or header not in self.phased else count
