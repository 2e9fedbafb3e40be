"""What `analyze` does with programs of AMD IL, and kernels for its GPUs: they have a report of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from warpsmith.app.cli.console import tell
from warpsmith.app.cli.options import text, texts
from warpsmith.app.cli.output import write_result
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.analyze_il import analyze_il_files
from warpsmith.machine.vliw.gpus import is_vliw
from warpsmith.report.vliw.json import vliw_json
from warpsmith.report.vliw.text import vliw_text

__all__ = ["are_il", "run_analysis"]

_FORMATS = ("text", "json")


def are_il(paths: tuple[str, ...], devices: tuple[str, ...]) -> bool:
    """Whether the files that are named are counted in bundles: programs of IL, and any kernels for a GPU of those
    years; raises UsageError where some are."""
    if paths and devices and all(is_vliw(name) for name in _names(devices)):
        return True
    found = [Path(path).suffix.lower() == ".il" for path in paths]
    if any(found) and not all(found):
        message = f"{paths[found.index(True)]} is a program of AMD IL, which has a report of its own"
        raise UsageError(Finding("INP000", "error", message, help=("name .il files alone",)))
    return any(found)


def _names(devices: tuple[str, ...]) -> list[str]:
    return [name for text in devices for name in text.split(",")]


def run_analysis(paths: tuple[str, ...], given: Mapping[str, object], outputs: Mapping[str, str | None]) -> int:
    """Write the report on programs of IL in every form that is asked for; return the exit code."""
    unknown = [form for form in outputs if form not in _FORMATS]
    if unknown:
        message = f"programs of AMD IL have no format '{unknown[0]}'"
        raise UsageError(Finding("INP000", "error", message, help=(f"the formats: {', '.join(_FORMATS)}",)))
    report = analyze_il_files(paths, _names(texts(given["device"])), texts(given["assume"]))
    tell(one for row in report.rows for one in row.findings if one.severity == "error")
    for form, file in outputs.items():
        code = text(given["evidence"]) == "full"
        rendered = vliw_json(report) if form == "json" else vliw_text(report, code=code)
        if file is None:
            click.echo(rendered)
        else:
            write_result(file, rendered + "\n")
    return 0 if report.status == "incomplete" and given["allow_incomplete"] else report.exit_code
