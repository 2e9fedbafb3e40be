"""Branches that a launch's arguments decide become jumps, and what nothing leads to any more is left out.

    k(…, n, dummy):  if (sum > 0 && dummy) out[0] = sum;            dummy is 0 in every launch: nothing is stored

Conditional constant propagation (Wegman and Zadeck, TOPLAS 1991), over small sets of numbers: a branch whose condition
is the same for all numbers of its set goes one way. Parameters stay what they are, so the function may still be run
with other arguments that decide those branches alike. Floating-point numbers and memory are not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Final

from msgspec.structs import replace

from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Operand,
    Param,
    Phi,
    Switch,
    Terminator,
    Value,
    successors,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.prune import prune_unused
from warpsmith.ssa.passes.rebuild import rebuild_function, reverse_postorder
from warpsmith.ssa.semantics.lane import lane

__all__ = ["Known", "decide_branches"]

Known = Mapping[str, frozenset[int]]
"""What parameters may be, by name."""

_MOST: Final = 8
"""Numbers of a set."""
_KINDS: Final = ("integer", "predicate")
_NOTHING: Final = frozenset[int]()
_ROUNDS: Final = 50


def decide_branches(function: Function, known: Known) -> Function:
    """Return `function` for such arguments; itself where they decide no branch."""
    if not function.blocks or not known:
        return function
    work = _Propagation(function, known)
    work.run()
    ends = {block.name: work.end(block) for block in function.blocks if block.name in work.reached}
    if all(ends.get(block.name) is block.terminator for block in function.blocks):
        return function
    kept = [replace(block, terminator=ends[block.name]) for block in function.blocks if block.name in ends]
    ways = {(block.name, after) for block in kept for after in successors(block.terminator)}
    if any(after not in ends for _, after in ways):
        # a loop that is never left
        return function
    cut = tuple(
        replace(
            block,
            phis=tuple(
                replace(phi, incoming=tuple(one for one in phi.incoming if (one[0], block.name) in ways))
                for phi in block.phis
            ),
        )
        for block in kept
    )
    return prune_unused(rebuild_function(replace(function, blocks=cut), fold_instruction))


class _Propagation:
    """What values may be, None where nothing is known, and which blocks control may come to."""

    def __init__(self, function: Function, known: Known) -> None:
        self.known = known
        self.blocks = {block.name: block for block in function.blocks}
        self.order = reverse_postorder(function)
        self.reached = {function.blocks[0].name}
        self.ways: set[tuple[str, str]] = set()
        self.values: dict[Value, frozenset[int] | None] = {}

    def run(self) -> None:
        """Go through the function until nothing changes; sets only grow."""
        for number in range(_ROUNDS):
            before = len(self.ways), dict(self.values)
            for name in self.order:
                if name in self.reached:
                    self._block(self.blocks[name], wide=number + _MOST > _ROUNDS)
            if before == (len(self.ways), self.values):
                return
        # not settled: nothing is known
        self.values = dict.fromkeys(self.values)
        self.reached = set(self.order)
        self.ways = {(name, after) for name in self.order for after in successors(self.blocks[name].terminator)}

    def _block(self, block: BasicBlock, *, wide: bool) -> None:
        for phi in block.phis:
            joined = self._join(phi, block.name)
            grown = joined is not None and phi.result in self.values and self.values[phi.result] != joined
            self.values[phi.result] = None if wide and grown else joined
        for i in block.instructions:
            made = self._compute(i)
            self.values.update((value, made) for value in i.results)
        for after in self._targets(block.terminator):
            self.ways.add((block.name, after))
            self.reached.add(after)

    def _join(self, phi: Phi, block: str) -> frozenset[int] | None:
        given = [self._of(operand) for before, operand in phi.incoming if (before, block) in self.ways]
        found = _NOTHING.union(*(one for one in given if one is not None))
        return None if None in given or len(found) > _MOST else found

    def _of(self, operand: Operand) -> frozenset[int] | None:
        if isinstance(operand, Constant):
            return frozenset({operand.bits}) if operand.type.kind in _KINDS else None
        # a value that was not come to yet is none at all
        return self.values.get(operand, _NOTHING) if isinstance(operand, Value) else None

    def _compute(self, i: Instruction) -> frozenset[int] | None:
        if len(i.results) != 1 or i.results[0].type.kind not in _KINDS:
            return None
        if isinstance(i.detail, Param):
            numbers = self.known.get(i.detail.parameter) if i.detail.offset == 0 else None
            mask = (1 << i.results[0].type.bits) - 1
            return None if numbers is None else frozenset(number & mask for number in numbers)
        if i.op not in OPS or not OPS[i.op].pure or not i.operands:
            return None
        given = [self._of(operand) for operand in i.operands]
        sets = [one for one in given if one is not None]
        if len(sets) < len(given):
            return self._absorb(i, given)
        if prod(map(len, sets)) > _MOST * _MOST:
            return None
        try:
            found = frozenset(lane(i, numbers)[0] for numbers in product(*sets))
        except KeyError:
            return None
        return found if len(found) <= _MOST else None

    def _absorb(self, i: Instruction, given: list[frozenset[int] | None]) -> frozenset[int] | None:
        """Return what an operand alone makes of a result, whatever the other is: `x & 0`, `x * 0`, `c || true`."""
        ending = {"and": 0, "mul": 0, "or": (1 << i.results[0].type.bits) - 1}.get(i.op)
        return frozenset({ending}) if ending is not None and frozenset({ending}) in given else None

    def _targets(self, terminator: Terminator) -> tuple[str, ...]:
        """Return where control may go."""
        match terminator:
            case Branch():
                truths = self._of(terminator.condition)
                if truths is None:
                    return successors(terminator)
                return tuple(way for way, taken in ((terminator.then, 1), (terminator.other, 0)) if taken in truths)
            case Switch():
                numbers = self._of(terminator.value)
                if numbers is None:
                    return successors(terminator)
                cases = dict(terminator.cases)
                return tuple(dict.fromkeys(cases.get(number, terminator.other) for number in sorted(numbers)))
            case _:
                return successors(terminator)

    def end(self, block: BasicBlock) -> Terminator:
        """Return how a block ends now."""
        targets = self._targets(block.terminator)
        if isinstance(block.terminator, Branch | Switch) and len(set(targets)) == 1 < len(successors(block.terminator)):
            return Jump(targets[0], block.terminator.span)
        return block.terminator
