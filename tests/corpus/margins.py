"""How far a branch was from taking its other side: the margin of its condition, positive where the condition holds.

    a < b           b - a, less ½ for whole numbers: 0 is where it turns       a == b      - |a - b|
    p and q         the least of the two     p or q: the greatest     not p: with the other sign
                    (branch distances: Korel, IEEE TSE 16(8), 1990; the robustness of temporal logic has the same form)

The numbers are those that the run computed. A phi is what its operand was on the way on which the thread came.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct, field

from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Instruction,
    Operand,
    Phi,
    Switch,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.patterns import number_of, to_signed

__all__ = ["Near", "Needed", "Ruler"]

_WHOLE: Final = 0.5
_MARGINS: Final[Mapping[str, Callable[[float, float, float], float]]] = {
    "lt": lambda a, b, half: b - a - half,
    "le": lambda a, b, half: b - a + half,
    "gt": lambda a, b, half: a - b - half,
    "ge": lambda a, b, half: a - b + half,
    "eq": lambda a, b, half: -abs(a - b) or _WHOLE,
    "ne": lambda a, b, half: abs(a - b) or -_WHOLE,
}


class Near(Struct, frozen=True):
    """The thread that came nearest to the other side: its margin, who it was, in which block of the grid."""

    margin: float
    who: tuple[int, int]
    place: tuple[int, int, int]

    @property
    def distance(self) -> float:
        """How far that is."""
        return abs(self.margin)


class Needed(Struct, frozen=True):
    """What must be kept to measure the branches of some `blocks`: `made` by instructions; `phis` of a block."""

    blocks: frozenset[str]
    made: frozenset[Instruction]
    phis: Mapping[str, tuple[Phi, ...]]

    @classmethod
    def at(cls, level: Uniformity, blocks: Iterable[BasicBlock]) -> Needed:
        """Return what is needed for the branches at the end of blocks."""
        ends = {block.name: terminator_operands(block.terminator) for block in blocks}
        pending = [operand for operands in ends.values() for operand in operands]
        made: set[Instruction] = set()
        phis: dict[str, dict[Phi, None]] = {}
        seen: set[Value] = set()
        while pending:
            operand = pending.pop()
            if not isinstance(operand, Value) or operand in seen:
                continue
            seen.add(operand)
            source = level.definitions[operand]
            if isinstance(source, Phi):
                phis.setdefault(level.homes[operand], {})[source] = None
                pending += [value for _, value in source.incoming]
            else:
                made.add(source)
                # what makes a number does not matter, what makes an answer does
                pending += source.operands if operand.type.bits == 1 else ()
        return cls(frozenset(ends), frozenset(made), {name: tuple(found) for name, found in phis.items()})


class Ruler(Struct):
    """Measures during a run. `known`: of each thread, its numbers, and the margins of its conditions; `near`: of each
    branch, who came nearest."""

    needed: Needed
    near: dict[str, Near] = field(default_factory=dict)
    known: dict[tuple[int, int], dict[Value, float]] = field(default_factory=dict)

    def value(self, lane: Lane, place: Instruction, results: tuple[int, ...]) -> None:
        """Keep what an instruction gave."""
        if place not in self.needed.made:
            return
        mine = self.known.setdefault((lane.block, lane.thread), {})
        for value, bits in zip(place.results, results, strict=True):
            mine[value] = _margin(place, bits, mine) if value.type.bits == 1 else bits

    def branch(self, lane: Lane, block: BasicBlock, taken: str) -> None:
        """Measure a branch, and take along what the next block has by the way to it."""
        phis = self.needed.phis.get(taken, ())
        measured = block.name in self.needed.blocks
        if not measured and not phis:
            return
        who = lane.block, lane.thread
        mine = self.known.setdefault(who, {})
        margin = _of_block(block, mine) if measured else math.inf
        best = self.near.get(block.name)
        if math.isfinite(margin) and (best is None or abs(margin) < best.distance):
            self.near[block.name] = Near(margin, who, lane.block_index)
        mine.update([(phi.result, _known(dict(phi.incoming)[block.name], mine)) for phi in phis])


def _of_block(block: BasicBlock, known: Mapping[Value, float]) -> float:
    match block.terminator:
        case Branch(condition=condition):
            return _known(condition, known)
        case Switch(value=value, cases=cases):
            number = _known(value, known)
            return -min((abs(number - case) for case, _ in cases if case != number), default=math.inf)
        case _:
            return math.inf


def _known(operand: Operand, known: Mapping[Value, float]) -> float:
    """Return the bits of a number, the margin of a condition; what is not known is far from everything."""
    match operand:
        case Value():
            return known.get(operand, math.inf)
        case Constant(bits=bits):
            return bits if operand.type.bits > 1 else math.inf if bits else -math.inf
        case _:
            return math.inf


def _margin(i: Instruction, answer: int, known: Mapping[Value, float]) -> float:
    """Return the margin of a condition; ±1 where only the answer is known."""
    operands = [_known(operand, known) for operand in i.operands]
    kind = i.op.removeprefix("f")[-2:]
    if OPS[i.op].shape == "compare" and kind in _MARGINS and all(map(math.isfinite, operands)):
        return _compared(i, kind, operands)
    if any(operand.type.bits != 1 for operand in i.operands):
        return 1.0 if answer else -1.0
    match i.op:
        case "and":
            return min(operands)
        case "or":
            return max(operands)
        case _:
            # whichever turns first turns the answer, as of an exclusive or
            least = min(map(abs, operands), default=1.0)
            return least if answer else -least


def _compared(i: Instruction, kind: str, operands: list[float]) -> float:
    type = i.operands[0].type
    if type.bits == 1:
        return 1.0
    a, b = map(int, operands)
    if type.kind == "float":
        return _MARGINS[kind](number_of(a, type), number_of(b, type), 0.0)
    if i.op[0] == "u":
        return _MARGINS[kind](a, b, _WHOLE)
    return _MARGINS[kind](to_signed(a, type), to_signed(b, type), _WHOLE)
