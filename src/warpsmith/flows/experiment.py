"""EXPERIMENT, a straight line: one kernel is run once for each value of what is varied, and for each input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.clock import Clock
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import INTERRUPTED, SimulateOptions, read_kernels, simulate_unit
from warpsmith.kernels.shape import dim_of
from warpsmith.kernels.units import KernelFile
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun, Varied
from warpsmith.report.simulation.model import PolicyRow, SimulationReport
from warpsmith.simt.launch import Dim
from warpsmith.simt.policies.machine import POLICIES

__all__ = ["ExperimentOptions", "experiment"]

WIDTHS = ("1", "2", "4", "8", "16", "32", "64")
BLOCKS = ("32", "64", "128", "256", "512", "1024")


class ExperimentOptions(Struct, frozen=True):
    """`varied`, its `values` (those that are usual, where there are none), and the `inputs`: arguments by the name of
    each, in place of those of the same parameters in `base`."""

    varied: Varied
    base: SimulateOptions
    values: tuple[str, ...] = ()
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def experiment(file: KernelFile, options: ExperimentOptions) -> ExperimentReport:
    """Run all, and report.

    Raises UsageError where what was asked for makes no sense, InputError where the file cannot be read.
    """
    if options.varied == "input" and not options.inputs:
        raise _usage("an experiment by input needs inputs", "--input 'sorted: v=iota:i32[n]' --input 'equal: v=…'")
    unit = read_kernels(file, options.base.progress)
    reports: list[SimulationReport] = []
    points: list[ExperimentRun] = []
    for name, value, variant in _runs(options):
        report = simulate_unit(unit, file.path, variant, Clock())
        reports.append(report)
        points += _points(report, value or name, name)
        if report.exit_code == INTERRUPTED:
            break
    found = tuple(dict.fromkeys(finding for report in reports for finding in report.diagnostics))
    code = max(report.exit_code for report in reports)
    status = next(report.status for report in reports if report.exit_code == code)
    ordered = sorted(points, key=lambda p: [q.value for q in points].index(p.value))
    return ExperimentReport((file.path,), status, code, options.varied, found, reports[0].kernel, tuple(ordered))


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))


def _runs(options: ExperimentOptions) -> Iterator[tuple[str, str, SimulateOptions]]:
    """Yield all runs: the name of the input, the value of what is varied, the options."""
    for name, arguments in (options.inputs or {"": ()}).items():
        for value, variant in _variants(options, arguments):
            yield name, value, variant


def _variants(options: ExperimentOptions, arguments: Sequence[str]) -> Iterator[tuple[str, SimulateOptions]]:
    """Yield the options of each run, with the value of what is varied."""
    given = {text.partition("=")[0].strip() for text in arguments}
    kept = tuple(text for text in options.base.arguments if text.partition("=")[0].strip() not in given)
    base = replace(options.base, arguments=(*kept, *arguments), profile=True)
    match options.varied:
        case "width":
            for value in options.values or WIDTHS:
                yield value, replace(base, warp=_number(value, "width", 64))
        case "block":
            for value in options.values or BLOCKS:
                yield value, _with_block(base, dim_of(value, "--values"))
        case "policy":
            wanted = options.values or POLICIES
            unknown = next((value for value in wanted if value not in POLICIES), None)
            if unknown is not None:
                raise _usage(f"--values: there is no policy '{unknown}'", f"some of {', '.join(POLICIES)}")
            yield "", replace(base, policies=tuple(policy for policy in POLICIES if policy in wanted))
        case "input":
            yield "", base


def _number(text: str, what: str, most: int) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise _usage(f"--values: a {what} is a number from 1 to {most}; it got '{text}'")
    return int(text)


def _with_block(base: SimulateOptions, block: Dim) -> SimulateOptions:
    """Return options with another block, and as many of them as there are threads."""
    if base.block is None:
        raise _usage("an experiment by block needs --block and --grid, which say how many threads there are")
    threads = prod(base.block) * prod(base.grid or (1, 1, 1))
    return replace(base, block=block, grid=(-(-threads // prod(block)), 1, 1))


def _points(report: SimulationReport, value: str, name: str) -> Iterator[ExperimentRun]:
    if report.policies:
        yield from (_of_policy(row, name) for row in report.policies)
        return
    work, hot = report.work, next(iter(report.blocks), None)
    assert work is not None
    incomplete = report.status == "incomplete"
    lost = work.issued_slots - work.lane_instructions - work.unfilled_slots
    yield ExperimentRun(
        value, name, work.warp_instructions, work.lane_instructions, work.issued_slots, lost,
        None if hot is None else hot.span, 0 if hot is None else hot.visits, 0 if hot is None else hot.lanes,
        "stopped: " + report.diagnostics[-1].message if incomplete and report.diagnostics else "",
    )  # fmt: skip


def _of_policy(row: PolicyRow, name: str) -> ExperimentRun:
    return ExperimentRun(
        row.policy, name, row.warp_instructions, row.lane_instructions, row.issued_slots, row.lost_lane_slots,
        stopped=row.stopped,
    )  # fmt: skip
