"""Loops that may wait for other threads: whether they are left depends on memory that others may write.

    while (atomicAdd(&count, 0) < n) ;     do { seen = flag[b]; } while (!seen);     for (i = 0; i < n; i++) s += a[i];
    waits                                  waits                                     does not: `i` says when it ends

What decides is followed back through what is computed in the loop. Where ways meet in it, the branches before decide as
well. Which memory others write is not looked at here (written.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction, Memory, Operand, Value, terminator_operands

__all__ = ["spinning_loops"]


def spinning_loops(function: Function) -> Mapping[str, frozenset[Instruction]]:
    """Return for the header of each loop that may wait for others what it reads to know that it has not to."""
    graph = Graph.of(function)
    blocks = {block.name: block for block in function.blocks}
    found: dict[str, frozenset[Instruction]] = {}
    for cycle in _all_cycles(graph.cycles):
        asked = _asked(cycle, [blocks[name] for name in graph.order if name in cycle.blocks], graph)
        if asked:
            found[cycle.header] = asked
    return found


def _all_cycles(cycles: tuple[Cycle, ...]) -> Iterator[Cycle]:
    for cycle in cycles:
        yield cycle
        yield from _all_cycles(cycle.children)


def _asked(cycle: Cycle, blocks: list[BasicBlock], graph: Graph) -> frozenset[Instruction]:
    """Return what is read in a loop that decides whether it is left."""
    made = {value: i for block in blocks for i in block.instructions for value in i.results}
    joined = {phi.result: [operand for _, operand in phi.incoming] for block in blocks for phi in block.phis}
    inside = [one for block in blocks for one in terminator_operands(block.terminator)]
    leaving = [block for block in blocks if not cycle.blocks.issuperset(graph.successors[block.name])]
    left: list[Operand] = [one for block in leaving for one in terminator_operands(block.terminator)]
    heads = {phi.result for block in blocks if block.name == cycle.header for phi in block.phis}
    seen: set[Operand] = set()
    found: set[Instruction] = set()
    while left:
        operand = left.pop()
        if operand in seen or not isinstance(operand, Value):
            continue
        seen.add(operand)
        if operand in joined:
            left += joined[operand]
            left += inside if operand not in heads else ()
        elif (source := made.get(operand)) is not None:
            left += source.operands
            if _reads_shared(source):
                found.add(source)
    return frozenset(found)


def _reads_shared(i: Instruction) -> bool:
    """Whether an instruction reads memory that is not its thread's own."""
    reads = i.op == "load" or (i.op.startswith("atomic_") and i.results)
    return bool(reads) and isinstance(i.detail, Memory) and i.detail.space not in ("local", "constant", "param")
