"""A search for inputs under which a branch parts threads: runs are watched, and what reaches the branch is changed.

    run ──► which numbers its comparisons met, from which words of memory and which arguments
     ▲                      │
     └── the same inputs, one word or argument changed to such a number, or to a neighbor of it ◄──┘

Whatever else reaches the branch stays as it was (Aschermann et al.: Redqueen, NDSS 2019). Of a grid that is too large,
the blocks are run whose numbers are near what was compared; often two threads only, which get farther in so many steps.
A run that does what no kernel may (out of bounds, a barrier that not all come to, a trap) tells nothing; one that takes
too long, or comes to what is not modeled, what it did.
"""

from __future__ import annotations

import random
import struct
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from tests.corpus.goals import Goal, Goals
from tests.corpus.inputs import ANYTHING, Inputs
from tests.corpus.sampling import Samples, Who
from tests.corpus.watching import LEVELS, Together
from warpsmith.analysis.facts import KernelFacts
from warpsmith.machine.limits import MAX_GRID
from warpsmith.simt.launch import Outcome
from warpsmith.simt.observer import Observer
from warpsmith.simt.thread import TOGETHER
from warpsmith.ssa.nodes import Instruction, Param, successors
from warpsmith.ssa.types import Type

__all__ = ["Limits", "Steering"]

_Some = TypeVar("_Some")
_PLAIN = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**64 - 1)
_REAL = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1e-30, 1e30, float("inf"), float("nan"))
_FORMS = {2: "<e", 4: "<f", 8: "<d"}
_PATIENT = 8
_STEPS_MORE = 100_000
"""For each branch that may part threads and did not at first."""


@dataclass(frozen=True)
class Limits:
    """How far a search goes: so many runs that are to part threads at a branch and in which two threads met there; so
    many steps of all runs, with more for each branch; so many seconds of processor time."""

    tries: int
    steps: int
    seconds: float


@dataclass(frozen=True)
class _Known:
    """A run that was made: its inputs, what it showed, and whether it took too long."""

    inputs: Inputs
    watch: Samples
    late: bool


class Run(Protocol):
    """Launches the kernel; `checks`: looks for races."""

    def __call__(self, inputs: Inputs, observer: Observer, *, checks: bool) -> Outcome:
        """Return how the run ended."""
        ...


