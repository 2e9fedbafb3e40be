"""SIMULATE, a straight line: a kernel and its arguments go in; what its warps did, and did wrong, comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.clock import Clock
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity, Progress, ignore_progress
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.flows.repeated.caches import run_with_caches
from warpsmith.flows.repeated.policies import Repeated, run_policies
from warpsmith.flows.started import StartedLaunch, place_launch
from warpsmith.kernels.arguments import ELEMENTS, Argument, Array
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.report.simulation.model import (
    CacheRun,
    Check,
    LaunchRow,
    Mistake,
    OutputRow,
    PolicyRow,
    SimulationReport,
    Work,
)
from warpsmith.report.simulation.rows import (
    Pieces,
    Watched,
    block_rows,
    branch_rows,
    memory_rows,
    mistakes_of,
    text_order,
    timeline_of,
)
from warpsmith.report.status import Status
from warpsmith.settings.model import Settings
from warpsmith.simt.choose import Done, Engine, EngineChoice, execute
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.memory import Buffer
from warpsmith.simt.policies.machine import PolicyName, PolicyRun
from warpsmith.simt.selection import Selection
from warpsmith.ssa.nodes import Function

__all__ = [
    "INTERRUPTED",
    "SimulateOptions",
    "output_rows",
    "read_kernels",
    "save_array",
    "simulate",
    "simulate_unit",
    "start_launch",
]

_OUT_OF_TIME: Final = 124
INTERRUPTED: Final = 130
_TIMES: Final = 20
_MORE: Final = 100_000
"""A run under a policy may take this many times the steps of the run before, and so many more: lanes that wait take
turns in vain, and under some policies for ever."""


class SimulateOptions(Struct, frozen=True):
    """The options of SIMULATE. `kernel`: its name, or a pattern that one kernel has; `warp`: lanes of a warp, None
    for the device's; `checks`: what counts as a mistake; `out`: files for buffers; `policies`: those under which it is
    run once more; `caches`: what those of the device make of it is told; `engine`: who runs it, "" for either;
    `workers`: threads of this computer, at most; `selection`: the warps that are counted; `settings`: the
    configuration, for what is not said otherwise: how a kernel is launched, on which numbers, and the time that it may
    take."""

    kernel: str = ""
    block: Dim | None = None
    grid: Dim | None = None
    arguments: tuple[str, ...] = ()
    shared: int = 0
    device: str = "sm_80"
    warp: int | None = None
    seed: int = 0
    max_steps: int = 1_000_000_000
    checks: tuple[Check, ...] = ("race", "oob", "uninit", "barrier")
    out: Mapping[str, str] = field(default_factory=dict)
    timeline: bool = False
    profile: bool = False
    policies: tuple[PolicyName, ...] = ()
    caches: bool = False
    engine: Engine = ""
    workers: int = 1
    selection: Selection = Selection()
    progress: Progress = ignore_progress
    settings: Settings | None = None


def simulate(file: KernelFile, options: SimulateOptions) -> SimulationReport:
    """Run one kernel of `file`, and report.

    Raises UsageError where what was asked for makes no sense, InputError where the file cannot be read.
    """
    clock = Clock()
    # text → kernels → SSA
    unit = read_kernels(file, options.progress)
    return simulate_unit(unit, file.path, options, clock)


def read_kernels(file: KernelFile, progress: Progress) -> KernelUnit:
    """Return the kernels of a file; raises InputError where it cannot be read."""
    progress(Activity("reading", file.path))
    unit = read_unit(file)
    if isinstance(unit, Finding):
        raise InputError(unit)
    return unit


def start_launch(unit: KernelUnit, path: str, options: SimulateOptions) -> tuple[Function, str, StartedLaunch]:
    """Return the kernel of a unit that is meant, its name, and its launch; raises UsageError."""
    kernel, name = named_kernel(unit, options.kernel, path)
    options = _with_settings(options, kernel, name)
    started = _place_launch(unit, kernel, options, device(options.device).warp_width)
    _check_selection(options, started.launch)
    return kernel, name, started


def simulate_unit(unit: KernelUnit, path: str, options: SimulateOptions, clock: Clock) -> SimulationReport:
    """Run one kernel of a unit that was read from `path`, and report; raises UsageError."""
    # the kernel that is meant, how it is launched, and what it gets
    kernel, name = named_kernel(unit, options.kernel, path)
    options = _with_settings(options, kernel, name)
    gpu = device(options.device)
    started = _place_launch(unit, kernel, options, gpu.warp_width)
    _check_selection(options, started.launch)
    launch, memory, buffers, arguments = started.launch, started.memory, started.buffers, started.arguments
    clock.lap("parse")
    # the run, every lane by itself
    before = {given: bytes(buffer.data) for given, buffer in buffers.items()}
    limit = partial(_limit_time, options.settings, name, kernel)
    choice = EngineChoice(options.engine, options.timeline, text_order(unit.module), options.workers, options.selection)
    run = partial(execute, unit.module, kernel.name, launch, memory, choice, progress=options.progress)
    done, cut = _until_cut(run, limit(), kernel)
    clock.lap("run")
    # what it showed: lanes are put together to warps, and counted
    watched = Watched(unit, kernel, launch, memory, _sizes(arguments), done)
    sums, outcome = done.totals, done.outcome
    # the same launch under the policies that were asked for
    held = {given: bytes(buffer.data) for given, buffer in buffers.items()} if outcome.complete else None
    drawn = options.timeline and len(options.policies) == 1
    ordered = memory.checks and outcome.complete and not outcome.conflicts
    place = started.place_again
    bounded = replace(launch, max_steps=min(launch.max_steps, _MORE + _TIMES * outcome.steps))
    repeated = Repeated(unit.module, kernel.name, bounded, place, held, limit, options.engine, drawn, ordered)
    caches, cut = _run_with_caches(options, unit, kernel, started, cut)
    out = options.out if cut is None else {}
    again, cut = _run_again(options, repeated, cut)
    mistakes = tuple(m for m in mistakes_of(watched) if m.check == "fault" or m.check in options.checks)
    status, code, stopped = _end(outcome, mistakes, unit, cut)
    outputs = tuple(output_rows(arguments, buffers, before, out))
    clock.lap("count")
    return SimulationReport(
        inputs=(path,),
        status=status,
        exit_code=code,
        diagnostics=(
            *unit.findings,
            *stopped,
            *_note_machine(done, (ran for _, ran in again), kernel),
        ),
        kernel=name,
        device=gpu.name,
        warp_width=launch.warp,
        launch=_launch_row(started, options),
        work=Work(sums.warp_instructions, sums.lane_instructions, sums.issued_slots, sums.unfilled),
        checks=options.checks,
        branches=branch_rows(watched),
        blocks=block_rows(watched) if options.profile else (),
        memory=memory_rows(watched),
        mistakes=mistakes,
        outputs=outputs,
        timeline=timeline_of(_pieces(done, again)) if options.timeline else (),
        drawn=again[0][0].policy if options.timeline and len(again) == 1 and again[0][1] is not None else "",
        policies=tuple(row for row, _ in again),
        caches=caches,
        timing_s=clock.laps,
    )


def _launch_row(started: StartedLaunch, options: SimulateOptions) -> LaunchRow:
    """Return how the kernel was launched, and which warps are counted."""
    launch, chosen = started.launch, (options.selection.blocks, options.selection.warps)
    counted = map(_numbers, chosen)
    return LaunchRow(
        launch.grid, launch.block, started.shared, options.arguments, options.seed, _warps(launch), *counted
    )


def _pieces(done: Done, again: Sequence[tuple[PolicyRow, PolicyRun | None]]) -> Pieces:
    """Return what each warp executed: under the policy, where one was asked for alone."""
    if len(again) == 1 and again[0][1] is not None:
        return again[0][1].pieces.items()
    return () if done.pieces is None else done.pieces.warps()


def _place_launch(unit: KernelUnit, kernel: Function, options: SimulateOptions, width: int) -> StartedLaunch:
    """Return how a kernel is launched, with its arguments; `width`: lanes of the device's warps."""
    started = place_launch(
        unit, kernel, options.arguments, options.block, options.grid,
        shared=options.shared, checks=bool(options.checks), width=options.warp or width,
    )  # fmt: skip
    _check_out(options.out, started.arguments)
    return replace(started, launch=replace(started.launch, seed=options.seed, max_steps=options.max_steps))


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))


