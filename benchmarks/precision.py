"""How many of the branches that never part threads are called uniform: precision of the divergence analysis.

    python benchmarks/precision.py [--seeds N] [--runs N] [-j N] [FOLDER | FILE …]

Without arguments: the kernels of examples/kernels, on the inputs that their files describe. Else: all kernels of the
.cu, .cl and .ptx files that are named or below the folders, on made-up inputs, for so many steps.
A branch counts where it was executed; it is `same` for a warp (block) if in no run, at no moment, two threads of one
warp (block) took different ways. That a few inputs do not part threads means little: for each branch that is not called
uniform, inputs that do are searched for (tests/corpus/steering.py), in so many runs.
Branches whose condition depends on kernel parameters and the launch's sizes alone are counted apart: any analysis gets
them. Everything that is called uniform and parts threads is an error.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.corpus.guessing import guessed, shape_of
from tests.corpus.running import ran
from tests.corpus.steering import Inputs, Steering
from tests.corpus.watching import LEVELS, wrong_values
from tests.test_corpus import kernels

from warpsmith.analysis.facts import BranchFact, KernelFacts, LaunchShape
from warpsmith.analysis.kernel import examine
from warpsmith.base.findings import Finding
from warpsmith.flows.kernel_units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.simt.launch import Outcome
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Function, Instruction, Operand, Phi, Value, terminator_operands
from warpsmith.ssa.ops import OPS

LAUNCH = ("ntid.", "nctaid.", "ctaid.")
SUFFIXES = (".cu", ".cl", ".ptx")
SECONDS = 20
"""Processor time for the search of one kernel, and for its examination."""


@dataclass(frozen=True)
class Given:
    """How much to run of each kernel: on made-up inputs, on such as the search makes, for how many steps."""

    seeds: int
    runs: int
    steps: int


class Late(BaseException):
    """A kernel took too long; nothing on the way may take this for an error of its own."""


@dataclass
class Tally:
    """Sums over kernels. `same`, `called`: branches that depend on more than parameters; `plain`: on those alone."""

    kernels: int = 0
    branches: int = 0
    visited: int = 0
    same: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    plain: Counter[str] = field(default_factory=Counter)
    plain_called: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    runs: int = 0
    spoiled: int = 0

    def add(self, steering: Steering) -> None:
        """Add what was seen of one kernel."""
        facts, seen = steering.facts, steering.seen
        self.kernels += 1
        self.runs += steering.made
        self.spoiled += steering.spoiled
        self.branches += len(facts.branches)
        self.visited += sum(fact.place.name in seen.passed for fact in facts.branches)
        self.wrong += wrong_values(facts, seen)
        for fact in facts.branches:
            name = fact.place.name
            plain = is_plain(facts, fact)
            for level in LEVELS:
                if name not in seen.passed or name in seen.parted[level]:
                    continue
                uniform = getattr(fact, level) == "uniform"
                (self.plain if plain else self.same)[level] += 1
                (self.plain_called if plain else self.called)[level] += uniform
                if not uniform:
                    self._missed(facts, fact, level, steering.aimed[name, level], alone=name not in seen.met[level])

    def join(self, other: Tally) -> None:
        """Add other sums."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def _missed(self, facts: KernelFacts, fact: BranchFact, level: str, aimed: int, *, alone: bool) -> None:
        why = fact.why[-1] if fact.why else "no reason"
        where = "?" if fact.span is None else f"{Path(fact.span.file.path).name}:{fact.span.line}"
        text = "" if fact.span is None else fact.span.file.text.splitlines()[fact.span.line - 1].strip()
        note = f"{why}{', alone' if alone else ''}; {aimed} runs were to part threads here"
        self.missed.append(f"{level:5} {facts.kernel}  {where}  {text[:70]}  [{note}]")
        self.reasons[f"{level}: {why}{' (one thread at a time)' if alone else ''}"] += 1

    def text(self, title: str) -> Iterator[str]:
        """Yield the lines of the report."""
        yield title
        yield f"  {self.kernels} kernels, {self.branches} branches, {self.visited} executed"
        yield f"  {self.runs} runs, {self.spoiled} of them spoiled by what a kernel must not do"
        for level in LEVELS:
            same, called = self.same[level], self.called[level]
            share = f"{100 * called / same:.1f} %" if same else "none"
            plain = f"{self.plain_called[level]} of {self.plain[level]} on parameters"
            yield f"  {level}: {called} of {same} branches that never part threads are called uniform: {share}; {plain}"
        both, called = self.same.total(), self.called.total()
        yield f"  both levels: {called} of {both}: {100 * called / max(both, 1):.1f} %"
        yield f"  called uniform and seen to differ: {len(self.wrong)}"
        yield from (f"    WRONG {text}" for text in self.wrong)
        yield "  missed, by reason:"
        yield from (f"    {count:4} {why}" for why, count in self.reasons.most_common())
        yield "  missed, each:"
        yield from (f"    {text}" for text in self.missed)
        if self.skipped:
            yield f"  not run: {len(self.skipped)}"
            yield from (f"    {text}" for text in self.skipped)


