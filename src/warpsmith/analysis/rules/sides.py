"""The two sides of a branch: which blocks only one of them runs, what they cost, where the ways meet.

    B ──► then … ──┐
    └──► other … ──┴──► J        J: the immediate post-dominator of B; a side is what can be reached before J

Costs are counts of instructions, with what is in a loop counted once: a lower bound of what a warp spends there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import BranchFact, KernelFacts
from warpsmith.ssa.graph import EXIT, Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Instruction, Operand, Value, successors
from warpsmith.ssa.ops import OPS

__all__ = ["BranchTest", "Sides", "comparison", "cost_of", "ends_kernel", "loop_left_by", "sides_of"]

_FREE = ("none",)


class Sides(Struct, frozen=True):
    """Blocks and costs of both ways from a branch to `join`, the taken one first."""

    then: frozenset[str]
    other: frozenset[str]
    then_cost: int
    other_cost: int
    join: str

    @property
    def least(self) -> int:
        """What the cheaper way costs."""
        return min(self.then_cost, self.other_cost)

    @property
    def most(self) -> int:
        """What the dearer way costs."""
        return max(self.then_cost, self.other_cost)


def sides_of(facts: KernelFacts, branch: BranchFact) -> Sides | None:
    """Return the sides of a two-way branch, None for anything else."""
    terminator = branch.place.terminator
    graph = facts.warp_level.graph
    if not isinstance(terminator, Branch) or terminator.then == terminator.other:
        return None
    join = graph.post_dominator[branch.place.name]
    then = _find_reached(graph, terminator.then, {join, branch.place.name})
    other = _find_reached(graph, terminator.other, {join, branch.place.name})
    return Sides(then, other, cost_of(facts, then - other), cost_of(facts, other - then), join)


def _find_reached(graph: Graph, start: str, stops: set[str]) -> frozenset[str]:
    found: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name not in stops and name not in found:
            found.add(name)
            pending += graph.successors[name]
    return frozenset(found)


def cost_of(facts: KernelFacts, names: Iterable[str]) -> int:
    """Return how many instructions blocks hold, jumps and what costs nothing left out."""
    costs = _costs(facts)
    return sum(costs[name] for name in names)


@lru_cache(maxsize=1)
def _costs(facts: KernelFacts) -> dict[str, int]:
    return {
        block.name: sum(OPS[i.op].cost not in _FREE for i in block.instructions) + isinstance(block.terminator, Branch)
        for block in facts.function.blocks
    }


def ends_kernel(facts: KernelFacts, name: str) -> bool:
    """Whether a block does nothing but end the thread, perhaps by way of others that do nothing either."""
    blocks = _blocks(facts)
    for _ in range(len(blocks)):
        if name == EXIT:
            return True
        block = blocks[name]
        after = successors(block.terminator)
        if block.instructions or len(after) > 1:
            return False
        if not after:
            return True
        (name,) = after
    return False


@lru_cache(maxsize=1)
def _blocks(facts: KernelFacts) -> dict[str, BasicBlock]:
    return {block.name: block for block in facts.function.blocks}


def loop_left_by(facts: KernelFacts, branch: BranchFact) -> Cycle | None:
    """Return the innermost loop that one way of a branch leaves and the other stays in."""
    name = branch.place.name
    ways = successors(branch.place.terminator)
    for cycle in reversed(facts.warp_level.graph.cycles_around(name)):
        if any(way in cycle.blocks for way in ways) and not all(way in cycle.blocks for way in ways):
            return cycle
    return None


class BranchTest(Struct, frozen=True):
    """What a branch tests: `op` of two operands."""

    op: str
    left: Operand
    right: Operand


def comparison(facts: KernelFacts, condition: Operand) -> BranchTest | None:
    """Return the comparison behind a condition, a `not` or a test against zero looked through."""
    flipped = False
    for _ in range(8):
        made = facts.warp_level.definitions.get(condition) if isinstance(condition, Value) else None
        if not isinstance(made, Instruction):
            return None
        if made.op == "not" or (made.op == "xor" and _is(made.operands[1], 1)):
            condition, flipped = made.operands[0], not flipped
        elif made.op in ("ne", "eq") and made.operands[0].type.bits == 1 and isinstance(made.operands[1], Constant):
            flipped ^= (made.op == "eq") != bool(made.operands[1].bits)
            condition = made.operands[0]
        elif OPS[made.op].shape == "compare":
            op = _OPPOSITE.get(made.op, made.op) if flipped else made.op
            return BranchTest(op, made.operands[0], made.operands[1])
        else:
            return None
    return None


_OPPOSITE = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle", "ult": "uge", "uge": "ult",
    "ule": "ugt", "ugt": "ule",
}  # fmt: skip


def _is(operand: Operand, bits: int) -> bool:
    return isinstance(operand, Constant) and operand.bits == bits
