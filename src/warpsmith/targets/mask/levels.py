"""The parts of a function at one depth of loops: blocks, and loops as if they were blocks.

    level of the function     entry ─► … ─► loop ─► … ─► END          every way ends at END
    level of a loop           header ─► … ─► END                      behind END the next iteration, or the exit

A level has no cycle, so that each of its parts has a part where all ways from it meet: its immediate post-dominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.ssa.digraph import dominators
from warpsmith.ssa.graph import Cycle, Graph

__all__ = ["END", "BranchWay", "LoopLevel", "exits_of", "leads_to", "level_of", "reached"]

END: Final = ""
"""Where all ways of a level meet; in the level of the function, its end."""


class BranchWay(Struct, frozen=True):
    """From block `source` to block `target`, END to end; `source` is "" where the way began at the exit of a loop: what
    is to be copied was copied there."""

    source: str
    target: str


class LoopLevel(Struct, frozen=True):
    """`parts`: by block, the part that holds it: itself, or the header of a loop; `loops`: those loops by header;
    `exits`: blocks behind the loop, whose numbers in `which` are from 1 on; `joins`: where ways from a part meet."""

    cycle: Cycle | None
    parts: Mapping[str, str]
    loops: Mapping[str, Cycle]
    exits: tuple[str, ...]
    after: Mapping[str, tuple[str, ...]]
    joins: Mapping[str, str]

    def part_of(self, target: str) -> str:
        """Return the part to which a way leads."""
        again = self.cycle is not None and target == self.cycle.header
        return END if again else self.parts.get(target, END)

    def kind_of(self, target: str) -> Literal["part", "again", "exit"]:
        """Return whether a way stays here, begins the next iteration, or leaves the loop."""
        if self.cycle is None or target in self.parts:
            return "again" if self.cycle is not None and target == self.cycle.header else "part"
        return "exit"


def level_of(graph: Graph, cycle: Cycle | None) -> LoopLevel:
    """Return the level of a loop, or of the whole function."""
    children = graph.cycles if cycle is None else cycle.children
    parts = {name: name for name in (graph.order if cycle is None else cycle.blocks)}
    for child in children:
        parts.update(dict.fromkeys(child.blocks, child.header))
    loops = {child.header: child for child in children}
    exits = () if cycle is None else exits_of(graph, cycle)
    level = LoopLevel(cycle, parts, loops, exits, {}, {})
    after: dict[str, tuple[str, ...]] = {END: ()}
    before: dict[str, list[str]] = {END: []}
    for part in sorted(set(parts.values()), key=graph.rank.__getitem__):
        targets = exits_of(graph, loops[part]) if part in loops else leads_to(graph, part)
        after[part] = tuple(dict.fromkeys(level.part_of(one) for one in targets))
        before.setdefault(part, [])
        for one in after[part]:
            before.setdefault(one, []).append(part)
    return LoopLevel(cycle, parts, loops, exits, after, dominators(before, END))


def leads_to(graph: Graph, block: str) -> tuple[str, ...]:
    """Return the blocks behind one, END where it has none."""
    return graph.successors[block] or (END,)


def exits_of(graph: Graph, cycle: Cycle) -> tuple[str, ...]:
    """Return the blocks to which a loop may be left, END where it may be the end of the thread."""
    inside = sorted(cycle.blocks, key=graph.rank.__getitem__)
    return tuple(dict.fromkeys(one for name in inside for one in leads_to(graph, name) if one not in cycle.blocks))


def reached(level: LoopLevel, starts: Iterable[str], join: str) -> set[str]:
    """Return the parts on the ways from some parts to `join`."""
    found: set[str] = set()
    left = list(starts)
    while left:
        part = left.pop()
        if part != join and part not in found:
            found.add(part)
            left += level.after[part]
    return found
