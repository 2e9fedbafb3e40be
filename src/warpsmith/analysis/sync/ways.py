"""Ways from one place to another that pass no barrier, and places that two threads can be at in one interval.

  branch                 a thread that goes left and one that goes right are at A and B only if
 ╱      ╲                they part at the branch: all that agree on it go one way
A        B
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile, takewhile
from typing import Final, NamedTuple, Protocol

from warpsmith.analysis.affine.symbols import Atom
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import Cut, full_barrier
from warpsmith.analysis.sync.trial import Orbit, Trial
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.nodes import Branch, Constant, Instruction, Operand, Phi, Value

__all__ = ["TriedWays", "Ways", "made_of", "part_at"]

_DEEPEST: Final = 24
_MOST_TURNS: Final = 64


class Judging(Protocol):
    """What tries numbers: the forms of a function, the numbers of loops' variables, and a trial of given ones."""

    @property
    def forms(self) -> Forms:
        """The numbers of the function, for a block."""

    @property
    def values(self) -> Mapping[str, Orbit]:
        """What the variables of a loop are in its iterations, by its header."""

    def trial(self, assignment: Mapping[Atom, int]) -> Trial:
        """Return the function with these numbers."""


class Ways:
    """The ways of a function between barriers of the block; the forms hold for a block."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._below: dict[str, frozenset[str]] = {}
        self._waits = {n: any(full_barrier(i) for i in block.instructions) for n, block in forms.blocks.items()}
        self._places: dict[Instruction, tuple[int, int]] = {}

    def leads(self, first: AccessSite, second: AccessSite) -> bool:
        """Whether control may come from one place to the other, or to the same again, without a barrier."""
        _, behind = self._around(first)
        before, _ = self._around(second)
        instructions = self.forms.blocks[first.block].instructions
        if first.block == second.block and instructions.index(second.instruction) > instructions.index(
            first.instruction
        ):
            between = dropwhile(lambda i: i is not first.instruction, instructions)
            for i in between:
                if i is second.instruction:
                    return True
                if full_barrier(i):
                    break
        return not behind and not before and second.block in self._reached(first.block)

    def may_both(self, first: AccessSite, second: AccessSite) -> bool:
        """Whether two threads may be at two places in one interval: one leads to the other, or threads part at a branch
        that leads to both."""
        if first.instruction is second.instruction or self.leads(first, second) or self.leads(second, first):
            return True
        if self._around(first)[0] or self._around(second)[0]:
            return False
        for name in self.forms.answer.branches:
            below = self._reached(name)
            if first.block in below and second.block in below:
                return True
        return False

    def _around(self, place: AccessSite) -> tuple[bool, bool]:
        """Return whether its block has a barrier before a place, and one behind it."""
        if place.instruction not in self._places:
            found = list(self.forms.blocks[place.block].instructions)
            at = found.index(place.instruction)
            self._places[place.instruction] = (
                sum(full_barrier(i) for i in found[:at]), sum(full_barrier(i) for i in found[at:]),
            )  # fmt: skip
        before, behind = self._places[place.instruction]
        return before > 0, behind > 0

    def _reached(self, block: str) -> frozenset[str]:
        """Return the blocks whose beginning control may come to from the end of one, without a barrier."""
        if block not in self._below:
            pending, seen = list(self.forms.graph.successors[block]), set[str]()
            while pending:
                name = pending.pop()
                if name not in seen:
                    seen.add(name)
                    pending += () if self._waits[name] else self.forms.graph.successors[name]
            self._below[block] = frozenset(seen)
        return self._below[block]


def made_of(answer: Uniformity, operand: Operand) -> Iterator[Instruction | Phi | None]:
    """Yield what a value is made of, up to what comes out of memory."""
    pending: list[tuple[Operand, int]] = [(operand, 0)]
    seen: set[Operand] = set()
    while pending:
        value, depth = pending.pop()
        if value in seen or isinstance(value, Constant):
            continue
        seen.add(value)
        made = answer.definitions.get(value) if isinstance(value, Value) and depth < _DEEPEST else None
        yield made
        if isinstance(made, Instruction) and made.op != "load" and not made.op.startswith("atomic_"):
            pending += [(o, depth + 1) for o in made.operands]
        elif isinstance(made, Phi):
            pending += [(o, depth + 1) for _, o in made.incoming]


def part_at(forms: Forms, first: AccessSite, second: AccessSite, cut: Cut) -> str:
    """Return the block with the test at which threads part that get to two places, where no way from it to either
    passes a barrier, so that both are in one interval whatever they do; "" where there is none."""
    dominator = forms.graph.dominator
    above, name = [first.block], first.block
    while name in dominator:
        name = dominator[name]
        above.append(name)
    test = second.block
    while test not in above:
        test = dominator[test]
    if test in (first.block, second.block):
        return ""
    return "" if any(cut(i) for place in (first, second) for i in _passed(forms, test, place)) else test


def _passed(forms: Forms, start: str, place: AccessSite) -> Iterator[Instruction]:
    """Yield what may be passed on the ways to a place from a block that dominates it."""
    for block in _between(forms, start, place.block):
        yield from forms.blocks[block].instructions
    yield from takewhile(lambda i: i is not place.instruction, forms.blocks[place.block].instructions)


def _between(forms: Forms, start: str, end: str) -> set[str]:
    """Return the blocks on all ways to a block from one that dominates it."""
    pending, seen = [*forms.graph.predecessors[end]], set[str]()
    while pending:
        name = pending.pop()
        if name not in seen and name != start:
            seen.add(name)
            pending += forms.graph.predecessors[name]
    return seen


class _At(NamedTuple):
    """Where control is: at the beginning of a block, in which iteration of a loop that is counted (-1: not known)."""

    block: str
    came_from: str = ""
    loop: str = ""
    turn: int = -1


class TriedWays:
    """Ways from one place to another with numbers for the iterations in which both are.

        for (k = 0; k < n; k += 16) {         n = 64, the load in iteration 1, the store in iteration 2
            … = a[w ^ 1][i];                  1 < 3: the barrier of iteration 1 stands on the way
            if (k + 16 < n) { a[w][i] = …; barrier }
        }

    `ahead`: how many iterations the second place is ahead, by the headers of the loops around both; None: it varies.
    One loop is counted at a time: the outermost one in which the two places are in different iterations, or that is
    around one of them alone. Control that comes to another loop from outside passes its test with what the variables
    begin with.
    """

    def __init__(self, judge: Judging, trials: tuple[Trial, Trial], ahead: Mapping[str, int | None], cut: Cut) -> None:
        self.judge, self.forms, self.trials, self.cut = judge, judge.forms, trials, cut
        outer = sorted(ahead, key=lambda header: self.forms.headers[header].depth)
        varies = None in ahead.values()
        moving = next((header for header in outer if ahead[header] != 0), None)
        self._back = not varies and moving is not None and (ahead[moving] or 0) < 0
        kept = outer if moving is None else outer[: outer.index(moving)]
        self._still = frozenset[str]() if varies else frozenset(kept)
        """The loops that control stays in the same iteration of."""
        self._moving = None if varies else moving
        self._shared = frozenset(ahead)
        self._alone: tuple[str, str] = "", ""

    def leads(self, first: AccessSite, second: AccessSite) -> bool:
        """Whether control may come from the first place to the second one without a barrier."""
        if first.instruction is second.instruction:
            return True
        if self._back:
            return False
        self._alone = self._find_alone(first.block), self._find_alone(second.block)
        rest = dropwhile(lambda i: i is not first.instruction, self.forms.blocks[first.block].instructions)
        counted = self._moving or self._alone[0]
        start = _At(first.block, "", counted, self._iteration(self.trials[0], counted))
        met = self._meets(rest, second, start)
        pending, seen = [] if met is not None else list(self._ways(start)), set[tuple[str, str, int, bool]]()
        while pending and not met:
            at = pending.pop()
            key = at.block, at.loop, at.turn, self._is_entry(at)
            if key not in seen:
                seen.add(key)
                met = self._meets(self.forms.blocks[at.block].instructions, second, at)
                pending += self._ways(at) if met is None else ()
        return bool(met)

    def comes(self, block: str) -> bool:
        """Whether control may come to a block from the entry."""
        pending, seen = [_At(self.forms.graph.entry)], set[tuple[str, bool]]()
        while pending:
            at = pending.pop()
            if (at.block, self._is_entry(at)) not in seen:
                seen.add((at.block, self._is_entry(at)))
                pending += self._ways(at)
        return any(name == block for name, _ in seen)

    def _find_alone(self, block: str) -> str:
        """Return the outermost loop around a block that is not around both places; "" where the places are in
        different iterations of one that is."""
        around = sorted(self.forms.around[block], key=lambda cycle: cycle.depth)
        inner = [cycle.header for cycle in around if cycle.header not in self._shared]
        return inner[0] if inner and self._moving is None and self._still == self._shared else ""

    def _iteration(self, trial: Trial, header: str) -> int:
        """Return the iteration of a loop that a trial is about; -1 where it is not known."""
        if not header:
            return -1
        return trial.assignment.get(self.forms.iteration(self.forms.headers[header]), -1)

    def _meets(self, instructions: Iterable[Instruction], place: AccessSite, at: _At) -> bool | None:
        """Return whether a place comes before a barrier; None: there is neither."""
        for i in instructions:
            if i is place.instruction and self._is_there(at):
                return True
            if self.cut(i):
                return False
        return None

    def _is_there(self, at: _At) -> bool:
        """Whether control may be in the iteration of the second place."""
        wanted = self._moving or self._alone[1]
        return at.loop != wanted or at.turn < 0 or at.turn == self._iteration(self.trials[1], wanted)

    def _ways(self, at: _At) -> Iterator[_At]:
        """Yield where control may go from a block."""
        for name in self._open(at):
            cycle = self.forms.headers.get(name)
            again = cycle is not None and at.block in cycle.blocks
            if again and name in self._still:
                continue
            if cycle is None or name not in (self._moving, *self._alone):
                yield _At(name, at.block, at.loop, at.turn)
            elif not again:
                yield _At(name, at.block, name, 0)
            elif name != at.loop or not 0 <= at.turn < _MOST_TURNS:
                yield _At(name, at.block, name, -1)
            elif not self._is_last(at):
                yield _At(name, at.block, name, at.turn + 1)

    def _is_last(self, at: _At) -> bool:
        """Whether the second place is in the iteration that control is in, so that no later one leads there."""
        return at.loop == (self._moving or self._alone[1]) and at.turn == self._iteration(self.trials[1], at.loop)

    def _open(self, at: _At) -> Iterable[str]:
        """Return one successor alone where all threads answer alike, and do so in the iteration that control is in."""
        ways, terminator = self.forms.graph.successors[at.block], self.forms.blocks[at.block].terminator
        if not isinstance(terminator, Branch):
            return ways
        homes = self._find_loops(terminator.condition) if self.forms.around[at.block] else set[str]()
        answers: set[int] = set()
        if homes <= self._still:
            rows = [trial.numbers(terminator.condition, at.block) for trial in self.trials]
        elif at.turn >= 0 and homes <= self._still | {at.loop}:
            rows = [self._trial(at).numbers(terminator.condition, at.block)]
        elif self._is_entry(at):
            rows = [self._at_entry(trial, terminator.condition, at, 0) for trial in self.trials]
        else:
            return ways
        for row in rows:
            if row is None:
                return ways
            answers |= {n & 1 for n in row}
        return ways if len(answers) > 1 else (terminator.then if answers == {1} else terminator.other,)

    def _find_loops(self, condition: Operand) -> set[str]:
        """Return the blocks in which values meet that a condition is made of."""
        found = (made for made in made_of(self.forms.answer, condition) if isinstance(made, Phi))
        return {self.forms.answer.homes[phi.result] for phi in found}

    def _trial(self, at: _At) -> Trial:
        """Return the numbers of the iteration that control is in."""
        base = self.trials[1] if at.loop == self._alone[1] else self.trials[0]
        if at.turn == self._iteration(base, at.loop):
            return base
        orbit = self.judge.values.get(at.loop)
        atoms = orbit.atoms if orbit is not None else ()
        given = {atom: number for atom, number in base.assignment.items() if atom not in atoms}
        given[self.forms.iteration(self.forms.headers[at.loop])] = at.turn
        if orbit is not None and (step := orbit.at(at.turn)) is not None:
            given.update(zip(atoms, step, strict=True))
        return self.judge.trial(given)

    def _is_entry(self, at: _At) -> bool:
        """Whether control has come to a loop from outside of it."""
        cycle = self.forms.headers.get(at.block)
        return cycle is not None and bool(at.came_from) and at.came_from not in cycle.blocks

    def _at_entry(self, trial: Trial, operand: Operand, at: _At, depth: int) -> tuple[int, ...] | None:
        """Return the numbers of a value in the test of a loop that control enters."""
        made = self.forms.answer.definitions.get(operand) if isinstance(operand, Value) else None
        if isinstance(made, Phi) and self.forms.answer.homes[made.result] == at.block:
            return next((trial.numbers(o, name) for name, o in made.incoming if name == at.came_from), None)
        inside = isinstance(operand, Value) and self.forms.answer.homes.get(operand) == at.block
        if not isinstance(made, Instruction) or not inside or depth > _DEEPEST:
            return trial.numbers(operand, at.came_from)
        return trial.evaluate(made, [self._at_entry(trial, o, at, depth + 1) for o in made.operands])
