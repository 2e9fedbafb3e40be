"""A search for inputs under which a branch parts threads: runs are watched, and what reaches the branch is changed.

    run ──► which numbers its comparisons met, from which words of memory and which arguments
     ▲                      │
     └── the same inputs, one word or argument changed to such a number, or to a neighbor of it ◄──┘

Whatever else reaches the branch stays as it was (Aschermann et al.: Redqueen, NDSS 2019). A run that does what no
kernel may (out of bounds, a barrier that not all come to, a trap) tells nothing; one that takes too long, what it did.
"""

from __future__ import annotations

import random
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.corpus.watching import LEVELS, Together
from warpsmith.analysis.facts import KernelFacts
from warpsmith.simt.launch import Outcome
from warpsmith.simt.observer import Lane, Observer
from warpsmith.ssa.nodes import (
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Param,
    Phi,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import Type

__all__ = ["Inputs", "Steering", "pointers"]

_Some = TypeVar("_Some")
_SAMPLES = 48
_PLAIN = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**64 - 1)
_REAL = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1e-30, 1e30, float("inf"), float("nan"))
_FORMS = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True)
class Inputs:
    """What a run is given: a `seed`, from which everything is made up, but for these arguments, and for what memory
    holds at these addresses."""

    seed: int
    arguments: Mapping[str, bytes] = field(default_factory=dict)
    words: Mapping[int, bytes] = field(default_factory=dict)

    def instead(self, arguments: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return arguments with those changed that are given here; a key is a parameter and an offset into it."""
        found = dict(arguments)
        for key, word in self.arguments.items():
            name, _, offset = key.rpartition("+")
            old, at = found[name], int(offset)
            found[name] = old[:at] + word + old[at + len(word) :]
        return found


@dataclass
class _Watch(Together):
    """What a run shows, with samples of the numbers that `watched` instructions give; of a load, where they were."""

    watched: frozenset[Instruction] = frozenset()
    numbers: dict[Instruction, list[int]] = field(default_factory=lambda: defaultdict(list))
    words: dict[Instruction, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    at: int | None = None

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Keep a sample of the results."""
        Together.value(self, lane, place, moment, numbers)
        if place in self.watched:
            kept = self.numbers[place]
            if len(kept) < _SAMPLES and numbers[0] not in kept:
                kept.append(numbers[0])
            if self.at is not None and len(self.words[place]) < _SAMPLES:
                self.words[place].setdefault(self.at, numbers[0])
        self.at = None

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[str, int, int]) -> None:
        """Keep a sample of the places in memory that inputs may be in."""
        space, address, _ = where
        self.at = address if space in ("global", "constant", "generic") else None


@dataclass(frozen=True)
class _Known:
    """A run that was made: its inputs, what it showed, the branches that it reached with two threads at a time."""

    inputs: Inputs
    watch: _Watch


@dataclass(frozen=True)
class _Goal:
    """What reaches a branch, the nearest first: loads, arguments, and the instructions and constants that comparisons
    look at."""

    loads: tuple[Instruction, ...]
    arguments: tuple[Instruction, ...]
    compared: tuple[Instruction, ...]
    constants: tuple[int, ...]


Run = Callable[[Inputs, Observer], Outcome]


