"""The parts of a function at one depth of loops, where ways that leave the loop lead nowhere.

    level of the function     entry ─► … ─► loop ─► … ─► END         every way ends at END
    level of a loop           header ─► … ─► END                     behind END the next iteration
                                       └─► break                     no way here: IL leaves a loop from within ifs

Every part of a loop has a way to END, as a loop is strongly connected. The ways from a part meet at its immediate
post-dominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from warpsmith.ssa.digraph import dominators
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.targets.mask.levels import END, BranchWay, LoopLevel, exits_of, leads_to, level_of

__all__ = ["IlLevel", "make_level", "reached"]


class IlLevel(Struct, frozen=True):
    """`parts`: what stands here; `after`: where their ways lead, but for those that leave the loop; `joins`: where ways
    from a part meet."""

    parts: LoopLevel
    after: Mapping[str, tuple[str, ...]]
    joins: Mapping[str, str]

    def leaves(self, way: BranchWay) -> bool:
        """Whether a way leaves the loop."""
        return self.parts.kind_of(way.target) == "exit"


def make_level(graph: Graph, cycle: Cycle | None) -> IlLevel:
    """Return the level of a loop, or of the whole function."""
    parts = level_of(graph, cycle)
    after: dict[str, tuple[str, ...]] = {END: ()}
    for part in sorted(set(parts.parts.values()), key=graph.rank.__getitem__):
        loop = parts.loops.get(part)
        targets = leads_to(graph, part) if loop is None else exits_of(graph, loop)
        after[part] = tuple(dict.fromkeys(parts.part_of(one) for one in targets if parts.kind_of(one) != "exit"))
    before: dict[str, list[str]] = {part: [] for part in after}
    for part, several in after.items():
        for one in several:
            before[one].append(part)
    return IlLevel(parts, after, dominators(before, END))


def reached(after: Mapping[str, Iterable[str]], start: str, join: str) -> set[str]:
    """Return the parts on the ways from a part to `join`, which is none of them."""
    found: set[str] = set()
    left = [start]
    while left:
        part = left.pop()
        if part != join and part not in found:
            found.add(part)
            left += after[part]
    return found
