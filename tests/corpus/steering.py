"""A search for inputs under which a branch parts threads: runs are watched, and what reaches the branch is changed.

    run ──► which numbers its comparisons met, from which words of memory and which arguments
     ▲                      │
     └── the same inputs, one word or argument changed to such a number, or to a neighbor of it ◄──┘

Whatever else reaches the branch stays as it was (Aschermann et al.: Redqueen, NDSS 2019; changing.py). Where that does
not help, a number is changed by steps, so that the condition comes nearer to where it turns (climbing.py, margins.py).
Of a grid that is too large, the blocks are run whose numbers are near what was compared; often two threads only, which
get farther in so many steps; where one has been alone, a second one is brought over the branches above.
A run that does what no kernel may (out of bounds, a barrier that not all come to, a trap) tells nothing; one that takes
too long, or comes to what is not modeled, what it did.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tests.corpus.changing import PATIENT, Changes
from tests.corpus.climbing import climb, placed
from tests.corpus.goals import Goal, Goals
from tests.corpus.inputs import ANYTHING, Inputs
from tests.corpus.margins import Needed, Ruler
from tests.corpus.sampling import Known, Samples
from tests.corpus.watching import LEVELS, Together
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.simt.launch import Outcome
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Instruction, successors

__all__ = ["Limits", "Steering"]

_CLIMBS = 0.1
"""How often a run is the first of a climb, which has up to so many:"""
_RUNS_OF_A_CLIMB = 12
_FRESH = 0.1
"""How often nothing is taken from a run that is known."""
_BROUGHT = 0.4
"""How often a second thread is brought to a branch where one has been."""
_NEAREST = 8
"""Runs that are kept for each branch, as they came near to its other side."""
_IDLE = 100
_STEPS_MORE = 100_000
"""For each branch that may part threads and did not at first."""


class Limits(Struct, frozen=True):
    """How far a search goes: so many runs that are to part threads at a branch and in which two threads met there; so
    many steps of all runs, with more for each branch; so many seconds of processor time."""

    tries: int
    steps: int
    seconds: float


class Run(Protocol):
    """Launches the kernel; `checks`: looks for races."""

    def __call__(self, inputs: Inputs, observer: Observer, *, checks: bool) -> Outcome:
        """Return how the run ended."""
        ...


class Steering:
    """The runs of one kernel. `seen`: what all of them have shown; `made`, `spoiled`: how many; `steps` of all;
    `aimed`: how many of them were to part threads at a branch, for a level; `tried`: in how many two threads met there;
    `idle`: how many were for nothing in particular. `ways`: those taken from block to block. `wrapped`: branches that
    diverged threads in a run in which a signed number overflows; C gives it no meaning, but machines make it.
    `free`: grids may be made up."""

    def __init__(self, facts: KernelFacts, run: Run, *, free: bool = False) -> None:
        self.facts, self.run, self.free = facts, run, free
        self.seen = Together.of(facts, counted=False)
        self.made = self.spoiled = self.steps = 0
        self.aimed: Counter[tuple[str, str]] = Counter()
        self.tried: Counter[tuple[str, str]] = Counter()
        self.idle = 0
        self.wrapped: dict[str, set[str]] = {level: set() for level in LEVELS}
        self.known: list[Known] = []
        self.ways: set[tuple[str, str]] = set()
        self.nearest: dict[str, list[Known]] = {}
        self.guards: frozenset[str] = frozenset()
        self._watching: dict[frozenset[str], tuple[frozenset[Instruction], Needed]] = {}
        self.chosen = random.Random(f"steering {facts.kernel}")
        self.goals = Goals(facts)
        self.change = Changes(facts, self.goals, self.chosen, free=free)

    def start(self, seeds: Iterable[int]) -> None:
        """Make runs that are not steered."""
        for seed in seeds:
            self._make(Inputs(seed))
            self._make(Inputs(seed, lanes=self.change.lanes("warp")))

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
            elif all(fact.place.name in self.seen.passed for fact in self.facts.branches) or self.idle > _IDLE:
                return
            else:
                # what is left was not reached in time, or is behind what no kernel may do
                self.idle += 1
                patience = self.chosen.choice((1, PATIENT))
                self._make(Inputs(self.chosen.randrange(1 << 30), patience=patience, lanes=self.change.lanes("warp")))

    def _aim(self, name: str, level: str) -> None:
        """Make a run that is to part threads at a branch, or a few."""
        together = not level or name in self.seen.met[level]
        if together and self.nearest.get(name) and self.chosen.random() < _CLIMBS:
            self._climb(name, level)
            return
        if not together and self.chosen.random() < _BROUGHT and self._bring(name, level):
            return
        if self.chosen.random() < _FRESH:
            # all else may differ as well
            thread = self.chosen.randrange(math.prod(self.facts.block))
            lanes = self.chosen.choice((self.change.warp(thread), self.change.lanes(level, [thread])))
            arguments = self.change.sizes(self.goals.of(name)) if self.chosen.random() < 0.5 else {}
            self._aimed(Inputs(self.chosen.randrange(1 << 30), arguments, lanes=lanes), name, level)
            return
        parent = self._parent(name, level)
        self._aimed(self._combined(parent, name, level) or self.change.changed(parent, name, level), name, level)

    def _aimed(self, inputs: Inputs, name: str, level: str) -> Known | None:
        self.aimed[name, level] += 1
        made = self._make(inputs)
        if made is not None:
            self.tried.update((name, level) for level in LEVELS if name in made.watch.met[level])
        return made

    def _climb(self, name: str, level: str) -> None:
        """Make some runs, each to come nearer to where a branch turns."""
        known = self.change.near(self.nearest[name]) if self.chosen.random() < 0.6 else self._parent(name, level)
        near = known.watch.near.get(name)
        if near is None:
            return
        goal, start = self.goals.of(name), known.inputs
        # where one thread cannot get there, another one may
        thread = near.who[1] if self.chosen.random() < 0.6 else self.chosen.choice(list(known.watch.visitors[name]))[1]
        patience = start.patience if self.chosen.random() < 0.2 else 1
        whole = patience == 1 and self.chosen.random() < 0.3
        lanes = self.change.warp(thread) if whole else self.change.lanes(level, [thread])
        start = replace(placed(start, near.place) if self.free else start, lanes=lanes, patience=patience)
        for inputs, made in self._climbing(goal, start, name, partial(self._aimed, name=name, level=level)):
            if made is None and self.free:
                # behind the branch it met what it cannot use
                self._aimed(self.change.remade(inputs, known), name, level)
            if self._is_done(name, level):
                return

    def _climbing(
        self, goal: Goal, start: Inputs, name: str, run: Callable[[Inputs], Known | None]
    ) -> Iterator[tuple[Inputs, Known | None]]:
        """Yield some runs, each chosen by what was seen of the one before."""
        steps = climb(self.facts, goal, start, name, self.chosen)
        inputs = next(steps)
        for _ in range(_RUNS_OF_A_CLIMB):
            made = run(inputs)
            yield inputs, made
            try:
                inputs = steps.send(None if made is None else made.watch)
            except StopIteration:
                return

    def _bring(self, name: str, level: str) -> bool:
        """Make some runs, to bring a second thread to a branch where one has been: over the last branch above it at
        which the second one goes another way. Return whether there is any."""
        known = self._parent(name, level)
        one = self.chosen.choice(list(known.watch.visitors[name]))[1]
        other = next((thread for thread in self.change.lanes(level, [one]) or () if thread != one), None)
        if other is None:
            return False
        alone = replace(known.inputs, lanes=(other,))
        above = list(self.goals.above(name))
        made = self._measured(alone, above, name, level)
        guard = next((n for n in above if made is not None and n in made.watch.passed), None)
        if guard is None or (made is not None and name in made.watch.passed):
            return guard is not None
        run = partial(self._measured, guards=[guard], name=name, level=level)
        for inputs, made in self._climbing(self.goals.of(guard), alone, guard, run):
            if made is not None and name in made.watch.passed:
                self._aimed(replace(inputs, lanes=(one, other)), name, level)
                break
        return True

    def _measured(self, inputs: Inputs, guards: Sequence[str], name: str, level: str) -> Known | None:
        """Make a run in which some more branches are measured."""
        self.guards = frozenset(guards)
        made = self._aimed(inputs, name, level)
        self.guards = frozenset()
        return made

    def _is_done(self, name: str, level: str) -> bool:
        """Whether a branch has diverged threads, or, for no level, both its sides have been seen."""
        if level:
            return self._has_parted(name, level)
        return all((name, to) in self.ways for to in successors(self.goals.blocks[name].terminator))

    def _has_parted(self, name: str, level: str) -> bool:
        return name in self.seen.diverged[level] or name in self.wrapped[level]

    def _parent(self, name: str, level: str) -> Known:
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
                found += [(name, level) for level in levels if not self._has_parted(name, level)]
        return found

    def _make(self, inputs: Inputs) -> Known | None:
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
        self._keep_nearest(found)
        if new or len(self.known) < 12 or self.chosen.random() < 0.2:
            self.known.append(found)
        return found

    def _keep_nearest(self, found: Known) -> None:
        """Keep a run for the branches to whose other side it came nearer than others, no two at the same distance."""
        for name, near in found.watch.near.items():
            kept = self.nearest.setdefault(name, [])
            same = [known for known in kept if known.watch.near[name].margin == near.margin]
            if not same:
                kept.append(found)
                kept.sort(key=lambda known: known.watch.near[name].distance)
                del kept[_NEAREST:]
            elif self.chosen.random() < 0.2:
                kept[kept.index(same[0])] = found

    def _ran(self, inputs: Inputs, *, checks: bool) -> Known | None:
        """Return what a run shows; None where the kernel does what no kernel may. What values are is compared where
        races are looked for, too."""
        watch = Samples.of(self.facts, counted=False, values=checks or not self.known)
        names = frozenset(name for name, _ in (*self._open(), *self.beyond()))
        watch.open = names
        watch.watched, needed = self._watched(names | self.guards)
        watch.ruler = Ruler(needed)
        outcome = self.run(inputs, watch, checks=checks)
        self.steps += outcome.steps
        watch.again()
        cut = any(problem.message == ANYTHING for problem in outcome.problems)
        races = any("load" in (found.first.kind, found.second.kind) for found in outcome.conflicts)
        wrong = {p.kind for p in outcome.problems if p.message != ANYTHING} - {"budget", "unmodeled"}
        if wrong == {"overflow"} and (cut or not races):
            self._wrap(inputs, watch, checks=checks)
        return None if wrong or (races and not cut) else Known(inputs, watch, late=not outcome.complete)

    def _wrap(self, inputs: Inputs, watch: Samples, *, checks: bool) -> None:
        """Take note of what parts threads in a run in which a signed number overflows, once it was made with all
        checks."""
        new = {level: watch.diverged[level] - self.seen.diverged[level] - self.wrapped[level] for level in LEVELS}
        if not checks and any(new.values()):
            self._ran(inputs, checks=True)
        elif checks:
            for level in LEVELS:
                self.wrapped[level] |= new[level]

    def _watched(self, names: frozenset[str]) -> tuple[frozenset[Instruction], Needed]:
        if names not in self._watching:
            needed = Needed.at(self.goals.level, [self.goals.blocks[name] for name in names])
            if len(self._watching) > 8:
                self._watching.clear()
            self._watching[names] = self.goals.watched(names), needed
        return self._watching[names]

    def _is_new(self, watch: Samples) -> bool:
        """Whether a run shows what none has shown before."""
        seen = self.seen
        return (
            bool(watch.passed - seen.passed or watch.ways - self.ways)
            or any(watch.met[v] - seen.met[v] or watch.diverged[v] - seen.diverged[v] for v in LEVELS)
            or any(watch.differs[v].keys() - seen.differs[v].keys() for v in LEVELS)
        )

    def _open(self) -> list[tuple[str, str]]:
        """Return the branches, with the level, that may part threads and never did, reached or not."""
        return [
            (fact.place.name, level)
            for fact in self.facts.branches
            for level in LEVELS
            if getattr(fact, level) != "uniform" and fact.place.name not in self.seen.diverged[level]
        ]

    def _combined(self, known: Known, name: str, level: str) -> Inputs | None:
        """Return inputs with which one thread goes the way that one has gone from a branch, and another thread the
        way that one went in another run, at the same moment; None where there is no such run."""
        if self.change.waits or not level or self.chosen.random() < 0.5:
            return None
        mine, given = known.watch.went[name], known.inputs
        for other in self.chosen.sample(self.known, min(12, len(self.known))):
            if (other.inputs.seed, other.inputs.arguments) != (given.seed, given.arguments):
                continue
            theirs = other.watch.went[name]
            for moment in mine.keys() & theirs.keys():
                for one in mine[moment]:
                    for way in theirs[moment].keys() - {one}:
                        return self.change.joined(known, mine[moment][one], other, theirs[moment][way])
        return None