class Steering:
    """The runs of one kernel. `seen`: what all of them have shown; `made`, `spoiled`: how many; `aimed`: how many of
    them were to part threads at a branch, for a level."""

    def __init__(self, facts: KernelFacts, run: Run) -> None:
        self.facts, self.run = facts, run
        self.seen = Together.of(facts, counted=False)
        self.made = self.spoiled = 0
        self.aimed: Counter[tuple[str, str]] = Counter()
        self.known: list[_Known] = []
        self.chosen = random.Random(f"steering {facts.kernel}")
        self.goals = {fact.place.name: self._goal(fact.place.name) for fact in facts.branches}
        parts = (i for goal in self.goals.values() for i in (*goal.loads, *goal.arguments, *goal.compared))
        self.watched = frozenset(parts)

    def start(self, seeds: Iterable[int]) -> None:
        """Make runs that are not steered."""
        for seed in seeds:
            self._make(Inputs(seed))

    def search(self, runs: int, seconds: float) -> None:
        """Make up to so many runs, to part threads at the branches that are not called uniform and have not yet."""
        end = time.process_time() + seconds
        for _ in range(runs):
            missing = self.missing()
            if not missing or time.process_time() > end:
                return
            name, level = self.chosen.choice(missing)
            self.aimed[name, level] += 1
            there = [known for known in self.known if name in known.watch.passed]
            together = [known for known in there if name in known.watch.met[level]]
            self._make(self._changed(self.chosen.choice(together or there), name))

    def missing(self) -> list[tuple[str, str]]:
        """Return the branches, with the level, that may part threads, that were reached and never did."""
        found = []
        for fact in self.facts.branches:
            name = fact.place.name
            if name in self.seen.passed:
                levels = (level for level in LEVELS if getattr(fact, level) != "uniform")
                found += [(name, level) for level in levels if name not in self.seen.parted[level]]
        return found

    def _make(self, inputs: Inputs) -> None:
        watch = _Watch.of(self.facts, counted=False)
        watch.watched = self.watched
        outcome = self.run(inputs, watch)
        self.made += 1
        watch.again()
        if any(problem.kind != "budget" for problem in outcome.problems):
            self.spoiled += 1
            return
        news = watch.passed - self.seen.passed or any(watch.met[v] - self.seen.met[v] for v in LEVELS)
        self.seen.add(watch)
        if news or len(self.known) < 12 or self.chosen.random() < 0.2:
            self.known.append(_Known(inputs, watch))

    # --- what to change

    def _changed(self, known: _Known, name: str) -> Inputs:
        """Return the inputs of a run, with something changed that reaches a branch."""
        goal, inputs = self.goals[name], known.inputs
        if self.chosen.random() < 0.2:
            goal = self.goals[self.chosen.choice(list(self._above(name)) or [name])]
        if self.chosen.random() < 0.1:
            inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        for _ in range(self.chosen.choice((1, 1, 1, 2, 3))):
            loads = [i for i in goal.loads if known.watch.words[i]]
            if goal.arguments and (not loads or self.chosen.random() < 0.4):
                inputs = self._argument(inputs, known, goal)
            elif loads:
                inputs = self._words(inputs, known, goal, self._near(loads))
            else:
                inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        return inputs

    def _near(self, things: Sequence[_Some]) -> _Some:
        """Return one of several, the first ones more often."""
        place = min(int(self.chosen.expovariate(0.5)), len(things) - 1)
        return things[place] if self.chosen.random() < 0.7 else self.chosen.choice(things)

    def _words(self, inputs: Inputs, known: _Known, goal: _Goal, i: Instruction) -> Inputs:
        """Return inputs with another number in one word that a load saw, or in many side by side: what the lanes of a
        warp tell each other changes with the second."""
        places = known.watch.words[i]
        # what was compared may be the word itself
        compared = {n for test in goal.compared[:4] for n in known.watch.numbers[test]}
        hit = [n for n, place in enumerate(places) if places[place] in compared]
        at = self.chosen.choice(hit) if hit and self.chosen.random() < 0.6 else self.chosen.randrange(len(places))
        new = self._number(known, goal, i.results[0].type)
        chosen = list(places)[at : at + self.chosen.choice((1, 1, 1, 1, 16, 32))]
        return replace(inputs, words={**inputs.words, **dict.fromkeys(chosen, new)})

    def _argument(self, inputs: Inputs, known: _Known, goal: _Goal) -> Inputs:
        i = self._near(goal.arguments)
        assert isinstance(i.detail, Param)
        size = next(p.bytes for p in self.facts.function.parameters if p.name == i.detail.parameter)
        width = i.result.type.bytes
        if width > size - i.detail.offset:
            return inputs
        key = f"{i.detail.parameter}+{i.detail.offset}"
        return replace(inputs, arguments={**inputs.arguments, key: self._number(known, goal, i.result.type)})

    def _number(self, known: _Known, goal: _Goal, type: Type) -> bytes:
        """Return a number to try: one that was compared, a neighbor of it, or one that often matters. What is a real
        number in memory may have been compared as a whole one."""
        size = type.bytes
        near = goal.compared[:4] if self.chosen.random() < 0.7 else goal.compared
        compared = sorted(n for i in near for n in known.watch.numbers[i])
        if self.chosen.random() < 0.3:
            # all lanes or none agree where a number is near the least or the greatest of what they have
            compared = [*compared[:4], *compared[-4:]]
        kind = self.chosen.random()
        if compared and kind < 0.45:
            number = self.chosen.choice(compared) + self.chosen.choice((-1, 0, 0, 1))
        elif goal.constants and kind < 0.75:
            number = self._near(goal.constants) + self.chosen.choice((-1, 0, 0, 0, 1))
        elif size in _FORMS and kind > 0.92:
            return self._real(size)
        else:
            number = self.chosen.choice(_PLAIN)
        if type.kind == "float" and size in _FORMS and number < 1 << 31 and self.chosen.random() < 0.5:
            return struct.pack(_FORMS[size], number % 60_000)
        return (number % (1 << 8 * size)).to_bytes(size, "little")

    def _real(self, size: int) -> bytes:
        try:
            return struct.pack(_FORMS[size], self.chosen.choice(_REAL))
        except OverflowError:
            return bytes(size)

    # --- what reaches a branch

    def _above(self, name: str) -> Iterator[str]:
        """Yield the branches that dominate one."""
        dominator = self.facts.warp_level.graph.dominator
        while name in dominator:
            name = dominator[name]
            if name in self.goals:
                yield name

    def _goal(self, name: str) -> _Goal:
        level, function = self.facts.warp_level, self.facts.function
        blocks = {block.name: block for block in function.blocks}
        stores = [i for _, i in function.instructions() if i.op == "store" and _is_kept(i)]
        pointing = pointers(function)
        pending: list[Operand] = list(terminator_operands(blocks[name].terminator))
        reached: dict[Instruction, None] = {}
        seen: set[Operand] = set()
        while pending:
            operand = pending.pop(0)
            if operand in seen or not isinstance(operand, Value):
                continue
            seen.add(operand)
            made = level.definitions[operand]
            if isinstance(made, Phi):
                home = level.homes[operand]
                ways = [before for before, _ in made.incoming] + [level.graph.dominator.get(home, home)]
                pending += [o for _, o in made.incoming]
                pending += [o for way in ways for o in terminator_operands(blocks[way].terminator)[:1]]
                continue
            reached[made] = None
            pending += made.operands
            if made.op == "load" and _is_kept(made):
                pending += [o for store in stores for o in store.operands]
        tests = [o for i in reached if _tests(i) for o in i.operands]
        made_by = (level.definitions[o] for o in tests if isinstance(o, Value))
        return _Goal(
            tuple(i for i in reached if i.op == "load" or i.op.startswith("atomic_")),
            tuple(i for i in reached if isinstance(i.detail, Param) and i.detail.parameter not in pointing),
            tuple(dict.fromkeys(i for i in made_by if isinstance(i, Instruction))),
            tuple(dict.fromkeys(o.bits for o in tests if isinstance(o, Constant))),
        )