def is_plain(facts: KernelFacts, fact: BranchFact) -> bool:
    """Whether a condition depends on kernel parameters, constants and the launch alone."""
    pending: list[Operand] = list(terminator_operands(fact.place.terminator)[:1])
    seen: set[Value] = set()
    while pending:
        operand = pending.pop()
        if not isinstance(operand, Value) or operand in seen:
            continue
        seen.add(operand)
        made = facts.warp_level.definitions[operand]
        if isinstance(made, Phi):
            pending += [value for _, value in made.incoming]
        elif _is_source(made):
            pending += made.operands
        else:
            return False
    return True


def _is_source(i: Instruction) -> bool:
    if OPS[i.op].shape == "query":
        return getattr(i.detail, "register", "").startswith(LAUNCH)
    return OPS[i.op].pure or OPS[i.op].shape == "param"


def of_corpus(number: int, given: Given) -> Tally:
    """Return the sums of one kernel of examples/kernels."""
    kernel = kernels()[number]

    def run(inputs: Inputs, observer: Observer) -> Outcome:
        return ran(kernel.module, kernel.run, inputs, observer)[0]

    tally = Tally()
    tally.add(_steered(kernel.facts, run, given))
    return tally


def of_file(path: Path, given: Given) -> Tally:
    """Return the sums over the kernels of a file that nobody described."""
    tally = Tally()
    try:
        unit = read_unit(KernelFile(str(path)))
    except RecursionError as error:
        unit = Finding("INP003", "error", str(error))
    if isinstance(unit, Finding):
        tally.skipped.append(f"{path.name}: {unit.message}")
        return tally
    for function in unit.module.functions:
        if function.kernel and function.blocks:
            _one(unit, function, tally, given)
    return tally


def _one(unit: KernelUnit, function: Function, tally: Tally, given: Given) -> None:
    launched = unit.launches.get(function.name)
    block = shape_of(function, launched.block if launched else None)

    def run(inputs: Inputs, observer: Observer) -> Outcome:
        return guessed(unit.module, function, block, inputs, observer=observer, steps=given.steps)

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        facts = examine(unit.module, function.name, LaunchShape(block), device("h100"))
    except Late:
        tally.skipped.append(f"{Path(unit.file.path).name} {function.name}: more than {SECONDS} s")
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    tally.add(_steered(facts, run, given))


def _steered(facts: KernelFacts, run: Callable[[Inputs, Observer], Outcome], given: Given) -> Steering:
    """Return what some runs show, and others that are to part the threads that these did not."""
    steering = Steering(facts, run)
    steering.start(range(given.seeds))
    steering.search(given.runs, SECONDS)
    return steering


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES) if path.is_dir() else [path]


def _late(*_: object) -> None:
    raise Late


def _sums(tasks: list[Callable[[], Tally]], jobs: int) -> Tally:
    tally = Tally()
    if jobs == 1:
        for task in tasks:
            tally.join(task())
        return tally
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        for future in [pool.submit(task) for task in tasks]:
            tally.join(future.result())
    return tally


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    given = Given(options.seeds, options.runs, options.steps)
    signal.signal(signal.SIGPROF, _late)
    if options.paths:
        title = "Public kernels, made-up inputs"
        tasks = [partial(of_file, path, given) for path in _files(options.paths)]
    else:
        title = "examples/kernels, inputs as described in the files"
        tasks = [partial(of_corpus, number, given) for number in range(len(kernels()))]
    for line in _sums([*tasks], options.jobs).text(
        f"{title}; {given.seeds} runs each, {given.runs} more to part threads"
    ):
        print(line)


if __name__ == "__main__":
    main()
