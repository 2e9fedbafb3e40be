"""Blocks from which every way ends in a trap, as a failed assertion does: the launch ends there with an error.

assert(i < n)     i < n ──► the code behind
                  else  ──► trap              nobody waits for who gets there, and no warp runs on
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Exit

__all__ = ["find_failing", "is_test_of_failure"]


def find_failing(graph: Graph, blocks: Mapping[str, BasicBlock]) -> frozenset[str]:
    """Return the blocks from which a trap is reached, and no other end."""
    traps = [name for name in graph.order if _fails(blocks[name])]
    ends = [name for name in graph.order if not graph.successors[name] and not _fails(blocks[name])]
    return _find_above(graph, traps) - _find_above(graph, ends) if traps else frozenset()


def is_test_of_failure(graph: Graph, failing: frozenset[str], block: str) -> bool:
    """Whether some ways of a branch only lead to a trap, and just one does not."""
    return sum(name not in failing for name in set(graph.successors[block])) == 1 < len(set(graph.successors[block]))


def _fails(block: BasicBlock) -> bool:
    return isinstance(block.terminator, Exit) and block.terminator.fails


def _find_above(graph: Graph, starts: Iterable[str]) -> frozenset[str]:
    """Return the blocks from which control may get to some, these included."""
    found: set[str] = set()
    pending = list(starts)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += graph.predecessors[name]
    return frozenset(found)