def _tests(i: Instruction) -> bool:
    """Whether its operands are numbers to try: what is compared, and what that is made of, but no addresses."""
    shape = OPS[i.op].shape
    return shape == "compare" or (shape in ("binary", "select") and i.result.type.bits <= 32)


def pointers(function: Function) -> set[str]:
    """Return the parameters that addresses begin with."""
    made = {value: i for _, i in function.instructions() for value in i.results}
    found: set[str] = set()
    pending: list[Operand] = [
        i.operands[0] for _, i in function.instructions() if isinstance(i.detail, Memory) and i.operands
    ]
    merged = {phi.result: phi for block in function.blocks for phi in block.phis}
    seen: set[object] = set()
    while pending:
        operand = pending.pop()
        if operand in seen:
            continue
        seen.add(operand)
        if operand in merged:
            pending += [value for _, value in merged[operand].incoming]
        i = made.get(operand) if isinstance(operand, Value) else None
        if i is not None and isinstance(i.detail, Param):
            found.add(i.detail.parameter)
        elif i is not None and i.op in ("add", "sub", "select", "to_generic", "from_generic", "bitcast"):
            pending += i.operands
    return found


def _is_kept(i: Instruction) -> bool:
    """Whether this is memory that the kernel has filled itself."""
    return isinstance(i.detail, Memory) and i.detail.space in ("shared", "local", "generic")
