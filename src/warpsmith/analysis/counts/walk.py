"""All warps of a launch walk through a kernel together, and are counted where they come; nothing is loaded or stored.

    block by block in the order of the graph; lanes that are in one block in one iteration of every loop are there
    together (maximal reconvergence, as in simt/tally.py); what a branch needs is computed, the rest is not

    if (i < n)       lanes part by a column of yes and no, and wait for each other where the ways join
    for (k …)        iteration by iteration, or many at once: `loops.py`
    a[b[i]]          an address that memory decides is lacking: its requests are counted, its sectors are not; or as if
                     all lanes found the same in b (`alike` of the sources)

Invariant: visits, lanes, requests, sectors and passes are those of a run in which the branches go as computed; the
random kernels of the tests are run and compared, number by number. A branch on what is not known ends the count: the
reason is kept, and there are no figures; or lanes go both ways (`both`), so that no count is less than that of a run.
Limits: calls that are not inlined, loops with several entries, what lanes tell each other (votes, shuffles).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

import numpy as np
from msgspec import Struct, field

from warpsmith.analysis.counts.columns import Column, column_of, dtype_of
from warpsmith.analysis.counts.loops import LoopPlan, go_through, plan_of
from warpsmith.analysis.counts.slopes import (
    STEADY,
    UNEVEN,
    Known,
    Lacking,
    NotRegularError,
    Number,
    Slope,
    result_of,
)
from warpsmith.analysis.counts.tallies import Tallies
from warpsmith.analysis.counts.threads import AXES, LaunchedThreads
from warpsmith.analysis.counts.touching import AccessCounter
from warpsmith.analysis.counts.values import LaunchSources
from warpsmith.analysis.resources.unrolled import find_unrolled
from warpsmith.base.source import Span
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Jump,
    Memory,
    Operand,
    Phi,
    Return,
    Switch,
    Terminator,
    Undefined,
    Unreachable,
    Value,
)
from warpsmith.ssa.ops import OPS

__all__ = ["MOST_WORK", "NotCountedError", "Walked", "WarpWalk"]

MOST_WORK: Final = 60_000
"""Visits of blocks of code by all warps together, before a count is given up."""


class NotCountedError(Exception):
    """The counts depend on a number that is not known: `why` says which, `span` where."""

    def __init__(self, why: str, span: Span | None = None) -> None:
        super().__init__(why)
        self.why, self.span = why, span


class Walked(Struct, frozen=True):
    """`unsteady`: axes along which blocks that stand for others may not be like them; `lacks`: why the addresses of an
    access are not known; `forks`: what decides the branches that all lanes went both ways at; `alike`: what decides the
    addresses of accesses that are counted as if it were the same everywhere; `cuts`: along `unsteady` axes, the blocks
    about which threads begin to do otherwise."""

    tallies: Tallies
    unsteady: frozenset[str]
    writer: AccessCounter
    lacks: Mapping[Instruction, str] = field(default_factory=dict)
    forks: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    cuts: Mapping[str, Set[int]] = field(default_factory=dict)


class WarpWalk:
    """One walk of a launch's warps through a kernel; `both`: where it is not known which way lanes go, they go both."""

    def __init__(
        self, function: Function, graph: Graph, threads: LaunchedThreads, sources: LaunchSources, *, both: bool = False
    ) -> None:
        self.function, self.graph, self.threads, self.sources, self.both = function, graph, threads, sources, both
        self.blocks: dict[str, BasicBlock] = {b.name: b for b in function.blocks}
        # these are short, and what is in them seldom goes evenly: each that is tried costs a walk from the start
        self.irregular = {graph.cycles_around(end)[-1].header for end in find_unrolled(function, graph).ends}
        self.parted: set[str] = set()
        self.plans: dict[str, LoopPlan | None] = {}
        self.wanted = _find_wanted(function)
        self.made = {v: i for _, i in function.instructions() for v in i.results}
        self.cuts: dict[str, set[int]] = {}
        self.left = MOST_WORK

    def run(self) -> Walked:
        """Return the counts. Raises NotCountedError."""
        if self.graph.irreducible:
            raise NotCountedError("one entry to each of its loops")
        while True:
            try:
                with np.errstate(all="ignore"):
                    return self._walk()
            except NotRegularError as error:
                # that loop goes with its last iteration apart, or iteration by iteration
                (self.irregular if error.header in self.parted else self.parted).add(error.header)

    def _walk(self) -> Walked:
        self.numbers: dict[Value, Number] = {}
        self.unsteady: set[str] = set()
        self.extents: dict[str, Column] = dict(self.threads.extents())
        self.tallies = Tallies(self.threads.count)
        self.writer = AccessCounter(self.threads)
        self.lacks: dict[Instruction, str] = {}
        self.forks: dict[str, str] = {}
        self.alike: dict[Instruction, str] = {}
        self.meetings: dict[str, str] = {}
        waiting = {self.graph.entry: self.threads.filled()}
        self._region(None, waiting)
        forks = tuple(dict.fromkeys(self.forks.values()))
        alike = tuple(dict.fromkeys(self.alike.values()))
        return Walked(self.tallies, frozenset(self.unsteady), self.writer, self.lacks, forks, alike, self.cuts)

    # --- where lanes are

    def _region(self, cycle: Cycle | None, waiting: dict[str, Column]) -> dict[str, Column]:
        """Let lanes go on from where they wait, once through the blocks of a loop (None: of the whole kernel); return
        who leaves it or comes back to its header."""
        left: dict[str, Column] = {}
        inside = frozenset(self.graph.order) if cycle is None else cycle.blocks
        while waiting:
            name = min(waiting, key=self.graph.rank.__getitem__)
            mask = waiting.pop(name)
            child = self._child(name, cycle)
            ways = self._visit(name, mask) if child is None else self._cycle(child, mask)
            for after, there in ways.items():
                stays = after in inside and (cycle is None or after != cycle.header)
                into = waiting if stays else left
                into[after] = into[after] | there if after in into else there
        return left

    def _child(self, block: str, cycle: Cycle | None) -> Cycle | None:
        """Return the loop that begins with a block, inside another."""
        around = self.graph.cycles_around(block)
        depth = 0 if cycle is None else cycle.depth
        return around[depth] if len(around) > depth else None

    def _cycle(self, cycle: Cycle, mask: Column) -> dict[str, Column]:
        """Let lanes go through a loop; return who leaves it to where."""
        if cycle.header not in self.irregular:
            if cycle.header not in self.plans:
                self.plans[cycle.header] = plan_of(cycle, self.graph, self.blocks, self.wanted)
            plan = self.plans[cycle.header]
            if plan is not None:
                return go_through(plan, self, mask)
        return self.one_by_one(cycle, mask)

    def one_by_one(self, cycle: Cycle, mask: Column) -> dict[str, Column]:
        """Let lanes go through a loop, iteration by iteration."""
        out: dict[str, Column] = {}
        while mask.any():
            ways = self.iteration(cycle, mask)
            mask = ways.pop(cycle.header, np.zeros(1, np.bool_))
            for after, there in ways.items():
                out[after] = out[after] | there if after in out else there
        return out

    def iteration(self, cycle: Cycle, mask: Column) -> dict[str, Column]:
        """Let lanes go through a loop once, from its header; return who is where then."""
        ways = self._visit(cycle.header, mask)
        waiting = {name: there for name, there in ways.items() if name in cycle.blocks and name != cycle.header}
        left = {name: there for name, there in ways.items() if name not in waiting}
        for after, there in self._region(cycle, waiting).items():
            left[after] = left[after] | there if after in left else there
        return left

    # --- what they do

    def _visit(self, name: str, mask: Column) -> dict[str, Column]:
        """Let lanes execute a block; return who goes where."""
        self.left -= 1
        if self.left < 0:
            raise NotCountedError("time to go through all iterations", self.blocks[name].terminator.span)
        block = self.blocks[name]
        warps, lanes = self.writer.arrivals(mask)
        self.tallies.visit(name, warps, lanes)
        for i in block.instructions:
            if i.op == "call":
                raise NotCountedError("a look into a function that is called", i.span)
            if isinstance(i.detail, Memory):
                self._access(i, mask)
            for value in i.results:
                if value in self.wanted:
                    # of lanes that are elsewhere as well: what it is made of has not changed for them
                    self.numbers[value] = self.compute(i, value)
        return self._leave(block, mask)

    def _access(self, i: Instruction, mask: Column) -> None:
        address = self.number(i.operands[0])
        if isinstance(address, Lacking) and address.guess is not None:
            self.alike[i] = address.why
            address = address.guess
        said = self.writer.access(i, address, mask, self.extents, self.tallies)
        if isinstance(said, str):
            self.lacks[i] = said
        else:
            self.unsteady |= said

    def _leave(self, block: BasicBlock, mask: Column) -> dict[str, Column]:
        ways: dict[str, Column] = {}
        for after, there in self._ways(block, mask):
            if there.any():
                self._phis(block.name, after, there)
                ways[after] = ways[after] | there if after in ways else there
        return ways

    def _ways(self, block: BasicBlock, mask: Column) -> Iterable[tuple[str, Column]]:
        end: Terminator = block.terminator
        match end:
            case Jump(target):
                return [(target, mask)]
            case Branch(condition, then, other):
                if self._forks(block.name, end):
                    return [(then, mask), (other, mask)]
                yes = self._decide(condition, end.span, mask)
                return [(then, mask & yes), (other, mask & ~yes)]
            case Switch(value, cases, other):
                return self._cases(value, cases, other, end.span, mask)
            case Return() | Exit() | Unreachable():
                return []

    def _forks(self, name: str, end: Branch) -> bool:
        """Whether lanes go both ways at a branch, which leaves no loop; what they meet with is not known then."""
        number = self.number(end.condition)
        if not self.both or not isinstance(number, Lacking):
            return False
        if any((end.then in cycle.blocks) != (end.other in cycle.blocks) for cycle in self.graph.cycles_around(name)):
            return False
        if name not in self.forks:
            self.forks[name] = number.why
            join = self.graph.post_dominator[name]
            there = _between(self.graph, end.then, join) & _between(self.graph, end.other, join)
            self.meetings.update(dict.fromkeys(there, number.why))
        return True

    def _cases(
        self, value: Operand, cases: Sequence[tuple[int, str]], other: str, span: Span | None, mask: Column
    ) -> list[tuple[str, Column]]:
        number = self._control(value, span)
        self._expect_same(value, number, mask)
        ways, rest = [], mask
        for case, target in cases:
            same = number.column == column_of(Constant(value.type, case % (1 << value.type.bits)))[0]
            ways.append((target, rest & same))
            rest = rest & ~same
        return [*ways, (other, rest)]

    def _decide(self, condition: Operand, span: Span | None, mask: Column) -> Column:
        number = self._control(condition, span)
        self._expect_same(condition, number, mask)
        return number.column

    def _control(self, operand: Operand, span: Span | None) -> Known:
        number = self.number(operand)
        if isinstance(number, Lacking):
            raise NotCountedError(number.why, span)
        if number.pointer:
            raise NotCountedError(f"the argument {number.pointer}", span)
        return number

    def _expect_same(self, condition: Operand, number: Known, mask: Column) -> None:
        """Note along which axes threads of blocks that stand for others may decide otherwise than those others; raise
        NotRegularError where it changes from iteration to iteration in a loop that is gone through at once."""
        for key, slope in number.slopes.items():
            if key in AXES:
                if not (slope is STEADY and self._is_alike(key, number.column, mask)):
                    self.unsteady.add(key)
                    self._find_cuts(key, condition, mask)
            elif key in self.extents and not self._is_own_test(key, condition):
                raise NotRegularError(key)

    def _find_cuts(self, axis: str, condition: Operand, mask: Column) -> None:
        """Note from which blocks on threads decide otherwise, where comparisons of sums say it: of all threads that
        come here, the block of the first which does and the one of the last."""
        numbers = self.threads.register(axis)
        if not self.threads.sampled(axis) or numbers is None:
            return
        for test in self._comparisons(condition):
            known = [side for side in map(self.number, test.operands) if isinstance(side, Known)]
            even = [s for s in (side.slopes.get(axis, _ZERO) for side in known) if not isinstance(s, str)]
            if len(even) < 2:
                continue
            distance = np.broadcast_to(known[0].column.astype(np.int64) - known[1].column.astype(np.int64), mask.shape)
            change = np.broadcast_to(even[0] - even[1], mask.shape)
            moves = mask & (change != 0)
            if moves.any():
                # a comparison changes its answer where the distance is 0 or passes it
                meets = numbers.astype(np.int64)[moves] - distance[moves] // change[moves]
                for block in {int(meets.min()), int(meets.max())}:
                    self.cuts.setdefault(axis, set()).update((block - 1, block, block + 1, block + 2))

    def _comparisons(self, condition: Operand) -> Iterable[Instruction]:
        """Yield the comparisons that an answer is made of."""
        pending, seen = [condition], set[Instruction]()
        while pending:
            operand = pending.pop()
            i = self.made.get(operand) if isinstance(operand, Value) else None
            if i is None or i in seen:
                continue
            seen.add(i)
            if OPS[i.op].shape == "compare" and i.operands[0].type.bits > 1:
                yield i
            elif OPS[i.op].pure and i.result.type.bits == 1:
                pending += i.operands

    def _is_own_test(self, key: str, condition: Operand) -> bool:
        """Whether a condition is the one that ends a loop, and what it compares changes evenly."""
        plan = self.plans.get(key)
        if plan is None or plan.test.result is not condition:
            return False
        sides = [self.number(operand) for operand in plan.test.operands]
        return all(isinstance(s, Known) and not isinstance(s.slopes.get(key), str) for s in sides)

    def _is_alike(self, axis: str, column: Column, mask: Column) -> bool:
        """Whether threads decide alike at both ends of what a block stands for."""
        if not self.threads.sampled(axis):
            return True
        decided = np.where(mask, np.where(column, 1, 0), 2)
        decided = np.broadcast_to(decided, self.threads.count * self.threads.lanes)
        at = 2 - AXES.index(axis)
        seen = np.moveaxis(decided.reshape(self.threads.shape), at, 0)
        return all(bool((seen[first] == seen[last]).all()) for first, last in self.threads.pairs(axis))

    def _phis(self, before: str, after: str, there: Column) -> None:
        """Give the phis of a block what comes along an edge."""
        phis = [phi for phi in self.blocks[after].phis if phi.result in self.wanted]
        met = self.meetings.get(after)
        comes = [(phi, Lacking(met) if met is not None else self.number(_incoming(phi, before))) for phi in phis]
        for phi, number in comes:
            self.merge(phi.result, number, there)

    # --- numbers

    def compute(self, i: Instruction, value: Value) -> Number:
        """Return what an instruction gives."""
        if not OPS[i.op].pure or i.op in ("param", "query", "address", "lanewise"):
            return self.sources.of_instruction(i, value)
        operands = [self.number(o) for o in i.operands]
        found = result_of(i, operands, self.extents)
        if value.type.bits == 1 and isinstance(found, Known) and found.slopes:
            return self._keep_steady(found, operands)
        return found

    def _keep_steady(self, found: Known, operands: Sequence[Number]) -> Known:
        """Return an answer that is made of answers: where none of these changes along an axis it does not either."""
        slopes = dict(found.slopes)
        for axis in AXES:
            if slopes.get(axis) is not UNEVEN:
                continue
            made_of = [o for o in operands if isinstance(o, Known) and axis in o.slopes]
            everywhere = np.ones(1, np.bool_)
            if all(o.slopes[axis] is STEADY and self._is_alike(axis, o.column, everywhere) for o in made_of):
                slopes[axis] = STEADY
        return Known(found.column, slopes, found.pointer)

    def number(self, operand: Operand) -> Number:
        """Return what an operand is now."""
        match operand:
            case Constant():
                return Known(column_of(operand)) if operand.type.bits <= 64 else Lacking("a number of 128 bits")
            case Undefined():
                return Lacking("what was never written")
            case Value():
                return self.numbers.get(operand) or Lacking("what was never computed")

    def merge(self, value: Value, number: Number, mask: Column) -> None:
        """Keep a number of the lanes that are here."""
        old = self.numbers.get(value)
        if old is None or mask.all():
            self.numbers[value] = number
            return
        if isinstance(number, Known) and isinstance(old, Known):
            self.numbers[value] = _of_both(value, number, old, mask)
            return
        # what is lacking for some is lacking for all
        why = number.why if isinstance(number, Lacking) else old.why if isinstance(old, Lacking) else ""
        one, other = (n.guess if isinstance(n, Lacking) else n for n in (number, old))
        guess = None if one is None or other is None else _of_both(value, one, other, mask)
        self.numbers[value] = Lacking(why, guess)

    def forget(self, key: str) -> None:
        """Take the slopes along a loop that has ended from all numbers."""
        for value, number in self.numbers.items():
            if isinstance(number, Known):
                self.numbers[value] = _without(number, key)
            elif number.guess is not None:
                self.numbers[value] = Lacking(number.why, _without(number.guess, key))