# --- what is asked for


def _with_settings(options: SimulateOptions, kernel: Function, name: str) -> SimulateOptions:
    """Return the options with what the configuration says of this kernel, as far as the command line does not."""
    if options.settings is None:
        return options
    said = options.settings.of_kernel(name)
    given = {argument.partition("=")[0].strip() for argument in options.arguments}
    parameters = {parameter.name for parameter in kernel.parameters}
    more = tuple(f"{one}={number}" for one, number in said.args.items() if one in parameters - given)
    arguments = (*more, *options.arguments)
    return replace(options, block=options.block or said.block, grid=options.grid or said.grid, arguments=arguments)


class _Cut(Struct, frozen=True):
    """What cut a run short that was counted until then."""

    exit_code: int
    findings: tuple[Finding, ...]


def _until_cut(
    run: Callable[..., Done], limit: AbstractContextManager[None], kernel: Function
) -> tuple[Done, _Cut | None]:
    """Run a kernel. Where the time is up, or Ctrl-C comes, return what was counted so far, if anything was."""
    rescued: list[Done] = []
    try:
        with limit:
            return run(rescue=rescued.append), None
    except (InputError, KeyboardInterrupt) as error:
        if not rescued:
            raise
        if isinstance(error, InputError):
            return rescued[0], _Cut(_OUT_OF_TIME, error.findings)
        return rescued[0], _Cut(INTERRUPTED, (Finding("INT001", "error", "interrupted", kernel.span),))


