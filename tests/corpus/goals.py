"""Values that reach a branch, so that changing one may change it: loads, arguments, the launch, numbers compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from tests.corpus.addressing import addressing
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.ssa.nodes import Constant, Instruction, Memory, Operand, Param, Phi, Query, Value, terminator_operands
from warpsmith.ssa.ops import OPS

__all__ = ["Goal", "Goals"]

_FARTHEST = 1500
"""No more instructions than these are looked at, the nearest first."""

_LAUNCHED = ("ctaid.", "nctaid.")


class Goal(Struct, frozen=True):
    """What reaches a branch, the nearest first: loads, arguments, axes along which the number of the block does, and
    the instructions and constants that comparisons look at."""

    loads: tuple[Instruction, ...]
    arguments: tuple[Instruction, ...]
    axes: tuple[int, ...]
    compared: tuple[Instruction, ...]
    constants: tuple[int, ...]


class Goals:
    """The goals of one kernel, each worked out when it is asked for."""

    def __init__(self, facts: KernelFacts) -> None:
        self.level = facts.warp_level
        self.blocks = {block.name: block for block in facts.function.blocks}
        self.stored = [
            o for _, i in facts.function.instructions() if i.op == "store" and _is_kept(i) for o in i.operands
        ]
        self.pointing = addressing(facts.function, facts.module.functions).parameters
        self.names = {fact.place.name for fact in facts.branches}
        self._found: dict[str, Goal] = {}

    def of(self, name: str) -> Goal:
        """Return what reaches the branch of a block."""
        if name not in self._found:
            self._found[name] = self._goal(self._reached(name))
        return self._found[name]

    def watched(self, names: Iterable[str]) -> frozenset[Instruction]:
        """Return the instructions whose numbers matter for some branches."""
        goals = map(self.of, names)
        return frozenset(i for goal in goals for i in (*goal.loads, *goal.arguments, *goal.compared))

    def above(self, name: str) -> Iterator[str]:
        """Yield the branches that dominate one."""
        dominator = self.level.graph.dominator
        while name in dominator:
            name = dominator[name]
            if name in self.names:
                yield name

    def _reached(self, name: str) -> list[Instruction]:
        pending: deque[Operand] = deque(terminator_operands(self.blocks[name].terminator))
        reached: list[Instruction] = []
        seen: set[Operand] = set()
        kept = False
        while pending and len(reached) < _FARTHEST:
            operand = pending.popleft()
            if operand in seen or not isinstance(operand, Value):
                continue
            seen.add(operand)
            made = self.level.definitions[operand]
            if isinstance(made, Phi):
                pending += self._ways(made, self.level.homes[operand])
                continue
            reached.append(made)
            pending += made.operands
            if made.op == "load" and _is_kept(made) and not kept:
                kept = True
                pending += self.stored
        return reached

    def _ways(self, phi: Phi, home: str) -> Iterator[Operand]:
        """Yield what comes in, and what decides over which way."""
        yield from (operand for _, operand in phi.incoming)
        ways = [before for before, _ in phi.incoming] + [self.level.graph.dominator.get(home, home)]
        yield from (o for way in ways for o in terminator_operands(self.blocks[way].terminator)[:1])

    def _goal(self, reached: list[Instruction]) -> Goal:
        tests = [o for i in reached if _tests(i) for o in i.operands]
        made_by = (self.level.definitions[o] for o in tests if isinstance(o, Value))
        asked = (i.detail.register for i in reached if isinstance(i.detail, Query))
        return Goal(
            tuple(i for i in reached if i.op == "load" or i.op.startswith("atomic_")),
            tuple(i for i in reached if isinstance(i.detail, Param) and not self._points(i.detail)),
            tuple(dict.fromkeys("xyz".index(name[-1]) for name in asked if name.startswith(_LAUNCHED))),
            tuple(dict.fromkeys(i for i in made_by if isinstance(i, Instruction))),
            tuple(dict.fromkeys(o.bits for o in tests if isinstance(o, Constant))),
        )

    def _points(self, detail: Param) -> bool:
        return (detail.parameter, detail.offset) in self.pointing


def _tests(i: Instruction) -> bool:
    """Whether its operands are numbers to try: what is compared, and what that is made of, but no addresses."""
    shape = OPS[i.op].shape
    return shape == "compare" or (shape in ("binary", "select") and i.result.type.bits <= 32)


def _is_kept(i: Instruction) -> bool:
    """Whether this is memory that the kernel has filled itself."""
    return isinstance(i.detail, Memory) and i.detail.space in ("shared", "local", "generic")