class Steering:
    """The runs of one kernel. `seen`: what all of them have shown; `made`, `spoiled`: how many; `steps` of all;
    `aimed`: how many of them were to part threads at a branch, for a level; `tried`: in how many two threads met there;
    `idle`: how many were for nothing in particular. `ways`: those taken from block to block.
    `free`: grids may be made up."""

    def __init__(self, facts: KernelFacts, run: Run, *, free: bool = False) -> None:
        self.facts, self.run, self.free = facts, run, free
        self.seen = Together.of(facts, counted=False)
        self.made = self.spoiled = self.steps = 0
        self.aimed: Counter[tuple[str, str]] = Counter()
        self.tried: Counter[tuple[str, str]] = Counter()
        self.idle = 0
        self.known: list[_Known] = []
        self.ways: set[tuple[str, str]] = set()
        self._watching: dict[frozenset[str], frozenset[Instruction]] = {}
        self.chosen = random.Random(f"steering {facts.kernel}")
        self.goals = Goals(facts)
        self.waits = any(i.op in TOGETHER for _, i in facts.function.instructions())

    def start(self, seeds: Iterable[int]) -> None:
        """Make runs that are not steered."""
        for seed in seeds:
            self._make(Inputs(seed))
            self._make(Inputs(seed, lanes=self._lanes("warp")))

    def search(self, limits: Limits) -> None:
        """Make runs to part threads at the branches that are not called uniform and have not yet, and to get to those
        that no run has reached."""
        end = time.process_time() + limits.seconds
        start = self.steps
        while time.process_time() < end:
            missing = self.missing()
            aims = [aim for aim in missing if self.tried[aim] < limits.tries]
            beyond = [aim for aim in self.beyond() if self.aimed[aim] < limits.tries]
            if self.steps - start > limits.steps + _STEPS_MORE * len(missing):
                return
            if beyond and (not aims or self.chosen.random() < 0.2):
                aims = beyond
            if aims:
                self._aim(*min(self.chosen.sample(aims, min(3, len(aims))), key=lambda aim: self.aimed[aim]))
            elif all(fact.place.name in self.seen.passed for fact in self.facts.branches) or self.idle > limits.tries:
                return
            else:
                # what is left was not reached in time, or is behind what no kernel may do
                self.idle += 1
                patience = self.chosen.choice((1, _PATIENT))
                self._make(Inputs(self.chosen.randrange(1 << 30), patience=patience, lanes=self._lanes("warp")))

    def _aim(self, name: str, level: str) -> None:
        """Make a run that is to part threads at a branch."""
        self.aimed[name, level] += 1
        parent = self._parent(name, level)
        made = self._make(self._combined(parent, name, level) or self._changed(parent, name, level))
        if made is not None:
            self.tried.update((name, level) for level in LEVELS if name in made.watch.met[level])

    def _parent(self, name: str, level: str) -> _Known:
        """Return a run that got to a branch, if possible with two threads at a time."""
        there = [known for known in self.known if name in known.watch.passed]
        together = [known for known in there if level and name in known.watch.met[level]]
        return self.chosen.choice(together or there)

    def beyond(self) -> list[tuple[str, str]]:
        """Return the branches that were reached and of which one side never was; with no level."""
        blocks = self.goals.blocks
        names = [fact.place.name for fact in self.facts.branches if fact.place.name in self.seen.passed]
        return [(n, "") for n in names if any((n, to) not in self.ways for to in successors(blocks[n].terminator))]

    def missing(self) -> list[tuple[str, str]]:
        """Return the branches, with the level, that may part threads, that were reached and never did."""
        found = []
        for fact in self.facts.branches:
            name = fact.place.name
            if name in self.seen.passed:
                levels = (level for level in LEVELS if getattr(fact, level) != "uniform")
                found += [(name, level) for level in levels if name not in self.seen.parted[level]]
        return found

    def _make(self, inputs: Inputs) -> _Known | None:
        """Make a run, and once more with all checks where it shows anything new."""
        found = self._ran(inputs, checks=False)
        if found is not None and self._is_new(found.watch):
            found = self._ran(inputs, checks=True)
        self.made += 1
        if found is None:
            self.spoiled += 1
            return None
        new = self._is_new(found.watch)
        self.seen.add(found.watch)
        self.ways |= found.watch.ways
        if new or len(self.known) < 12 or self.chosen.random() < 0.2:
            self.known.append(found)
        return found

    def _ran(self, inputs: Inputs, *, checks: bool) -> _Known | None:
        """Return what a run shows; None where the kernel does what no kernel may. What values are is compared where
        races are looked for, too."""
        watch = Samples.of(self.facts, counted=False, values=checks or not self.known)
        names = frozenset(name for name, _ in (*self._open(), *self.beyond()))
        watch.open, watch.watched = names, self._watched(names)
        outcome = self.run(inputs, watch, checks=checks)
        self.steps += outcome.steps
        watch.again()
        cut = any(problem.message == ANYTHING for problem in outcome.problems)
        races = any("load" in (found.first.kind, found.second.kind) for found in outcome.conflicts)
        wrong = any(p.kind not in ("budget", "unmodeled") and p.message != ANYTHING for p in outcome.problems)
        return None if wrong or (races and not cut) else _Known(inputs, watch, late=not outcome.complete)

    def _watched(self, names: frozenset[str]) -> frozenset[Instruction]:
        if names not in self._watching:
            self._watching = {names: self.goals.watched(names)}
        return self._watching[names]

    def _is_new(self, watch: Samples) -> bool:
        """Whether a run shows what none has shown before."""
        seen = self.seen
        return (
            bool(watch.passed - seen.passed or watch.ways - self.ways)
            or any(watch.met[v] - seen.met[v] or watch.parted[v] - seen.parted[v] for v in LEVELS)
            or any(watch.differs[v].keys() - seen.differs[v].keys() for v in LEVELS)
        )

    def _open(self) -> list[tuple[str, str]]:
        """Return the branches, with the level, that may part threads and never did, reached or not."""
        return [
            (fact.place.name, level)
            for fact in self.facts.branches
            for level in LEVELS
            if getattr(fact, level) != "uniform" and fact.place.name not in self.seen.parted[level]
        ]

    # --- what to change

    def _changed(self, known: _Known, name: str, level: str) -> Inputs:
        """Return the inputs of a run, with something changed that reaches a branch."""
        goal, inputs = self.goals.of(name), self._elsewhere(known, name, level)
        apart = name not in known.watch.met[level or "block"]
        if (goal.loads or apart) and self.chosen.random() < 0.4:
            return self._beside(known, name, level)
        if self.chosen.random() < 0.2:
            goal = self.goals.of(self.chosen.choice(list(self.goals.above(name)) or [name]))
        for _ in range(self.chosen.choice((1, 1, 1, 2, 3))):
            loads = [i for i in goal.loads if known.watch.words[i]]
            if goal.arguments and (not loads or self.chosen.random() < 0.4):
                inputs = self._argument(inputs, known, goal)
            elif loads:
                inputs = self._words(inputs, known, goal, self._near(loads))
            else:
                inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        return inputs

    def _combined(self, known: _Known, name: str, level: str) -> Inputs | None:
        """Return inputs with which one thread goes the way that one has gone from a branch, and another thread the
        way that one went in another run, at the same moment; None where there is no such run."""
        if self.waits or not level or self.chosen.random() < 0.5:
            return None
        mine, given = known.watch.went[name], known.inputs
        for other in self.chosen.sample(self.known, min(12, len(self.known))):
            if (other.inputs.seed, other.inputs.arguments) != (given.seed, given.arguments):
                continue
            theirs = other.watch.went[name]
            for moment in mine.keys() & theirs.keys():
                for one in mine[moment]:
                    for way in theirs[moment].keys() - {one}:
                        return self._joined(known, mine[moment][one], other, theirs[moment][way])
        return None

    def _joined(self, known: _Known, one: Who, other: _Known, model: Who) -> Inputs:
        """Return the inputs of one run, in which a neighbor of a thread finds what a thread of another run found."""
        width = self.facts.device.warp_width
        first = one[1] // width * width
        beside = model[1] if model[1] // width == one[1] // width and model != one else first + (one[1] + 1) % width
        copied = other.watch.copied(model, (one[0], beside), known.watch)
        words = {address: word for address, (_, word) in copied.items()}
        lanes = (one[1], beside)
        both = {**other.inputs.words, **words, **known.inputs.words, **words}
        return replace(
            known.inputs, words=both, lanes=lanes, patience=max(known.inputs.patience, other.inputs.patience)
        )

    def _elsewhere(self, known: _Known, name: str, level: str) -> Inputs:
        """Return the inputs of a run, for which other threads may be run, for a longer time, in another grid."""
        goal, inputs = self.goals.of(name), known.inputs
        if self.chosen.random() < 0.1:
            inputs = replace(inputs, seed=self.chosen.randrange(1 << 30))
        if self.chosen.random() < 0.5:
            patient = known.late and self.chosen.random() < 0.1
            inputs = replace(inputs, patience=_PATIENT if patient else 1)
        if self.chosen.random() < (0.2 if self.waits or inputs.lanes else 0.8):
            inputs = replace(inputs, lanes=self._lanes(level, [n for _, n in known.watch.visitors[name]]))
        often = 0.05 if not goal.axes else 0.3 if goal.loads or goal.arguments else 0.9
        if self.free and self.chosen.random() < often:
            inputs = self._launched(inputs, known, goal)
        return inputs

    def _beside(self, known: _Known, name: str, level: str) -> Inputs:
        """Return inputs with which another thread finds what one has found that came to a branch, but for a word or
        two of those that reach the branch: it goes the same way, up to there."""
        watch, inputs, goal = known.watch, known.inputs, self.goals.of(name)
        model = self.chosen.choice(list(watch.visitors[name]))
        lanes = self._lanes(level, [model[1]]) or (model[1], model[1] ^ 1)
        copied = watch.copied(model, (model[0], lanes[1]))
        words = {address: word for address, (_, word) in copied.items()}
        reaching = [address for i in goal.loads for address, (place, _) in copied.items() if place is i]
        met = name in watch.met[level or "block"]
        for _ in range(self.chosen.choice((1, 1, 2)) if met else self.chosen.choice((0, 0, 1))):
            if reaching:
                address = self._near(reaching)
                words[address] = self._number(known, goal, copied[address][0].results[0].type)
        return replace(inputs, words={**inputs.words, **words}, lanes=None if self.waits else lanes)

    def _lanes(self, level: str, among: Sequence[int] = ()) -> tuple[int, ...] | None:
        """Return two threads that are run, of a warp or of a block; None for all, as where they wait for each other."""
        x, y, z = self.facts.block
        count, width = x * y * z, self.facts.device.warp_width
        if count < 2 or self.chosen.random() < (0.8 if self.waits else 0.1):
            return None
        one = self.chosen.choice(among or range(count))
        first = one // width * width
        near = range(count) if level == "block" else range(first, min(first + width, count))
        return (one, self.chosen.choice([n for n in near if n != one] or [one]))

    def _near(self, things: Sequence[_Some]) -> _Some:
        """Return one of several, the first ones more often."""
        place = min(int(self.chosen.expovariate(0.5)), len(things) - 1)
        return things[place] if self.chosen.random() < 0.7 else self.chosen.choice(things)

    def _launched(self, inputs: Inputs, known: _Known, goal: Goal) -> Inputs:
        """Return inputs with a block run whose number is near what was compared, were it the number of a thread."""
        axis = self.chosen.choice(goal.axes or (0,))
        threads = self.facts.block[axis]
        compared = [n for i in goal.compared[:6] for n in known.watch.numbers[i]]
        number = self.chosen.choice(
            [*(goal.constants or compared)[:6], self.chosen.choice(compared or [0]), 1 << self.chosen.randrange(31)]
        )
        near = number % (1 << 32) // self.chosen.choice((1, threads, threads, threads, 2 * threads, 4 * threads))
        place = min(max(0, near + self.chosen.choice((-1, -1, 0, 0, 1))), MAX_GRID[axis] - 1)
        most = min(place + self.chosen.choice((1, 1, 2, place + 1)), MAX_GRID[axis])
        grid = [1, 1, 1]
        grid[axis] = most
        return replace(inputs, grid=(grid[0], grid[1], grid[2]), blocks=(place,))

    def _words(self, inputs: Inputs, known: _Known, goal: Goal, i: Instruction) -> Inputs:
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

    def _argument(self, inputs: Inputs, known: _Known, goal: Goal) -> Inputs:
        i = self._near(goal.arguments)
        assert isinstance(i.detail, Param)
        size = next(p.bytes for p in self.facts.function.parameters if p.name == i.detail.parameter)
        width = i.result.type.bytes
        if width > size - i.detail.offset:
            return inputs
        key = f"{i.detail.parameter}+{i.detail.offset}"
        return replace(inputs, arguments={**inputs.arguments, key: self._number(known, goal, i.result.type)})

    def _number(self, known: _Known, goal: Goal, type: Type) -> bytes:
        """Return a number to try: one that was compared, a neighbor of it, or one that often matters. What is a real
        number in memory may have been compared as a whole one."""
        size = type.bytes
        near = goal.compared[:4] if self.chosen.random() < 0.7 else goal.compared
        compared = sorted(n for i in near for n in known.watch.numbers[i])
        if self.chosen.random() < 0.3:
            # all lanes or none agree where a number is near the least or the greatest of what they have
            compared = [*compared[:4], *compared[-4:]]
        kind = self.chosen.random()
        if size in _FORMS and kind > (0.6 if type.kind == "float" else 0.95):
            return self._real(size)
        if compared and kind < 0.4:
            number = self.chosen.choice(compared) + self.chosen.choice((-1, 0, 0, 1))
        elif goal.constants and kind < 0.7:
            number = self._near(goal.constants) + self.chosen.choice((-1, 0, 0, 0, 1))
        else:
            number = self.chosen.choice(_PLAIN)
        if type.kind == "float" and size in _FORMS and number < 1 << 31 and self.chosen.random() < 0.5:
            return struct.pack(_FORMS[size], number % 60_000)
        return (number % (1 << 8 * size)).to_bytes(size, "little")

    def _real(self, size: int) -> bytes:
        usual = self.chosen.uniform(-2, 2), 10 ** self.chosen.uniform(-3, 3)
        try:
            return struct.pack(_FORMS[size], self.chosen.choice((*_REAL, *usual, *usual, *usual)))
        except OverflowError:
            return bytes(size)
