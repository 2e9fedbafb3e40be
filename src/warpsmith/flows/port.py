"""PORT, the first straight line: a C program goes in, a verified CUDA program comes out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from warpsmith.base.findings import Finding
from warpsmith.emit.cuda import emit_cuda
from warpsmith.emit.files import OutputFile
from warpsmith.flows.harness import harness_functions
from warpsmith.flows.kernel_check import check_kernels
from warpsmith.flows.plan import writable_port
from warpsmith.flows.select import select_loops
from warpsmith.flows.sources import sources_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.plan import OffloadOptions, Plan, Port
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee import verify
from warpsmith.run.verification import Verification, VerifyOptions
from warpsmith.tree.program import Program

__all__ = ["PortOptions", "PortResult", "port"]


@dataclass(frozen=True, slots=True)
class PortOptions:
    """What a port may be told. `loops`: FILE:LINE or loop addresses; `survey`: stop after the verdicts;
    `verify`: run the referee on the result."""

    front: FrontOptions = field(default_factory=FrontOptions)
    poly: PolyOptions = field(default_factory=PolyOptions)
    offload: OffloadOptions = field(default_factory=OffloadOptions)
    run: VerifyOptions = field(default_factory=VerifyOptions)
    loops: tuple[str, ...] = ()
    survey: bool = False
    verify: bool = True
    single_file: bool = False


@dataclass(frozen=True, slots=True)
class PortResult:
    """Everything that the port found and made; `files` is empty after a survey."""

    program: Program
    facts: Facts
    plan: Plan | None
    files: tuple[OutputFile, ...]
    verification: Verification | None
    diagnostics: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    timing_s: dict[str, float]


def port(paths: Sequence[str], options: PortOptions) -> PortResult:
    """Port the loops of the C files `paths` to CUDA.

    Raises InputError where no input can be read and UsageError where a loop that was asked for does not exist.
    """
    clock = _Clock()
    # What the user wrote: a tree whose every node knows the text that it came from.
    loaded = load_program(paths, options.front)
    clock.lap("parse")
    # The loops that were asked for; every loop where nothing was.
    selected = select_loops(loaded.program, options.loops)
    # What may run in parallel, exactly, and under which conditions.
    facts = analyze(loaded.program, options.poly)
    clock.lap("analyze")
    result = PortResult(loaded.program, facts, None, (), None, loaded.findings, (), clock.laps)
    if options.survey:
        return result
    # What runs where, what moves when: the same tree with launches and copies in it.
    wanted = replace(options.offload, selected=selected, demanded=bool(options.loops))
    ported = writable_port(loaded.program, facts, wanted, options.poly)
    clock.lap("plan")
    if not ported.plan.fragments:
        return replace(result, plan=ported.plan, findings=ported.plan.findings)
    # The target's text, and another compiler's opinion of every kernel.
    files = emit_cuda(loaded.program, ported.program, single_file=options.single_file)
    findings = (*ported.plan.findings, *check_kernels(files))
    clock.lap("emit")
    # The referee builds both programs, runs the port under hostile schedules, and compares.
    verification = _referee(ported, options) if options.verify else None
    clock.lap("verify")
    return replace(result, plan=ported.plan, files=files, verification=verification, findings=findings)


def _referee(ported: Port, options: PortOptions) -> Verification:
    reference = sources_of(ported.reference, emit_cuda(ported.reference, ported.reference), captured=True)
    candidate = sources_of(ported.candidate, emit_cuda(ported.reference, ported.candidate), captured=True)
    return verify(reference, candidate, options.run, harness_functions(ported, options.poly))


class _Clock:
    """Seconds of each named stage, in order."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
