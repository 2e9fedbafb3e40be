"""EXPLAIN, the second straight line: kernels go in, what they cost and what is wrong with them comes out."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from msgspec import Struct, field

from warpsmith.base.clock import Clock
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.explaining.explain_file import FileResult, FileTask
from warpsmith.flows.explaining.explain_files import explain_files
from warpsmith.flows.explaining.selection import Chosen, RuleChoice, choose_findings
from warpsmith.kernels.shape import Launching, check_names
from warpsmith.kernels.units import KernelFile
from warpsmith.machine.devices import device
from warpsmith.report.analysis.model import SEVERITIES, AnalysisReport
from warpsmith.report.analysis.silenced.baseline import Baseline
from warpsmith.report.status import Status
from warpsmith.settings.model import Settings

__all__ = ["ExplainOptions", "explain"]

INTERNAL, LATE = 70, 124


class ExplainOptions(Struct, frozen=True):
    """The options of EXPLAIN besides the settings. `kernels`: patterns of names; `baseline`: what is known;
    `ptxas`: ask it for the registers of PTX kernels; `diagrams`: control flow and dependences shall be drawn; `fixes`:
    edits that mend findings are tried; `patterns`: access matrices are wanted."""

    settings: Settings
    launching: Launching = field(default_factory=Launching)
    kernels: tuple[str, ...] = ()
    baseline: Baseline | None = None
    ptxas: bool = False
    diagrams: bool = False
    fixes: bool = False
    patterns: bool = False


def explain(files: Sequence[KernelFile], options: ExplainOptions) -> AnalysisReport:
    """Return what is to be said of the kernels in `files`.

    Raises UsageError where a device, a rule, a kernel or a parameter that was named does not exist.
    """
    clock = Clock()
    settings = options.settings
    # What was asked for, before anything is read that takes time.
    devices = tuple(device(name) for name in settings.texts("device"))
    RuleChoice(settings)
    # Each file by itself: text → kernels → SSA → facts, for each device → what the rules say.
    wanted = (options.ptxas, options.diagrams, options.fixes, options.patterns)
    tasks = [FileTask(file, devices, options.launching, settings, options.kernels, *wanted) for file in files]
    results = explain_files(tasks, settings.number("jobs"))
    clock.lap("analyze")
    # Names that nothing has are mistakes of the user's.
    _check(results, options)
    # What is selected, certain enough, not suppressed, and not known already.
    found = choose_findings(results, settings, options.baseline)
    clock.lap("select")
    # How it ends: a finding at the gate is a negative answer; what could not be read makes it incomplete.
    status, code = _end(results, found, settings)
    return AnalysisReport(
        inputs=tuple(file.path for file in files),
        status=status,
        exit_code=code,
        diagnostics=(*settings.findings, *(d for result in results for d in result.diagnostics)),
        kernels=tuple(kernel for result in results for kernel in result.kernels),
        branches=tuple(branch for result in results for branch in result.branches),
        accesses=tuple(access for result in results for access in result.accesses),
        findings=found.shown,
        kept_back=found.kept_back,
        below=found.below,
        headers=tuple(dict.fromkeys(path for result in results for path in result.headers)),
        crash=next((result.crashed for result in results if result.crashed), ""),
        timing_s=clock.laps,
    )


def _check(results: Sequence[FileResult], options: ExplainOptions) -> None:
    check_names(options.launching, [name for result in results for name in result.parameters])
    names = [name for result in results for name in result.names]
    for glob in options.kernels:
        symbols = [kernel.symbol for result in results for kernel in result.kernels]
        if names and not any(fnmatchcase(name, glob) for name in (*names, *symbols)):
            near = get_close_matches(glob, names, n=1)
            help = f"did you mean '{near[0]}'?" if near else f"the kernels: {', '.join(names)}"
            raise UsageError(Finding("INP000", "error", f"no kernel matches '{glob}'", help=(help,)))


def _end(results: Sequence[FileResult], found: Chosen, settings: Settings) -> tuple[Status, int]:
    gate = settings.text("fail-on")
    if any(result.crashed for result in results):
        return "error", INTERNAL
    late = any(finding.rule == "INP009" for result in results for finding in result.diagnostics)
    if results and all(result.failed for result in results):
        return "error", LATE if late else 2
    if gate != "never" and any(SEVERITIES.index(one.severity) >= SEVERITIES.index(gate) for one in found.shown):
        return "negative", 1
    if late:
        return "incomplete", LATE
    broken = any(finding.severity == "error" for result in results for finding in result.diagnostics)
    return ("incomplete", 3) if broken else ("ok", 0)