def _run_again(
    options: SimulateOptions, repeated: Repeated, cut: _Cut | None
) -> tuple[Sequence[tuple[PolicyRow, PolicyRun | None]], _Cut | None]:
    """Run a launch that nothing has cut short under the policies that are asked for. Where Ctrl-C comes, return what is
    there by then."""
    found: list[tuple[PolicyRow, PolicyRun | None]] = []
    try:
        for one in run_policies(options.policies if cut is None else (), repeated, options.progress):
            found.append(one)
    except KeyboardInterrupt:
        return found, _Cut(INTERRUPTED, (Finding("INT001", "error", "interrupted"),))
    return found, cut


def _run_with_caches(
    options: SimulateOptions, unit: KernelUnit, kernel: Function, started: StartedLaunch, cut: _Cut | None
) -> tuple[CacheRun | None, _Cut | None]:
    """Return what caches make of a launch that nothing has cut short, where that is asked for."""
    if not options.caches or cut is not None:
        return None, cut
    try:
        with _limit_time(options.settings, kernel.name, kernel):
            return run_with_caches(unit, kernel, started, device(options.device), options.progress), None
    except InputError as error:
        return None, _Cut(_OUT_OF_TIME, error.findings)
    except KeyboardInterrupt:
        return None, _Cut(INTERRUPTED, (Finding("INT001", "error", "interrupted", kernel.span),))


@contextmanager
def _limit_time(settings: Settings | None, name: str, kernel: Function) -> Iterator[None]:
    """Raise InputError where the run takes longer than is set."""
    seconds = settings.seconds("timeout") if settings is not None else 0.0
    try:
        with time_limit(seconds):
            yield
    except OutOfTimeError as error:
        message = f"{name} ran longer than {seconds:g} s: it was stopped"
        helps = ("raise --timeout, or make the launch smaller",)
        raise InputError(Finding("INP009", "error", message, kernel.span, helps)) from error


