"""The value of a pure expression in every thread of a block, where it follows from the thread's index alone.

tid, laneid, ntid, known arguments, constants  ──► pure ops ──► a number for each thread
anything else (memory, unknown arguments, the block's index, a loop's counter): nothing is said
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from warpsmith.analysis.uniformity.facts import Dim, KernelFacts
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Instruction, Operand, Param, Query, Undefined, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lanes

__all__ = ["LaneValues", "alive_at", "masks", "only_way"]

_DEEPEST = 400


class LaneValues(Struct):
    """Values of one kernel by thread, worked out once each; `threads` are in the order of the warps."""

    facts: KernelFacts
    threads: tuple[Dim, ...] = ()
    _known: dict[Value, tuple[int, ...] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        x, y, z = self.facts.block
        self.threads = tuple((i, j, k) for k in range(z) for j in range(y) for i in range(x))

    def of(self, operand: Operand) -> tuple[int, ...] | None:
        """Return the operand's bits in every thread of a block, None where they do not follow from its index."""
        match operand:
            case Constant():
                return (operand.bits,) * len(self.threads)
            case Value():
                if operand not in self._known:
                    self._work_out(operand)
                return self._known[operand]
            case Undefined():
                return None

    def _work_out(self, wanted: Value) -> None:
        """Work out `wanted` and what it needs, without recursion: expressions of generated code are deep."""
        pending = [wanted]
        while pending:
            value = pending[-1]
            if value in self._known or len(pending) > _DEEPEST:
                self._known.setdefault(value, None)
                pending.pop()
                continue
            made = self.facts.warp_level.definitions.get(value)
            if not isinstance(made, Instruction) or len(made.results) != 1:
                self._known[value] = None
            elif isinstance(made.detail, Query | Param):
                self._known[value] = self._read(made)
            elif not OPS[made.op].pure or OPS[made.op].shape in ("address", "free") or made.result.type.kind == "float":
                self._known[value] = None
            else:
                left = [o for o in made.operands if isinstance(o, Value) and o not in self._known]
                if left:
                    pending += left
                    continue
                self._known[value] = self._compute(made)

    def _compute(self, made: Instruction) -> tuple[int, ...] | None:
        columns = [self.of(operand) for operand in made.operands]
        known = [column for column in columns if column is not None]
        if len(known) < len(columns):
            return None
        try:
            return lanes(made, known)
        except (KeyError, ValueError, OverflowError):
            return None

    def _read(self, made: Instruction) -> tuple[int, ...] | None:
        bits = made.result.type.bits
        if isinstance(made.detail, Param):
            number = self.facts.shape.arguments.get(made.detail.parameter)
            usable = number is not None and made.detail.offset == 0 and made.result.type.kind == "integer"
            return (number % (1 << bits),) * len(self.threads) if usable and number is not None else None
        assert isinstance(made.detail, Query)
        register, axis = made.detail.register, "xyz".find(made.detail.register[-1])
        width = self.facts.device.warp_width
        match register:
            case "tid.x" | "tid.y" | "tid.z":
                return tuple(thread[axis] for thread in self.threads)
            case "ntid.x" | "ntid.y" | "ntid.z":
                return (self.facts.block[axis],) * len(self.threads)
            case "nctaid.x" | "nctaid.y" | "nctaid.z" if self.facts.shape.grid is not None:
                return (self.facts.shape.grid[axis],) * len(self.threads)
            case "laneid":
                return tuple(number % width for number in range(len(self.threads)))
            case _:
                return None

    def warps(self, column: Sequence[int]) -> list[tuple[int, ...]]:
        """Return a column cut into warps."""
        width = self.facts.device.warp_width
        return [tuple(column[start : start + width]) for start in range(0, len(column), width)]


def masks(lanes: LaneValues, terminator: Branch) -> tuple[int, ...] | None:
    """Return, for each warp of a block, which lanes take a branch (bit k: lane k); None where that is not known."""
    column = lanes.of(terminator.condition)
    if column is None:
        return None
    return tuple(sum(1 << k for k, bit in enumerate(warp) if bit) for warp in lanes.warps(column))


# --- who gets where


def alive_at(facts: KernelFacts, block: str, lanes: LaneValues) -> list[int] | None:
    """Return for each thread whether it may get to a block, as far as branches say that dominate it."""
    graph = facts.warp_level.graph
    alive: list[int] | None = None
    for above in facts.function.blocks:
        terminator = above.terminator
        if above.name not in graph.successors or not isinstance(terminator, Branch):
            continue
        way = only_way(facts, above, block)
        column = lanes.of(terminator.condition) if way is not None else None
        if column is not None:
            passing = [int(bool(bit) == way) for bit in column]
            alive = passing if alive is None else [a & b for a, b in zip(alive, passing, strict=True)]
    return alive


def only_way(facts: KernelFacts, above: BasicBlock, block: str) -> bool | None:
    """Return which way of a branch every path to `block` takes, None where both lead there."""
    graph = facts.warp_level.graph
    terminator = above.terminator
    assert isinstance(terminator, Branch)
    for way, taken in ((terminator.then, True), (terminator.other, False)):
        other = terminator.other if taken else terminator.then
        if way != other and graph.predecessors[way] == (above.name,) and graph.dominates(way, block):
            return taken
    return None
