"""`warpsmith diff`: what changed between two reports, or two sources."""

from __future__ import annotations

import json
from pathlib import Path

import click

from warpsmith import __version__
from warpsmith.app.cli.command import Command, global_options
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.options import compiler_arguments
from warpsmith.app.cli.settings import kernel_files, kernel_options, launching_of, settings_of
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.report.difference import compare_reports, difference_json, difference_text, read_report
from warpsmith.report.json_parts import SCHEMA, Json

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
    """
    difference = compare_reports(_report(old, given), _report(new, given), files_count=Path(old).suffix == ".json")
    if global_options().json:
        status = "negative" if difference.is_worse else "ok"
        head: Json = {"schema": SCHEMA, "command": "diff", "version": __version__, "inputs": [old, new]}
        rest: Json = {"status": status, "diagnostics": [], "diff": difference_json(difference)}
        click.echo(json.dumps(head | rest, indent=2, ensure_ascii=False))
    else:
        click.echo(difference_text(difference))
    return 1 if difference.is_worse else 0


def _report(path: str, given: dict[str, object]) -> Json:
    if Path(path).suffix == ".json":
        return read_report(path)
    if not Path(path).is_file():
        raise UsageError(Finding("INP001", "error", f"{path} is no file", help=("name a report or a source",)))
    text = _kernels(path, given) if Path(path).suffix in _KERNELS else _loops(path, given)
    loaded: Json = json.loads(text)
    return loaded


def _kernels(path: str, given: dict[str, object]) -> str:
    # what analyzes and what ports take long to load: each where it is wanted
    from warpsmith.flows.explain import ExplainOptions, explain
    from warpsmith.report.analysis_json import analysis_json

    settings = settings_of(given)
    report = explain(kernel_files((path,), given, settings), ExplainOptions(settings, launching_of(given), (), None))
    tell(report.diagnostics)
    return analysis_json(report)


def _loops(path: str, given: dict[str, object]) -> str:
    from warpsmith.flows.port import PortOptions, port
    from warpsmith.front.load import FrontOptions
    from warpsmith.report.build import loop_entries
    from warpsmith.report.json_form import report_json
    from warpsmith.report.model import Report

    result = port([path], PortOptions(front=FrontOptions(arguments=compiler_arguments(given)), survey=True))
    tell(result.diagnostics)
    return report_json(Report("diff", (path,), "ok", loops=loop_entries(result.prepared, None)))
