"""EXPERIMENT with clocks, a straight line: a program of the mask ISA runs once for each width and each input.

An input may have another machine (`machine.formation=homes`) or another program (`program=select.mask`) besides its
arguments, so that remedies stand side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions, ClockReport, read_program, simulate_clocks
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun, Varied
from warpsmith.report.history.thread_bars import MOST_BARS
from warpsmith.report.status import Status

__all__ = ["experiment_clocks"]

_MACHINE, _PROGRAM = "machine.", "program="
_WIDTHS = ("1", "2", "4", "8", "16", "32", "64")


def experiment_clocks(
    file: SourceFile,
    varied: Varied,
    options: ClockOptions,
    values: Sequence[str] = (),
    inputs: Mapping[str, Sequence[str]] | None = None,
) -> ExperimentReport:
    """Run all, and report; `inputs`: arguments by the name of each. Of the machine only the width varies, so its
    `lanes_per_alu` divides all widths; raises UsageError where it does not, or where `varied` is something else."""
    if varied not in ("width", "input"):
        raise _usage(f"experiment {varied}: of a program of the mask ISA, width or input varies")
    if varied == "input" and not inputs:
        raise _usage("an experiment by input needs inputs")
    if options.block is None:
        raise _usage("an experiment with clocks needs --block: how many threads, whatever the width is")
    asked = dict(inputs or {"": ()})
    widths = tuple(values) or _WIDTHS if varied == "width" else ("",)
    points, reports = [], []
    for width in widths:
        for name, arguments in asked.items():
            report = simulate_clocks(_program(file, arguments), _variant(options, width, arguments))
            reports.append(report)
            points.append(_point(report, width or name, name))
    found = tuple(dict.fromkeys(finding for report in reports for finding in report.findings))
    code = max(report.exit_code for report in reports)
    status: Status = "incomplete" if code == 3 else "negative" if code else "ok"
    return ExperimentReport((file.path,), status, code, varied, found, reports[0].history.title, tuple(points))


def _usage(message: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message))


def _program(file: SourceFile, arguments: Sequence[str]) -> SourceFile:
    """Return the program of an input."""
    named = [text.removeprefix(_PROGRAM) for text in arguments if text.startswith(_PROGRAM)]
    return read_program(named[-1]) if named else file


def _variant(options: ClockOptions, width: str, arguments: Sequence[str]) -> ClockOptions:
    keys = [text.removeprefix(_MACHINE) for text in arguments if text.startswith(_MACHINE)]
    own = [text for text in arguments if not text.startswith((_MACHINE, _PROGRAM))]
    given = {text.partition("=")[0] for text in own}
    kept = (text for text in options.arguments if text.partition("=")[0] not in given)
    machine = ",".join([options.machine, *([f"width={width}"] if width else []), *keys])
    return replace(options, machine=machine, arguments=(*kept, *own))


def _point(report: ClockReport, value: str, name: str) -> ExperimentRun:
    totals = report.history.run.totals
    issued = totals.instructions * report.history.machine.width
    stopped = next((one.message for one in report.findings if one.severity == "error"), "")
    return ExperimentRun(
        value, name, totals.instructions, totals.lane_instructions, issued, issued - totals.lane_instructions,
        stopped=stopped and f"stopped: {stopped}", clocks=totals.clocks,
        threads=tuple(map(tuple, report.history.run.thread_clocks[:MOST_BARS].tolist())),
    )  # fmt: skip
