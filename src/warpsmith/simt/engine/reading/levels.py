"""Sets of lanes that go through a kernel together, one inside the other, where its text alone tells them.

    A ─► B ─► D ─► H ◄─┐        A, D: all lanes          B: an arm of A's branch          C: the other arm
    └──► C ──┘     X ──┘        H, X: a loop, whose lanes become fewer at the branch of X
                   └──► E       E: all lanes

A level is a set of blocks that the same lanes come to: all of the warp, an arm (the lanes that went one way at a
branch), or a loop (those that have not left it). Of a lane that is not in a level but in the one around it, it is known
at which branch it was last together with those that are there, *all* of them: that of the arm, or the one at which it
left the loop. So the slots that it loses are charged to that branch, whoever is there.

Invariant: lanes are together in every block that all of them come to in one iteration, since blocks run one behind the
other (linear.py). A loop is a level where lanes leave it only from blocks to which all lanes come that are in it, and
meet again behind it. Where a kernel is not made of levels alone (a break in an arm, `a || b`, a return in a loop), it
has none; observers/lost.py then keeps who left whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.simt.engine.reading.linear import Item, NaturalLoop, in_line
from warpsmith.ssa.graph import Cycle, Graph

__all__ = ["Level", "Levels"]


class Level(Struct, frozen=True, eq=False):
    """A level inside `parent`. An arm: of the branch at the end of the block `branch`, entered at `start`. A loop:
    `start` is its header, `exits` the blocks from which lanes leave it. All lanes: neither."""

    parent: Level | None = None
    branch: str = ""
    start: str = ""
    exits: tuple[str, ...] = ()

    def chain(self) -> Iterator[Level]:
        """Yield the level and those around it, but for that of all lanes."""
        here: Level | None = self
        while here is not None and here.parent is not None:
            yield here
            here = here.parent


class Levels(Struct, frozen=True):
    """The level `of` each block; the arms that are `ended` when a block has been passed, inner ones first."""

    of: Mapping[str, Level]
    ended: Mapping[str, tuple[Level, ...]]

    @classmethod
    def find(cls, graph: Graph) -> Levels | None:
        """Return the levels of a graph; None where it is not made of levels alone."""
        if graph.irreducible:
            return None
        order = tuple(_names(in_line(graph)))
        made = _Search(graph).levels(order)
        return None if made is None else cls(made, _ends(order, made))

    def arm(self, block: str, target: str) -> Level | None:
        """Return the arm that lanes enter from a block to another."""
        return next((one for one in self.of[target].chain() if one.start == target and one.branch == block), None)


def _names(items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        if isinstance(item, NaturalLoop):
            yield from _names(item.items)
        else:
            yield item


def _ends(order: Sequence[str], levels: Mapping[str, Level]) -> dict[str, tuple[Level, ...]]:
    """Return which arms have their last block where."""
    last: dict[Level, str] = {}
    for name in order:
        last.update({one: name for one in levels[name].chain() if one.branch})
    ended: dict[str, tuple[Level, ...]] = {}
    for name in order:
        found = tuple(one for one in levels[name].chain() if one.branch and last[one] == name)
        if found:
            ended[name] = found
    return ended


class _Search:
    """The levels of a graph while they are looked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.found: dict[str, Level] = {}

    def levels(self, order: Sequence[str]) -> Mapping[str, Level] | None:
        """Return the level of each block, None where there is none."""
        for name in order:
            level = self.level(name)
            if level is None:
                return None
            self.found[name] = level
        return self.found if all(map(self.leaves_well, order)) else None

    def level(self, name: str) -> Level | None:
        """Return the level of a block; those of all blocks before it are known."""
        around = self.graph.cycles_around(name)
        if name == self.graph.entry:
            return None if around else Level()
        if not around or around[-1].header != name:
            return self.come(name, around)
        outside = self.come(name, around[:-1])
        return None if outside is None else Level(outside, "", name, self.exits(around[-1]))

    def exits(self, cycle: Cycle) -> tuple[str, ...]:
        """Return the blocks from which lanes leave a loop, in order."""
        graph = self.graph
        return tuple(
            name
            for name in graph.order
            if name in cycle.blocks and any(after not in cycle.blocks for after in graph.successors[name])
        )

    def come(self, name: str, around: Sequence[Cycle]) -> Level | None:
        """Return the level of the lanes that come to a block, in an iteration of the innermost loop of `around`."""
        graph = self.graph
        own = around[-1].header if around else ""
        inner = graph.cycles_around(name)[len(around) :]
        before = {p for p in graph.predecessors[name] if not (inner and p in inner[0].blocks)}
        if len(before) == 1:
            (one,) = before
            if self.is_in(one, around):
                return self.step(one, name, around)
        above = graph.dominator.get(name)
        while above is not None and not self.is_in(above, around):
            above = graph.dominator.get(above)
        return self.found[above] if above is not None and self.all_come(above, name, around, own) else None

    def is_in(self, name: str, around: Sequence[Cycle]) -> bool:
        """Whether a block is in these loops, and in no other."""
        return tuple(self.graph.cycles_around(name)) == tuple(around)

    def step(self, block: str, target: str, around: Sequence[Cycle]) -> Level:
        """Return the level of a block that lanes come to from one block only."""
        after = set(self.graph.successors[block])
        here = self.found[block]
        stay = {name for name in after if not around or name in around[-1].blocks}
        return here if stay == {target} else Level(here, block, target)

    def all_come(self, above: str, name: str, around: Sequence[Cycle], header: str) -> bool:
        """Whether all lanes that are in one block come to another in the same iteration."""
        graph = self.graph
        seen, pending = {name}, list(graph.successors[above])
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            outside = bool(around) and at not in around[-1].blocks
            if at == header or outside or not graph.successors[at]:
                return False
            seen.add(at)
            pending += graph.successors[at]
        return True

    def leaves_well(self, name: str) -> bool:
        """Whether lanes leave at most one loop from a block, and only where all come that are in it."""
        graph = self.graph
        for after in graph.successors[name]:
            left = [cycle for cycle in graph.cycles_around(name) if after not in cycle.blocks]
            level = self.found[name]
            if left and (len(left) > 1 or level.branch or level.start != left[0].header):
                return False
        return True