def _check_selection(options: SimulateOptions, launch: Launch) -> None:
    """Raise UsageError where warps are chosen that there are not."""
    chosen, warps = options.selection, -(-launch.threads // launch.warp)
    for option, numbers, count in (("--blocks", chosen.blocks, launch.blocks), ("--warps", chosen.warps, warps)):
        if numbers is not None and max(numbers) >= count:
            what = "blocks" if option == "--blocks" else "warps in a block"
            raise _usage(f"{option} {max(numbers)}: the launch has {count:,} {what}, numbered from 0")
    if options.policies and not chosen.whole:
        raise _usage("--policy counts all warps of a launch", "leave out --warps and --blocks")


def _check_out(out: Mapping[str, str], arguments: Sequence[Argument]) -> None:
    for name in out:
        if name not in [one.name for one in arguments if one.array is not None]:
            listed = ", ".join(one.name for one in arguments if one.array is not None) or "none"
            raise _usage(f"--out {name}: no argument of this name is an array", f"the arrays: {listed}")


# --- how it ends


def _note_machine(done: Done, again: Iterable[PolicyRun | None], kernel: Function) -> Iterator[Finding]:
    """Yield who ran the kernel, where another was asked for, once for each reason."""
    for note in dict.fromkeys(one.note for one in (done, *again) if one is not None and one.note):
        yield Finding("SIM007", "note", f"the interpreter ran it: {note}", kernel.span)
    if done.alone:
        yield Finding("SIM008", "note", f"one thread of this computer ran it: {done.alone}", kernel.span)


def _end(
    outcome: Outcome, mistakes: Sequence[Mistake], unit: KernelUnit, cut: _Cut | None
) -> tuple[Status, int, tuple[Finding, ...]]:
    """Return how the run ended; where something else than one of `mistakes` stopped it, that too."""
    if cut is not None:
        return "incomplete", cut.exit_code, cut.findings
    stopped: list[Finding] = []
    if not outcome.complete:
        cause = next(p for p in reversed(outcome.problems) if p.kind != "uninitialized")
        reported = any((m.finding.span, m.block, m.thread) == (cause.span, cause.block, cause.thread) for m in mistakes)
        if not reported or cause.kind in ("budget", "unmodeled", "other"):
            helps = ("raise --max-steps, or make the launch smaller",) if cause.kind == "budget" else ()
            stopped = [Finding("SIM006", "error", f"the run was stopped: {cause.message}", cause.span, helps)]
    if mistakes:
        return "negative", 1, tuple(stopped)
    # what could not be read may be a part of this kernel
    read = not any(finding.severity == "error" for finding in unit.findings)
    return ("ok", 0, ()) if outcome.complete and read else ("incomplete", 3, tuple(stopped))


def output_rows(
    arguments: Iterable[Argument], buffers: Mapping[str, Buffer], before: Mapping[str, bytes], out: Mapping[str, str]
) -> Iterable[OutputRow]:
    """Yield the buffers that the kernel changed, or that are asked for; those are written to their files."""
    for one in arguments:
        if one.array is None:
            continue
        data = bytes(buffers[one.name].data)
        if data == before[one.name] and one.name not in out:
            continue
        dtype = np.dtype(ELEMENTS[one.element])
        after, old = np.frombuffer(data, dtype), np.frombuffer(before[one.name], dtype)
        bits = np.dtype(f"<u{dtype.itemsize}")
        changed = int(np.count_nonzero(after.view(bits) != old.view(bits)))
        if one.name in out:
            save_array(out[one.name], after.reshape(one.array.shape))
        first = tuple(f"{value:g}" if dtype.kind == "f" else str(value) for value in after[:8])
        yield OutputRow(one.name, one.element, len(after), changed, first, out.get(one.name, ""))


def save_array(path: str, array: Array) -> None:
    """Write an array to a file of numpy; raises UsageError where that cannot be."""
    try:
        with Path(path).open("wb") as file:
            np.save(file, array)
    except OSError as error:
        message = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise UsageError(Finding("OUT002", "error", message, help=("choose another place",))) from error


def _sizes(arguments: Iterable[Argument]) -> dict[str, int]:
    """Return the bytes of an element of each array."""
    return {one.name: one.array.itemsize for one in arguments if one.array is not None}


def _numbers(chosen: tuple[int, ...] | None) -> tuple[int, ...]:
    return chosen or ()


def _warps(launch: Launch) -> int:
    return launch.blocks * -(-launch.threads // launch.warp)