_ZERO: Final = np.zeros(1, np.int64)


def _of_both(value: Value, number: Known, old: Known, mask: Column) -> Known:
    """Return a number that some lanes have anew."""
    column = np.where(mask, number.column, old.column).astype(dtype_of(value.type))
    keys = {*number.slopes, *old.slopes}
    slopes = {key: _merged(number.slopes.get(key), old.slopes.get(key), mask) for key in keys}
    return Known(column, slopes, number.pointer or old.pointer)


def _without(number: Known, key: str) -> Known:
    """Return a number without its slope along a loop."""
    if key not in number.slopes:
        return number
    return Known(number.column, {name: slope for name, slope in number.slopes.items() if name != key}, number.pointer)


def _merged(new: Slope | None, old: Slope | None, mask: Column) -> Slope:
    if isinstance(new, str) or isinstance(old, str):
        return new if isinstance(new, str) and new == old else UNEVEN
    return np.where(mask, _ZERO if new is None else new, _ZERO if old is None else old)


def _between(graph: Graph, start: str, join: str) -> set[str]:
    """Return the blocks that lanes may come to on their way from a block to where they are together again."""
    found: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += () if name == join else graph.successors[name]
    return found


def _incoming(phi: Phi, before: str) -> Operand:
    return next(operand for block, operand in phi.incoming if block == before)


def _find_wanted(function: Function) -> frozenset[Value]:
    """Return the values that branches and addresses are made of."""
    made: dict[Value, Sequence[Operand]] = {}
    pending: list[Operand] = []
    for block in function.blocks:
        for phi in block.phis:
            made[phi.result] = [operand for _, operand in phi.incoming]
        for i in block.instructions:
            made.update(dict.fromkeys(i.results, () if isinstance(i.detail, Memory) else i.operands))
            if isinstance(i.detail, Memory):
                pending.append(i.operands[0])
        match block.terminator:
            case Branch(condition):
                pending.append(condition)
            case Switch(value):
                pending.append(value)
    found: set[Value] = set()
    while pending:
        operand = pending.pop()
        if isinstance(operand, Value) and operand not in found:
            found.add(operand)
            pending += made.get(operand, ())
    return frozenset(found)
