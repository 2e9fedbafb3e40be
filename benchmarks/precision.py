"""How many of the branches that never part threads are called uniform: precision of the divergence analysis.

    python benchmarks/precision.py [--tries N] [--enough N] [--seconds N] [-j N] [FOLDER | FOLDER:FIRST:EVERY | FILE …]

Without arguments: the kernels of examples/kernels, on the inputs that their files describe. Else: all kernels of the
.cu, .cl and .ptx files that are named or below the folders, on made-up inputs, for so many steps; of FOLDER:2:10 the
files number 2, 12, 22 … in the order of their paths, a sample that nobody chose.
A branch counts where it was executed; it is `same` for a warp (block) if in no run, at no moment, two threads of one
warp (block) took different ways. That a few inputs do not part threads means little: for each branch that is not called
uniform, inputs that do are searched for (tests/corpus/steering.py). Only where enough runs were to part threads, two
threads met there in each, and none did, the branch is taken to be one that never parts threads, and is missed; where
there was no time for enough, it is not decided, and counted apart; the search goes on to --tries while there is time.
A run is a launch of one block shape, on memory that holds what is read from it as what it is read, with any grid, of
which some blocks are run.
A branch that parts threads only in runs in which a signed number overflows counts for nothing: C gives such a run no
meaning, and machines run it all the same.
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
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import fields

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.corpus.guessing import Guess, shape_of
from tests.corpus.inputs import Inputs
from tests.corpus.running import ran
from tests.corpus.steering import Limits, Steering
from tests.corpus.watching import LEVELS, wrong_values
from tests.test_corpus import kernels

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import BranchFact, KernelFacts, LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.simt.launch import Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.graph import EXIT, Graph
from warpsmith.ssa.nodes import Function, Instruction, Operand, Phi, Value, terminator_operands
from warpsmith.ssa.ops import OPS

LAUNCH = ("ntid.", "nctaid.", "ctaid.")
SUFFIXES = (".cu", ".cl", ".ptx")
SECONDS = 60
"""Processor time for the examination of one kernel, for reading one file."""


class Given(Struct, frozen=True):
    """How much to run of each kernel: on made-up inputs, for how many steps, and how far to search."""

    seeds: int
    steps: int
    limits: Limits
    enough: int


class Late(BaseException):
    """A kernel took too long; nothing on the way may take this for an error of its own."""


class Tally(Struct):
    """Sums over kernels. `same`, `called`: branches that depend on more than parameters; `plain`: on those alone;
    `open`: those that never part threads, in less than `enough` runs that were to do so; `wrapped`: those that do only
    where signed numbers overflow."""

    enough: int
    kernels: int = 0
    branches: int = 0
    visited: int = 0
    same: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)
    plain: Counter[str] = field(default_factory=Counter)
    plain_called: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)
    wrapped: Counter[str] = field(default_factory=Counter)
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
                if name not in seen.passed or name in seen.diverged[level]:
                    continue
                if name in steering.wrapped[level]:
                    self.wrapped[level] += 1
                    continue
                uniform = getattr(fact, level) == "uniform"
                if not uniform and steering.tried[name, level] < self.enough:
                    self.open[level] += 1
                    continue
                (self.plain if plain else self.same)[level] += 1
                (self.plain_called if plain else self.called)[level] += uniform
                if not uniform:
                    self._missed(facts, fact, level, steering.tried[name, level])

    def join(self, other: Tally) -> None:
        """Add other sums."""
        for one in fields(self):
            if one.name != "enough":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def _missed(self, facts: KernelFacts, fact: BranchFact, level: str, tried: int) -> None:
        why = fact.why[-1] if fact.why else "no reason"
        where = "?" if fact.span is None else f"{Path(fact.span.file.path).name}:{fact.span.line}"
        text = "" if fact.span is None else fact.span.file.text.splitlines()[fact.span.line - 1].strip()
        note = f"{why}; {tried} runs were to part threads here"
        self.missed.append(f"{level:5} {facts.kernel}  {where}  {text[:70]}  [{note}]")
        self.reasons[f"{level}: {why}"] += 1

    def text(self, title: str) -> Iterator[str]:
        """Yield the lines of the report."""
        yield title
        yield f"  {self.kernels} kernels, {self.branches} branches, {self.visited} executed"
        yield f"  {self.runs} runs, {self.spoiled} of them spoiled by what a kernel must not do"
        for level in LEVELS:
            same, called = self.same[level], self.called[level]
            share = f"{100 * called / same:.1f} %" if same else "none"
            worst = f"{100 * called / (same + self.open[level]):.1f} %" if same else "none"
            plain = f"{self.plain_called[level]} of {self.plain[level]} on parameters"
            yield f"  {level}: {called} of {same} branches that never part threads are called uniform: {share}; {plain}"
            yield f"    parting threads only where signed numbers overflow, not counted: {self.wrapped[level]}"
            yield f"    not decided: {self.open[level]}, for want of runs; were they all uniform, {worst}"
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
    """Whether a condition depends on kernel parameters, constants and the launch alone, and so do all that decide over
    the ways on which its numbers come."""
    level = facts.warp_level
    ends = {block.name: terminator_operands(block.terminator)[:1] for block in facts.function.blocks}
    pending: list[Operand] = list(ends[fact.place.name])
    seen: set[Value] = set()
    while pending:
        operand = pending.pop()
        if not isinstance(operand, Value) or operand in seen:
            continue
        seen.add(operand)
        made = level.definitions[operand]
        if isinstance(made, Phi):
            pending += [value for _, value in made.incoming]
            pending += [o for name in _deciding(level.graph, level.homes[operand]) for o in ends[name]]
        elif _is_source(made):
            pending += made.operands
        else:
            return False
    return True


def _deciding(graph: Graph, home: str) -> Iterator[str]:
    """Yield the blocks whose branches decide over which way a block is entered: on one of their sides a way is sure,
    on another it is not (Ferrante, Ottenstein, Warren, TOPLAS 1987)."""
    above = graph.dominator.get(home, home)
    pending = list(graph.predecessors[home])
    found = {above, *pending}
    while pending:
        name = pending.pop()
        new = set() if name == above else set(graph.predecessors[name]) - found
        found |= new
        pending += new
    for name in found:
        sides = graph.successors[name]
        for entry in graph.predecessors[home]:
            sure = [side for side in sides if entry in _after(graph, side)]
            if len(sides) > 1 and (name == entry or 0 < len(sure) < len(sides)):
                yield name


def _after(graph: Graph, name: str) -> Iterator[str]:
    """Yield the blocks that every way from one leads through, itself first."""
    while name != EXIT:
        yield name
        name = graph.post_dominator[name]


def _is_source(i: Instruction) -> bool:
    if OPS[i.op].shape == "query":
        return getattr(i.detail, "register", "").startswith(LAUNCH)
    return OPS[i.op].pure or OPS[i.op].shape == "param"


def of_corpus(number: int, given: Given) -> Tally:
    """Return the sums of one kernel of examples/kernels."""
    kernel = kernels()[number]

    def run(inputs: Inputs, observer: Observer, *, checks: bool) -> Outcome:
        return ran(kernel.module, kernel.run, inputs, observer, LaunchMemory(checks=checks))[0]

    tally = Tally(given.enough)
    tally.add(_steered(Steering(kernel.facts, run), given))
    return tally


def of_file(path: Path, given: Given) -> Tally:
    """Return the sums over the kernels of a file that nobody described."""
    tally = Tally(given.enough)
    try:
        with _in_time():
            unit = read_unit(KernelFile(str(path)))
    except (RecursionError, Late) as error:
        unit = Finding("INP003", "error", str(error))
    if isinstance(unit, Finding):
        tally.skipped.append(f"{path.name}: {unit.message}")
        return tally
    for function in unit.module.functions:
        if function.kernel and function.blocks:
            _one(unit, function, tally, given)
    print(f"{path}: {tally.kernels} kernels, {tally.runs} runs", file=sys.stderr, flush=True)
    return tally


def _one(unit: KernelUnit, function: Function, tally: Tally, given: Given) -> None:
    launched = unit.launches.get(function.name)
    if launched and launched.block == (1, 1, 1):
        tally.skipped.append(f"{Path(unit.file.path).name} {function.name}: it is launched with one thread")
        return
    block = shape_of(function, launched.block if launched else None)
    try:
        with _in_time():
            facts = examine(unit.module, function.name, LaunchShape(block), device("h100"))
    except Late as late:
        tally.skipped.append(f"{Path(unit.file.path).name} {function.name}: {late}")
        return
    guess = Guess(unit.module, function, block, launched.grid if launched else None, given.steps)
    tally.add(_steered(Steering(facts, guess.run, free=True), given))


def _steered(steering: Steering, given: Given) -> Steering:
    """Make some runs, and others that are to part the threads that these did not."""
    steering.start(range(given.seeds))
    steering.search(given.limits)
    return steering


@contextmanager
def _in_time() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for text in paths:
        name, first, every = (*text.split(":"), "0", "1")[:3]
        path = Path(name)
        if path.is_dir():
            found = sorted((p for p in path.rglob("*") if p.suffix in SUFFIXES), key=str)
            yield from found[int(first) :: int(every)]
        else:
            yield path


def _late(*_: object) -> None:
    raise Late(f"more than {SECONDS} s")


def _sums(tasks: list[Callable[[], Tally]], jobs: int, enough: int) -> Tally:
    tally = Tally(enough)
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
    parser.add_argument("--tries", type=int, default=150, help="of the search, for each branch")
    parser.add_argument("--enough", type=int, help="tries after which a branch is decided, where time is out [--tries]")
    parser.add_argument("--steps", type=int, default=25_000, help="of a run")
    parser.add_argument("--all-steps", type=int, default=1_500_000, help="of the search, for each kernel")
    parser.add_argument("--seconds", type=float, default=60, help="of the search, for each kernel")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    enough = options.tries if options.enough is None else options.enough
    given = Given(options.seeds, options.steps, Limits(options.tries, options.all_steps, options.seconds), enough)
    signal.signal(signal.SIGPROF, _late)
    if options.paths:
        title = "Public kernels, made-up inputs"
        tasks = [partial(of_file, path, given) for path in _files(options.paths)]
    else:
        title = "examples/kernels, inputs as described in the files"
        tasks = [partial(of_corpus, number, given) for number in range(len(kernels()))]
    for line in _sums([*tasks], options.jobs, enough).text(
        f"{title}; {given.seeds} runs each, {enough} to part threads at a branch, {options.tries} as far as time goes"
    ):
        print(line)


if __name__ == "__main__":
    main()
