"""One file of EXPLAIN: its kernels are examined and judged, each on each device; what comes out has no IR in it.

A kernel that fails, or takes too long, is a diagnostic; the others are served.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Final, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.likely_block import examine_likely
from warpsmith.analysis.patterns.kernel import kernel_accesses
from warpsmith.analysis.resources.diagrams import diagrams
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.rules.memory.transfers import host_transfers
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.analysis.vocabulary import vocabulary
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.base.time_limit import NO_TIME, OutOfTimeError, time_limit
from warpsmith.fixes.propose import proposals
from warpsmith.fixes.site import Trees
from warpsmith.flows.explaining.launched import as_launched, name_launches
from warpsmith.flows.explaining.registers import Registers, ask_ptxas
from warpsmith.flows.witness.budget import RunBudget, suspicion, with_figures, with_witnesses
from warpsmith.kernels.names import shown_names
from warpsmith.kernels.shape import Launching, shape_of
from warpsmith.kernels.units import KernelFile, KernelUnit, Language, read_unit
from warpsmith.machine.devices import Device
from warpsmith.report.accesses.kernel import kernel_spaces
from warpsmith.report.analysis.model import (
    AccessEntry,
    AnalyzedKernel,
    BranchEntry,
    Reported,
    access_entry,
    branch_entry,
    kernel_entry,
)
from warpsmith.report.analysis.wording import Wording
from warpsmith.report.fingerprints import fingerprints
from warpsmith.settings.model import Settings
from warpsmith.ssa.nodes import Function, Module
from warpsmith.ssa.text import print_module

__all__ = ["FileResult", "FileTask", "Times", "explain_file"]

Made = TypeVar("Made")
_FEW: Final = 4
"""Reasons, and names for each, that are listed."""


Times = Literal["", "launches", "blocks"]
"""Times that are predicted: none, of the launches as they are, of the same threads in other blocks as well."""


class FileTask(Struct, frozen=True):
    """One file, and everything that decides what is found in it; `ptxas`: it is asked for registers; `diagrams`:
    pictures are wanted; `fixes`: edits that mend findings are; `patterns`: access matrices are; `times`: which are
    predicted; `known`: kernels by name with their texts, of which the findings are known: what has the same text is
    left out."""

    wanted: KernelFile
    devices: tuple[Device, ...]
    launching: Launching
    settings: Settings
    kernels: tuple[str, ...] = ()
    ptxas: bool = False
    diagrams: bool = False
    fixes: bool = False
    patterns: bool = False
    times: Times = ""
    known: Mapping[str, str] = field(default_factory=dict)


class FileResult(Struct):
    """What was found in one file. `names` are those of its kernels, `parameters` those of the kernels' parameters;
    `failed`: nothing could be read; `partial`: a part could not; `late`: kernels that took too long; `crashed`: an
    error of ours; `texts`: the kernels as the analyses see them, where fixes are wanted; `same`: those left out;
    `unseen`: those that runs should show races of, and do not show all."""

    path: str
    file: SourceFile | None = None
    diagnostics: list[Finding] = field(default_factory=list)
    kernels: list[AnalyzedKernel] = field(default_factory=list)
    branches: list[BranchEntry] = field(default_factory=list)
    accesses: list[AccessEntry] = field(default_factory=list)
    findings: list[Reported] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    starts: dict[str, Span] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    failed: bool = False
    late: int = 0
    crashed: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    same: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()


def explain_file(task: FileTask) -> FileResult:
    """Return what is found in one file."""
    result = FileResult(task.wanted.path)
    unit = read_unit(task.wanted)
    if isinstance(unit, Finding):
        result.diagnostics.append(unit)
        result.failed = True
        return result
    result.file = unit.file
    result.headers = unit.headers
    result.diagnostics += unit.findings
    kernels = [function for function in unit.module.functions if function.kernel and function.blocks]
    result.diagnostics += _find_without_code(unit)
    names = shown_names([kernel.name for kernel in kernels])
    result.names = [names[kernel.name] for kernel in kernels]
    result.parameters = sorted({parameter.name for kernel in kernels for parameter in kernel.parameters})
    result.starts = {names[kernel.name]: kernel.span for kernel in kernels if kernel.span is not None}
    result.failed = not kernels and any(finding.severity == "error" for finding in result.diagnostics)
    compiled, unanswered = ask_ptxas(unit, task.wanted.arguments, task.devices) if task.ptxas else ({}, ())
    result.diagnostics += unanswered
    if task.fixes or task.known:
        result.texts = {names[kernel.name]: _text(unit, kernel) for kernel in kernels}
    result.same = frozenset(name for name, text in result.texts.items() if task.known.get(name) == text)
    runs = RunBudget(task.settings.seconds("runs"))
    wanted = [
        kernel
        for kernel in kernels
        if names[kernel.name] not in result.same and _is_wanted(names[kernel.name], kernel.name, task.kernels)
    ]
    work = _FileWork(task, unit, compiled, result, names)
    work.analyze(wanted, runs)
    result.unseen = frozenset(names[one] for kernels in runs.without.values() for one in kernels)
    result.diagnostics += _tell_without_runs(runs, names)
    if not task.kernels:
        copies = tuple(host_transfers(unit.repeats))
        marks = fingerprints("", copies)
        result.findings += (
            Reported(one, result.path, "", "note", mark) for one, mark in zip(copies, marks, strict=True)
        )
    return result


def _find_without_code(unit: KernelUnit) -> Iterator[Finding]:
    """Yield a diagnostic for each kernel that has a text but no code: something in it is not modeled."""
    if unit.language == "ptx":
        return
    for function in unit.module.functions:
        if function.kernel and not function.blocks:
            message = f"{function.name} is not analyzed: something that it needs is not modeled"
            helps = ("it is named above; the PTX of the kernel may be read all the same",)
            yield Finding("INP006", "error", message, function.span, helps)


def _tell_without_runs(runs: RunBudget, names: Mapping[str, str]) -> Iterator[Finding]:
    """Yield of which kernels runs showed nothing, or not all that there may be, and why."""
    rows = [(why, [names[one] for one in kernels]) for why, kernels in runs.without.items()]
    if not rows:
        return
    count = sum(len(kernels) for _, kernels in rows)
    what = rows[0][1][0] if count == 1 else f"{count} kernels"
    texts = [f"{', '.join(kernels[:_FEW])}{' …' if len(kernels) > _FEW else ''}: {why}" for why, kernels in rows]
    more = [f"{len(texts) - _FEW} more reasons"] if len(texts) > _FEW else []
    raised = ["raise --runs"] if NO_TIME in runs.without else []
    yield Finding(
        "INP012", "note", f"runs that look for races show nothing, or not all, of {what}",
        help=(*texts[:_FEW], *more, *raised),
    )  # fmt: skip


def _text(unit: KernelUnit, kernel: Function) -> str:
    """Return all that the findings of a kernel depend on, but for places: itself, what it may call, its launches."""
    others = (function for function in unit.module.functions if not function.kernel)
    written = (function for function in unit.module.written if function.name == kernel.name)
    module, launched = Module((kernel, *written, *others), unit.module.symbols), unit.launches.get(kernel.name)
    return f"{print_module(module)}\n{launched.text if launched is not None else None}\n{unit.module.images}"


def _is_wanted(name: str, symbol: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(one, glob) for one in (name, symbol) for glob in globs)


Found = list[KernelFacts]
"""The facts of one kernel, on each device."""


class _FileWork(Struct, frozen=True):
    """What is done with each kernel of a file: a step that takes too long, or fails, is a diagnostic."""

    task: FileTask
    unit: KernelUnit
    compiled: Registers
    result: FileResult
    names: Mapping[str, str]

    def analyze(self, wanted: Sequence[Function], runs: RunBudget) -> None:
        """Put what is found in some kernels into the result."""
        # What the text of each tells.
        facts = {kernel: found for kernel in wanted if (found := self.guard(kernel, self.examine))}
        # Runs, of those first that are likely to race.
        for kernel in sorted(facts, key=lambda kernel: -suspicion(facts[kernel][0])):
            facts[kernel] = self.guard(kernel, partial(self.run, facts[kernel], runs), timed=False) or []
        # Figures that are left open, with what time is left.
        for kernel in facts:
            facts[kernel] = self.guard(kernel, partial(self.count, facts[kernel], runs), timed=False) or []
        # What the rules say.
        for kernel, found in facts.items():
            if found:
                self.guard(kernel, partial(self.keep, found))
            if found and self.task.times:
                self.guard(kernel, partial(self.predict, found), timed=False)

    def examine(self, kernel: Function) -> Found:
        """Return what the text of a kernel tells."""
        task, name = self.task, self.names[kernel.name]
        said = shape_of(kernel, name, task.launching, task.settings, self.unit.launches.get(kernel.name))
        module, shape = as_launched(self.unit.module, kernel, said)
        function = module.function(kernel.name) or kernel
        found: Found = []
        for device in task.devices:
            compiled = self.compiled.get((device.name, kernel.name))
            for_shape = partial(examine, module, kernel.name, device=device, compiled=compiled)
            found.append(name_launches(examine_likely(function, shape, for_shape)))
        return found

    def run(self, found: Found, runs: RunBudget, _: Function) -> Found:
        """Return the facts of a kernel with what runs of it show."""
        first, *others = found
        return [with_witnesses(replace(self.unit, module=first.module), self.task.wanted, first, runs), *others]

    def count(self, found: Found, runs: RunBudget, _: Function) -> Found:
        """Return the facts of a kernel with the figures that runs of it count."""
        if not found:
            return found
        first, *others = found
        return [with_figures(replace(self.unit, module=first.module), self.task.wanted, first, runs), *others]

    def keep(self, found: Found, kernel: Function) -> None:
        """Put what the rules say of a kernel into the result."""
        trees = Trees(self.unit.file, self.unit.language, self.unit.functions) if self.task.fixes else None
        _keep_facts(found, self.names[kernel.name], self.unit.language, self.result, trees)
        if self.task.diagrams:
            _draw_pictures(found, self.unit.language, self.result)
        if self.task.patterns:
            _keep_patterns(found, self.unit.language, self.result)

    def predict(self, found: Found, _: Function) -> None:
        """Give a kernel that was kept its predicted times; one that takes too long to count has none."""
        # loaded here: what counts takes a tenth of a second to import, and only predictions need it
        from warpsmith.analysis.counts.prediction import predict_blocks, predict_time

        kept = self.result.kernels
        for facts in found:
            key = facts.kernel, facts.device.name
            place = next((at for at, one in enumerate(kept) if (one.symbol, one.device) == key), None)
            if place is None:
                continue
            try:
                with time_limit(self.task.settings.seconds("timeout")):
                    others = predict_blocks(facts) if self.task.times == "blocks" else None
                    kept[place] = replace(kept[place], predicted=predict_time(facts), other_blocks=others)
            except OutOfTimeError:
                late = PredictedTime(facts.block, facts.shape.grid, lacks=("time to count it (--timeout)",))
                kept[place] = replace(kept[place], predicted=late)

    def guard(self, kernel: Function, step: Callable[[Function], Made], *, timed: bool = True) -> Made | None:
        """Return what a step makes of a kernel; None where it fails, which is said; `timed`: there is a limit."""
        name, result = self.names[kernel.name], self.result
        try:
            with time_limit(self.task.settings.seconds("timeout") if timed else 0):
                return step(kernel)
        except OutOfTimeError:
            seconds = self.task.settings.seconds("timeout")
            message = f"{name} took longer than {seconds:g} s: it is not analyzed"
            result.diagnostics.append(Finding("INP009", "error", message, kernel.span, ("raise --timeout",)))
            result.late += 1
        except RecursionError:
            message = f"{name} is nested deeper than can be analyzed"
            result.diagnostics.append(Finding("INP003", "error", message, kernel.span, ("split the kernel",)))
        except Exception as error:
            message = f"{name} cannot be analyzed: an error of warpsmith's own ({type(error).__name__})"
            helps = ("this is a bug in warpsmith: the other kernels are analyzed",)
            result.diagnostics.append(Finding("INT070", "error", message, kernel.span, helps))
            result.crashed = result.crashed or traceback.format_exc()
        return None


def _keep_facts(
    found: Sequence[KernelFacts], name: str, language: Language, result: FileResult, trees: Trees | None
) -> None:
    """Keep the facts of a kernel on each device; what holds on several of them is reported once. `trees`: where edits
    are proposed."""
    merged: dict[tuple[str, str, str], Reported] = {}
    words = Wording.of(language, found[0])
    for facts in found:
        said = judge(replace(facts, words=vocabulary(language)))
        judged = tuple(map(words.finding, said))
        marks = fingerprints(_signature(facts, name), judged)
        for plain, one, mark in zip(said, judged, marks, strict=True):
            key = (mark, one.message, str(one.span))
            old = merged.get(key)
            if old is None:
                proposed = proposals(trees, facts, plain) if trees is not None else ()
                old = Reported(one, result.path, name, "note", mark, proposed=proposed)
            merged[key] = replace(old, devices=(*old.devices, facts.device.name))
    result.findings += merged.values()
    result.kernels += (words.kernel(kernel_entry(facts, result.path, name)) for facts in found)
    first = found[0]
    result.branches += (words.branch(branch_entry(fact, result.path, name)) for fact in first.branches)
    seen = first.simulated.accesses
    result.accesses += (
        words.access(access_entry(fact, result.path, name, seen.get(fact.instruction))) for fact in first.accesses
    )


def _draw_pictures(found: Sequence[KernelFacts], language: Language, result: FileResult) -> None:
    """Give the kernel that was kept last its pictures, those of the first device."""
    words = Wording.of(language, found[0])
    pictures = tuple(map(words.diagram, diagrams(found[0])))
    place = len(result.kernels) - len(found)
    result.kernels[place] = replace(result.kernels[place], diagrams=pictures)


def _keep_patterns(found: Sequence[KernelFacts], language: Language, result: FileResult) -> None:
    """Give the kernel that was kept last its access matrices, for the first device."""
    words, place = Wording.of(language, found[0]), len(result.kernels) - len(found)
    kept = result.kernels[place]
    spaces = kernel_spaces(kernel_accesses(found[0]), kept.name, kept.block, words.text)
    result.kernels[place] = replace(kept, patterns=spaces)


def _signature(facts: KernelFacts, name: str) -> str:
    """Return a kernel's name and the sizes of its parameters: overloads are different kernels."""
    return f"{name}({', '.join(str(parameter.bytes) for parameter in facts.function.parameters)})"
