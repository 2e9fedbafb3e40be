"""`warpsmith diff`: what changed between two reports, or two sources."""

from __future__ import annotations

import json
from pathlib import Path

import click

from warpsmith.app.cli.about.launching import kernel_files, kernel_options, launching_of
from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.failure import exit_code
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import front_options
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.difference import compare_reports, difference_json, difference_text, read_report
from warpsmith.report.json_parts import Json, document
from warpsmith.report.status import Status

__all__ = ["command"]

_KERNELS = (".cu", ".cl", ".ptx")


@click.command("diff", cls=Command)
@click.argument("old")
@click.argument("new")
@kernel_options
def command(old: str, new: str, **given: object) -> int:
    """Say what changed from OLD to NEW: findings, numbers of kernels, categories of loops.

    OLD and NEW are reports (.json, as --json writes them) or sources: kernels (.cu, .cl, .ptx) are analyzed as
    `analyze` does, loops of C and C++ are judged as `port --survey` does.

    \b
    Exit codes: 0 nothing is worse   1 new errors or warnings, or a loop that is no longer portable   2 usage
                3 a part of a source could not be read   124 out of time
    """
    diagnostics: list[Finding] = []
    reports = [_report(path, given, diagnostics) for path in (old, new)]
    difference = compare_reports(*reports, files_count=Path(old).suffix == ".json")
    broken = any(finding.severity == "error" for finding in diagnostics)
    status: Status = "negative" if difference.is_worse else "incomplete" if broken else "ok"
    if global_options().json:
        click.echo(document("diff", (old, new), {"diff": difference_json(difference)}, status, diagnostics))
    else:
        click.echo(difference_text(difference))
    return exit_code(status, diagnostics)


def _report(path: str, given: dict[str, object], diagnostics: list[Finding]) -> Json:
    if Path(path).suffix == ".json":
        return read_report(path)
    if not Path(path).is_file():
        raise UsageError(Finding("INP001", "error", f"{path} is no file", help=("name a report or a source",)))
    text = _kernels(path, given, diagnostics) if Path(path).suffix in _KERNELS else _loops(path, given, diagnostics)
    loaded: Json = json.loads(text)
    return loaded


def _kernels(path: str, given: dict[str, object], diagnostics: list[Finding]) -> str:
    # what analyzes and what ports take long to load: each where it is wanted
    from warpsmith.flows.explain import ExplainOptions, explain
    from warpsmith.report.analysis.json import analysis_json

    settings = settings_of(given)
    report = explain(kernel_files((path,), given, settings), ExplainOptions(settings, launching_of(given), (), None))
    if report.status == "error":
        raise InputError(*report.diagnostics)
    tell(report.diagnostics)
    diagnostics += report.diagnostics
    return analysis_json(report)


def _loops(path: str, given: dict[str, object], diagnostics: list[Finding]) -> str:
    from warpsmith.flows.port import PortOptions, port
    from warpsmith.report.model import Report
    from warpsmith.report.port.build import loop_entries
    from warpsmith.report.port.json import report_json

    result = port([path], PortOptions(front=front_options(given, settings_of(given)), survey=True))
    tell(result.diagnostics)
    diagnostics += result.diagnostics
    return report_json(Report("diff", (path,), "ok", loops=loop_entries(result.prepared, None)))
