"""The kernels of examples/kernels: what their files say of them is found, and what is said of them holds when they run.

All CUDA files are read as one, which is what they cost least as; they have no names in common.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.corpus.judging import held_against_a_run
from tests.corpus.reading import Mark, Run, marks, runs
from tests.corpus.running import ran
from tests.corpus.watching import LEVELS, Together, wrong_accesses, wrong_values
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import BranchFact, KernelFacts, LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda.nvrtc import PtxText, compile_to_ptx
from warpsmith.front.ptx.read import read_ptx
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.verify import faults

FOLDER = Path(__file__).parent.parent / "examples" / "kernels"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".cu", ".cl", ".ptx"))
SAMPLE = ("divergence.cu", "sparse.cu", "saxpy.ptx", "count_if.ptx", "row_sum.ptx")
WARP = 32


class Kernel(Struct, frozen=True):
    """A kernel of the corpus with what was found of it, and the launch that its file names."""

    file: Path
    run: Run
    module: Module
    facts: KernelFacts


@cache
def units() -> dict[str, KernelUnit]:
    """Return what is read: all of CUDA, all of OpenCL, each PTX file."""
    cuda = "".join(f'#include "{path.name}"\n' for path in FILES if path.suffix == ".cu")
    given = [KernelFile(str(FOLDER / "all.cu"), text=cuda, instances=("reduce_unrolled<128>",))]
    given += [KernelFile(str(path)) for path in FILES if path.suffix != ".cu"]
    found = [read_unit(one) for one in given]
    assert not any(isinstance(unit, Finding) for unit in found)
    return {Path(one.path).name: unit for one, unit in zip(given, found, strict=True) if isinstance(unit, KernelUnit)}


@cache
def kernels() -> tuple[Kernel, ...]:
    """Return every kernel."""
    return tuple(kernel for path in FILES for kernel in of_file(path))


def of_file(path: Path) -> Iterator[Kernel]:
    """Yield the kernels of a file, each for the block that its file names."""
    unit = units()["all.cu" if path.suffix == ".cu" else path.name]
    names = {f.name.partition("<")[0]: f.name for f in unit.module.functions if f.kernel}
    for run in runs(path.read_text()):
        name = names[run.kernel]
        facts = examine(unit.module, name, LaunchShape(run.block), device("h100"))
        yield Kernel(path, replace(run, kernel=name), unit.module, facts)


def test_every_file_is_read_without_a_finding() -> None:
    assert [f"{f.rule} {f.message}" for unit in units().values() for f in unit.findings] == []
    assert [fault for unit in units().values() for f in unit.module.functions for fault in faults(f)] == []


def test_every_kernel_has_a_launch() -> None:
    there = {f.name for unit in units().values() for f in unit.module.functions if f.kernel}
    assert {kernel.run.kernel for kernel in kernels()} == there
    assert len(there) >= 100


def _levels(branches: list[BranchFact], mark: Mark) -> Iterator[str]:
    for level, word in mark.levels.items():
        said = [getattr(fact, level) for fact in branches if fact.span is not None and fact.span.line == mark.line]
        holds = "divergent" in said if word == "divergent" else set(said) == {"uniform"}
        if holds == mark.missed:
            meant = f"{word} but missed" if mark.missed else word
            yield f"line {mark.line}, {level}: {meant} is meant, {', '.join(said) or 'no branch'} is found"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_a_file_says_of_its_lines_is_found(path: Path) -> None:
    mine = [kernel for kernel in kernels() if kernel.file == path]
    branches = [fact for kernel in mine for fact in kernel.facts.branches]
    findings = [finding for kernel in mine for finding in judge(kernel.facts)]
    wrong: list[str] = []
    for mark in marks(path.read_text()):
        wrong += _levels(branches, mark)
        rules = {f.rule for f in findings if f.span is not None and f.span.line == mark.line}
        if mark.rule and not any(rule.startswith(mark.rule) for rule in rules):
            wrong.append(f"line {mark.line}: {mark.rule} is meant, {sorted(rules)} is found")
    assert wrong == []


def check(kernel: Kernel, seeds: range) -> Together:
    """Run a kernel and hold what it does against what is said of it."""
    seen = Together.of(kernel.facts)
    wrong: list[str] = []
    for seed in seeds:
        seen.again()
        outcome, _ = ran(kernel.module, kernel.run, seed, seen)
        assert outcome.complete, f"{kernel.run.kernel}: {[p.message for p in outcome.problems]}"
        assert not outcome.problems
        numbers = {p.name: kernel.run.number(p.name, seed) for p in kernel.facts.function.parameters}
        known = {name: number for name, number in numbers.items() if number is not None}
        wrong += wrong_accesses(kernel.facts, seen, WARP, known)
    wrong += wrong_values(kernel.facts, seen)
    assert wrong == []
    return seen


def _precision(given: Iterator[tuple[Kernel, Together]]) -> tuple[int, int, list[str]]:
    """Return how many branches never diverged threads, how many of those are called uniform, and the others."""
    same, called, missed = 0, 0, list[str]()
    for kernel, seen in given:
        for level in LEVELS:
            for fact in kernel.facts.branches:
                name = fact.place.name
                if name in seen.passed and name not in seen.diverged[level]:
                    same += 1
                    called += getattr(fact, level) == "uniform"
                    missed += [f"{fact.span}"] if getattr(fact, level) != "uniform" else []
    return same, called, missed


def test_what_is_said_holds_when_they_run() -> None:
    sample = [kernel for kernel in kernels() if kernel.file.name in SAMPLE]
    assert len(sample) >= 20
    same, called, missed = _precision((kernel, check(kernel, range(1))) for kernel in sample)
    assert same > 80
    # what one run does not tell apart may still differ in another
    assert called >= 0.7 * same, missed


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_said_holds_when_they_all_run(path: Path) -> None:
    for kernel in kernels():
        if kernel.file == path:
            check(kernel, range(4))


@pytest.mark.slow
def test_what_rules_say_is_seen_when_they_all_run() -> None:
    mix: Counter[str] = Counter()
    for kernel in kernels():
        found = held_against_a_run(kernel.module, kernel.run, kernel.facts, 0)
        assert not found.wrong, f"{kernel.run.kernel}: {found.wrong[:3]}"
        mix += found.checked
    assert min(mix["MEM001"], mix["MEM010"]) >= 15, mix


MERGED = {
    "gram_schmidt": "two nested conditions become one",
    "barriers": "the return and the condition behind it become one",
    "monte_carlo_pi": "two nested conditions become one",
    "reduce_last_block": "two nested conditions become one",
    "run_lengths": "two nested conditions become one",
    "local_table": "the loop is unrolled, so that the array is in registers",
}
"""Kernels some branches of which the compiler makes other branches of, and how."""


@pytest.mark.slow
@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not here")
def test_ptx_of_the_same_kernel_has_the_same_branches() -> None:
    same, other = 0, set[str]()
    for path in FILES:
        mine = [kernel for kernel in kernels() if kernel.file == path and path.suffix == ".cu"]
        made = compile_to_ptx(SourceFile.read(str(path)), (), tuple(kernel.run.kernel for kernel in mine))
        assert isinstance(made, PtxText) or not mine
        module = read_ptx(SourceFile("made.ptx", made.text))[0] if isinstance(made, PtxText) else None
        for kernel in mine:
            assert module is not None
            assert isinstance(made, PtxText)
            facts = examine(module, made.entries[kernel.run.kernel], LaunchShape(kernel.run.block), device("h100"))
            for source, ptx in _lines(kernel.facts, facts):
                same += bool(source & ptx)
                if not source & ptx:
                    other.add(kernel.run.kernel)
    assert same > 600
    assert other <= set(MERGED)


def _lines(source: KernelFacts, ptx: KernelFacts) -> Iterator[tuple[set[str], set[str]]]:
    """Yield what both say of the branches of each line that has some in both."""
    for level in LEVELS:
        found: tuple[dict[int, set[str]], dict[int, set[str]]] = ({}, {})
        for facts, lines in zip((source, ptx), found, strict=True):
            for fact in facts.branches:
                if fact.span is not None:
                    lines.setdefault(fact.span.line, set()).add(getattr(fact, level))
        yield from ((found[0][line], found[1][line]) for line in found[0].keys() & found[1].keys())


def test_a_wrong_claim_is_seen() -> None:
    kernel = next(k for k in kernels() if k.run.kernel == "temporal")
    facts = kernel.facts
    facts.warp_level.branches.pop(next(b.place.name for b in facts.branches if b.warp == "divergent"))
    with pytest.raises(AssertionError, match="parts threads"):
        check(kernel, range(2))
    kernels.cache_clear()


def test_the_files_say_what_they_are() -> None:
    for path in FILES:
        first, second = path.read_text().splitlines()[:2]
        assert re.fullmatch(r"// \S.*[.]", first), path
        assert second in ("//", ""), path
