"""How many of the branches that never part threads are called uniform: precision of the divergence analysis.

    python benchmarks/precision.py [--seeds N] [FOLDER | FILE …]

Without arguments: the kernels of examples/kernels, on the inputs that their files describe. Else: all kernels of the
.cu, .cl and .ptx files that are named or below the folders, on made-up inputs, for so many steps.
A branch counts where it was executed; it is `same` for a warp (block) if in no run, at no moment, two threads of one
warp (block) took different ways. Branches whose condition depends on kernel parameters and the launch's sizes alone are
counted apart: any analysis gets them. Everything that is called uniform and parts threads is an error.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.corpus.guessing import guessed, shape_of
from tests.corpus.running import ran
from tests.corpus.watching import LEVELS, Together, wrong_values
from tests.test_corpus import kernels

from warpsmith.analysis.facts import BranchFact, KernelFacts, LaunchShape
from warpsmith.analysis.kernel import examine
from warpsmith.base.findings import Finding
from warpsmith.flows.kernel_units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Instruction, Operand, Phi, Value, terminator_operands
from warpsmith.ssa.ops import OPS

LAUNCH = ("ntid.", "nctaid.", "ctaid.")
SUFFIXES = (".cu", ".cl", ".ptx")
SECONDS = 30


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

    def add(self, facts: KernelFacts, seen: Together) -> None:
        """Add what was seen of one kernel."""
        self.kernels += 1
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
                    self._missed(facts, fact, level, alone=name not in seen.met[level])

    def _missed(self, facts: KernelFacts, fact: BranchFact, level: str, *, alone: bool) -> None:
        why = fact.why[-1] if fact.why else "no reason"
        where = "?" if fact.span is None else f"{Path(fact.span.file.path).name}:{fact.span.line}"
        text = "" if fact.span is None else fact.span.file.text.splitlines()[fact.span.line - 1].strip()
        self.missed.append(f"{level:5} {facts.kernel}  {where}  {text[:70]}  [{why}{', alone' if alone else ''}]")
        self.reasons[f"{level}: {why}{' (one thread at a time)' if alone else ''}"] += 1

    def text(self, title: str) -> Iterator[str]:
        """Yield the lines of the report."""
        yield title
        yield f"  {self.kernels} kernels, {self.branches} branches, {self.visited} executed"
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


def own_corpus(seeds: int) -> Tally:
    """Return the sums over examples/kernels."""
    tally = Tally()
    for kernel in kernels():
        seen = Together.of(kernel.facts, counted=False)
        for seed in range(seeds):
            seen.again()
            ran(kernel.module, kernel.run, seed, seen)
        tally.add(kernel.facts, seen)
    return tally


def others(paths: Iterable[str], seeds: int, steps: int) -> Tally:
    """Return the sums over kernels that nobody described."""
    tally = Tally()
    for path in _files(paths):
        try:
            unit = read_unit(KernelFile(str(path)))
        except RecursionError as error:
            unit = Finding("INP003", "error", str(error))
        if isinstance(unit, Finding):
            tally.skipped.append(f"{path.name}: {unit.message}")
            continue
        for function in unit.module.functions:
            if function.kernel and function.blocks:
                _one(unit, function.name, tally, seeds, steps)
    return tally


def _one(unit: KernelUnit, name: str, tally: Tally, seeds: int, steps: int) -> None:
    function = unit.module.function(name)
    assert function is not None
    launched = unit.launches.get(name)
    block = shape_of(function, launched.block if launched else None)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        facts = examine(unit.module, name, LaunchShape(block), device("h100"))
        seen = Together.of(facts, counted=False)
        for seed in range(seeds):
            seen.again()
            guessed(unit.module, function, block, seed, observer=seen, steps=steps)
    except Late:
        tally.skipped.append(f"{Path(unit.file.path).name} {name}: more than {SECONDS} s")
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    tally.add(facts, seen)


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES) if path.is_dir() else [path]


def _late(*_: object) -> None:
    raise Late


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=60_000)
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, _late)
    start = time.process_time()
    if given.paths:
        tally, title = others(given.paths, given.seeds, given.steps), "Public kernels, made-up inputs"
    else:
        tally, title = own_corpus(given.seeds), "examples/kernels, inputs as described in the files"
    for line in tally.text(f"{title}; {given.seeds} runs each"):
        print(line)
    print(f"  {time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
