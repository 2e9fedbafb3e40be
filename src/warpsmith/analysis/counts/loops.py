"""Loops that are gone through at once: what the iterations of a counted loop cost is worked out from a few of them.

    for (k = 0; k < n; k++) s += a[k] · b[k]          n = 4,096, a[k] of 4 bytes
        iterations 0 … 7     counted, each standing for 512: after 8 of them addresses lie in sectors as before
        iteration 4,096      the test that fails, counted alone

Lanes that leave at different iterations divide the loop into stretches in which the same lanes stay. In a stretch every
header phi is start + t·step, and everything that requests and tests are made of has a slope (`slopes.py`); where
something has none, NotRegularError says so and the loop is gone through iteration by iteration.

Invariant: the counts are those of going through one by one. Checked on the way: no lane leaves inside a stretch, and
exactly those leave at its end that were expected to.
Limits: one way out, by a comparison of integers that every iteration comes to; steps that do not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.columns import Column, dtype_of
from warpsmith.analysis.counts.slopes import Known, Lacking, NotRegularError, Number, Slope
from warpsmith.analysis.counts.tallies import Tallies
from warpsmith.analysis.counts.touching import AccessCounter
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Operand, Phi, Value
from warpsmith.ssa.ops import OPS

__all__ = ["LoopPlan", "LoopWalker", "go_through", "plan_of"]

_FEW: Final = 4
"""Iterations that are gone through one by one in any case."""
_MOST: Final = 1 << 31


class LoopPlan(Struct, frozen=True):
    """A loop that may be gone through at once. `test`: the comparison that ends it, where `stay` is its answer as long
    as lanes stay; `phis`: header phis with what comes back; `needed`: what these and the test are computed with."""

    cycle: Cycle
    test: Instruction
    stay: bool
    phis: tuple[tuple[Phi, Operand], ...]
    needed: tuple[Instruction, ...]


class LoopWalker(Protocol):
    """Who goes through a loop. `parted`: the loops whose last iteration is gone through apart from the others."""

    numbers: dict[Value, Number]
    parted: set[str]
    extents: dict[str, Column]
    tallies: Tallies
    writer: AccessCounter

    def number(self, operand: Operand) -> Number:
        """Return what an operand is now."""

    def compute(self, i: Instruction, value: Value) -> Number:
        """Return what an instruction gives."""

    def merge(self, value: Value, number: Number, mask: Column) -> None:
        """Keep a number of some lanes."""

    def forget(self, key: str) -> None:
        """Take the slopes along a loop from all numbers."""

    def iteration(self, cycle: Cycle, mask: Column) -> dict[str, Column]:
        """Go through a loop once; return who is where then."""

    def one_by_one(self, cycle: Cycle, mask: Column) -> dict[str, Column]:
        """Go through a loop iteration by iteration."""


# --- which loops


def plan_of(cycle: Cycle, graph: Graph, blocks: Mapping[str, BasicBlock], wanted: frozenset[Value]) -> LoopPlan | None:
    """Return how a loop may be gone through at once; None where it is not of such a form."""
    latches = [b for b in graph.predecessors[cycle.header] if b in cycle.blocks]
    leaving = [b for b in cycle.blocks if any(a not in cycle.blocks for a in graph.successors[b])]
    ending = [b for b in cycle.blocks if not graph.successors[b]]
    if len(leaving) != 1 or ending or graph.cycles_around(leaving[0])[-1] is not cycle:
        return None
    end = blocks[leaving[0]].terminator
    if not isinstance(end, Branch) or not all(graph.dominates(leaving[0], latch) for latch in latches):
        return None
    made = {v: i for b in cycle.blocks for i in blocks[b].instructions for v in i.results}
    test = made.get(end.condition) if isinstance(end.condition, Value) else None
    if test is None or OPS[test.op].shape != "compare" or test.op not in _STAYS:
        return None
    phis = _steps(blocks[cycle.header].phis, cycle, made, wanted)
    if phis is None:
        return None
    inside = {phi.result for b in cycle.blocks for phi in blocks[b].phis} - {phi.result for phi, _ in phis}
    needed = _needed([*test.operands, *(back for _, back in phis)], made, inside)
    if needed is None:
        return None
    order = [i for b in graph.order if b in cycle.blocks for i in blocks[b].instructions if i in needed]
    return LoopPlan(cycle, test, end.then in cycle.blocks, phis, tuple(order))


def _steps(
    phis: Sequence[Phi], cycle: Cycle, made: Mapping[Value, Instruction], wanted: frozenset[Value]
) -> tuple[tuple[Phi, Operand], ...] | None:
    """Return the phis of a header with what comes back, where each comes back as itself and something added."""
    found: list[tuple[Phi, Operand]] = []
    headers = {phi.result for phi in phis}
    for phi in phis:
        if phi.result not in wanted:
            continue
        back = {operand for before, operand in phi.incoming if before in cycle.blocks}
        if len(back) != 1:
            return None
        (operand,) = back
        if not _adds_to(operand, phi.result, made, headers):
            return None
        found.append((phi, operand))
    return tuple(found)


def _adds_to(
    operand: Operand, phi: Value, made: Mapping[Value, Instruction], headers: set[Value], depth: int = 8
) -> bool:
    """Whether an operand is a phi plus or minus what no phi of the header has a part in."""
    if operand is phi:
        return True
    i = made.get(operand) if isinstance(operand, Value) else None
    if i is None or not depth or i.op not in ("add", "sub"):
        return False
    one, other = i.operands
    if i.op == "add" and _adds_to(other, phi, made, headers, depth - 1):
        one, other = other, one
    return _adds_to(one, phi, made, headers, depth - 1) and _stays_same(other, made, headers)


def _stays_same(operand: Operand, made: Mapping[Value, Instruction], headers: set[Value], depth: int = 12) -> bool:
    if not isinstance(operand, Value):
        return True
    if operand in headers or not depth:
        return False
    i = made.get(operand)
    # a phi inside the loop is not in `made`, nor is what is made before it: `_needed` tells them apart
    return i is None or (OPS[i.op].pure and all(_stays_same(o, made, headers, depth - 1) for o in i.operands))


def _needed(
    wanted: Sequence[Operand], made: Mapping[Value, Instruction], inside: set[Value]
) -> set[Instruction] | None:
    """Return what operands are computed with inside a loop; None where a phi or memory has a part in it."""
    found: set[Instruction] = set()
    pending = list(wanted)
    while pending:
        operand = pending.pop()
        if not isinstance(operand, Value):
            continue
        if operand in inside:
            return None
        i = made.get(operand)
        if i is None or i in found:
            continue
        if not OPS[i.op].pure:
            return None
        found.add(i)
        pending += i.operands
    return found


# --- how they are gone through


class _Phi(Struct, frozen=True):
    """A header phi in a loop that is gone through at once: what it begins with, and what is added each time."""

    value: Value
    start: Known
    step: Column

    def at(self, iteration: int, key: str, *, moving: bool) -> Known:
        """Return it in an iteration; `moving`: the next ones are meant too."""
        column = self.start.column.astype(np.int64) + iteration * self.step
        slopes: dict[str, Slope] = dict(self.start.slopes)
        if moving:
            slopes[key] = self.step
        return Known(column.astype(dtype_of(self.value.type)), slopes, self.start.pointer)


def go_through(plan: LoopPlan, walk: LoopWalker, mask: Column) -> dict[str, Column]:
    """Let lanes go through a loop; return who leaves it to where. Raises NotRegularError."""
    key = plan.cycle.header
    walk.forget(key)
    before = {v: walk.numbers.get(v) for i in plan.needed for v in i.results}
    phis = _find_steps(plan, walk)
    leave = _find_last(plan, walk, phis, mask) if phis is not None else None
    walk.numbers.update({value: number for value, number in before.items() if number is not None})
    if phis is None or leave is None:
        return walk.one_by_one(plan.cycle, mask)
    last = np.unique(leave[mask]).tolist()
    if last[-1] <= _FEW or 2 * len(last) > last[-1]:
        _set(walk, phis, 0, key, mask, moving=False)
        return walk.one_by_one(plan.cycle, mask)
    out: dict[str, Column] = {}
    first = 0
    for until in last:
        here = mask & (leave >= until)
        # what is done to a rest is often done in the last iteration alone
        whole = until - 1 if key in walk.parted else until
        if whole > first:
            _go_stretch(plan, walk, phis, here, (first, whole))
        if first <= whole < until:
            _set(walk, phis, whole, key, here, moving=False)
            _expect_stay(walk.iteration(plan.cycle, here), key, here)
        _set(walk, phis, until, key, here, moving=False)
        ways = walk.iteration(plan.cycle, here)
        stay = ways.pop(key, np.zeros_like(mask))
        if (stay != (here & (leave > until))).any():
            raise NotRegularError(key)
        for after, there in ways.items():
            out[after] = out[after] | there if after in out else there
        first = until + 1
    return out


def _go_stretch(plan: LoopPlan, walk: LoopWalker, phis: Sequence[_Phi], here: Column, stretch: tuple[int, int]) -> None:
    """Count iterations that all these lanes go through."""
    key, (first, end) = plan.cycle.header, stretch
    length = end - first
    walk.writer.loops[key], walk.writer.periods[key] = length, 1
    number, period = 0, 1
    while number < period:
        walk.extents[key] = np.array([length - 1 - number], np.int64)
        _set(walk, phis, first + number, key, here, moving=True)
        whole, walk.tallies = walk.tallies, Tallies(walk.tallies.blocks)
        walk.writer.quiet += number > 0
        ways = walk.iteration(plan.cycle, here)
        walk.writer.quiet -= number > 0
        part, walk.tallies = walk.tallies, whole
        _expect_stay(ways, key, here)
        found = min(walk.writer.periods[key], length)
        if number and found != period:
            raise NotRegularError(key)
        period = found
        whole.take(part, -(-(length - number) // period))
        number += 1
    del walk.writer.loops[key], walk.extents[key]
    walk.forget(key)


def _expect_stay(ways: Mapping[str, Column], key: str, here: Column) -> None:
    if set(ways) != {key} or (ways[key] != here).any():
        raise NotRegularError(key)


def _set(walk: LoopWalker, phis: Sequence[_Phi], iteration: int, key: str, here: Column, *, moving: bool) -> None:
    for phi in phis:
        walk.merge(phi.value, phi.at(iteration, key, moving=moving), here)


def _find_steps(plan: LoopPlan, walk: LoopWalker) -> list[_Phi] | None:
    """Return the phis with their steps; None where a number is lacking, or a step changes with something else."""
    starts: list[tuple[Phi, Operand, Known]] = []
    for phi, back in plan.phis:
        start = walk.number(phi.result)
        if isinstance(start, Lacking):
            return None
        starts.append((phi, back, start))
    _compute(plan, walk)
    found: list[_Phi] = []
    for phi, back, start in starts:
        after = walk.number(back)
        if isinstance(after, Lacking) or not _same_slopes(start, after):
            return None
        step = after.column.astype(np.int64) - start.column.astype(np.int64)
        found.append(_Phi(phi.result, start, _wrapped(step, phi.result.type.bits)))
    return found


def _wrapped(step: Column, bits: int) -> Column:
    """Return a step as the number with a sign that it is."""
    return step.astype(f"i{bits // 8}").astype(np.int64)


def _same_slopes(one: Known, other: Known) -> bool:
    for key in {*one.slopes, *other.slopes}:
        a, b = one.slopes.get(key, _ZERO), other.slopes.get(key, _ZERO)
        if isinstance(a, str) or isinstance(b, str) or (a != b).any():
            return False
    return True


_ZERO: Final = np.zeros(1, np.int64)


def _compute(plan: LoopPlan, walk: LoopWalker) -> None:
    for i in plan.needed:
        for value in i.results:
            walk.numbers[value] = walk.compute(i, value)


def _find_last(plan: LoopPlan, walk: LoopWalker, phis: Sequence[_Phi], mask: Column) -> Column | None:
    """Return in which iteration each lane leaves; None where that is not known."""
    key = plan.cycle.header
    for phi in phis:
        walk.numbers[phi.value] = phi.at(0, key, moving=True)
    _compute(plan, walk)
    sides = [walk.number(operand) for operand in plan.test.operands]
    for phi in phis:
        walk.numbers[phi.value] = phi.at(0, key, moving=False)
    found = None if any(isinstance(s, Lacking) for s in sides) else _solve(plan, sides, key, mask)
    walk.forget(key)
    return found


def _solve(plan: LoopPlan, sides: Sequence[Number], key: str, mask: Column) -> Column | None:
    distances, changes = [], []
    for side in sides:
        assert isinstance(side, Known)
        slope = side.slopes.get(key, _ZERO)
        if isinstance(slope, str) or side.pointer:
            return None
        column = side.column
        if plan.test.op.startswith("u") and column.dtype != np.int64:
            column = column.view(f"u{column.dtype.itemsize}")
        distances.append(column.astype(np.int64))
        changes.append(slope)
    distance = np.broadcast_to(distances[0] - distances[1], mask.shape)
    change = np.broadcast_to(changes[0] - changes[1], mask.shape)
    op = plan.test.op if plan.stay else _OPPOSITE[plan.test.op]
    leave = _first_not(op.removeprefix("s").removeprefix("u") if op not in ("eq", "ne") else op, distance, change)
    return None if (leave[mask] >= _MOST).any() else leave


def _first_not(op: str, distance: Column, change: Column) -> Column:
    """Return the first t for which `distance + t·change` does not stand to 0 as `op` says; MOST where there is none."""
    match op:
        case "lt":
            return _first_above(distance, change)
        case "le":
            return _first_above(distance - 1, change)
        case "gt":
            return _first_above(-distance, -change)
        case "ge":
            return _first_above(-distance - 1, -change)
        case "ne":
            divisor = np.where(change == 0, 1, change)
            times = -distance // divisor
            meets = (times >= 0) & (times * divisor == -distance) & (change != 0)
            return np.where(distance == 0, 0, np.where(meets, times, _MOST))
        case _:
            return np.where(distance != 0, 0, np.where(change != 0, 1, _MOST))


def _first_above(distance: Column, change: Column) -> Column:
    """Return the first t for which `distance + t·change` is not below 0."""
    divisor = np.where(change > 0, change, 1)
    times = -(distance // divisor)
    return np.where(distance >= 0, 0, np.where(change > 0, times, _MOST))


_OPPOSITE: Final = {
    "eq": "ne", "ne": "eq",
    **{f"{s}{one}": f"{s}{other}" for s in "su"
       for one, other in (("lt", "ge"), ("ge", "lt"), ("le", "gt"), ("gt", "le"))},
}  # fmt: skip
_STAYS: Final = frozenset(_OPPOSITE)
