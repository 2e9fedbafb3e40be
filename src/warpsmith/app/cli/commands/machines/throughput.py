"""What `analyze --throughput` prints: threads a second on each GPU of a list, in the form of analyzers of shaders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from warpsmith.app.cli.about.launching import kernel_files, launching_of
from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.options import texts
from warpsmith.app.cli.output import write_result
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.machine.devices import device
from warpsmith.machine.vliw.gpus import is_vliw

__all__ = ["asks_throughput", "run_throughput"]

_FORMATS = ("text", "json")


def asks_throughput(paths: tuple[str, ...], given: Mapping[str, object]) -> bool:
    """Whether threads a second are asked for: by the option, or of programs of IL for GPUs that have no bundles."""
    names = _names(given)
    if names and all(map(is_vliw, names)):
        return False
    return bool(given["throughput"]) or (
        bool(names) and not any(map(is_vliw, names)) and all(Path(path).suffix.lower() == ".il" for path in paths)
    )


def run_throughput(paths: tuple[str, ...], given: Mapping[str, object], outputs: Mapping[str, str | None]) -> int:
    """Write the report in every form that is asked for; return the exit code."""
    # loaded here: what counts launches takes a tenth of a second to import
    from warpsmith.flows.explaining.throughput import measure_throughput, modern_devices
    from warpsmith.report.throughput.json import throughput_json
    from warpsmith.report.throughput.text import throughput_text

    _check(paths, given, outputs)
    settings = settings_of(given)
    devices = tuple(map(device, _names(given))) or modern_devices()
    files = kernel_files(paths, given, settings)
    report = measure_throughput(files, devices, launching_of(given), settings, texts(given["kernel"]))
    tell(one for row in report.rows for one in row.findings if one.severity == "error")
    for form, file in outputs.items():
        rendered = throughput_json(report) if form == "json" else throughput_text(report)
        if file is None:
            click.echo(rendered)
        else:
            write_result(file, rendered + "\n")
    return 0 if report.status == "incomplete" and given["allow_incomplete"] else report.exit_code


def _names(given: Mapping[str, object]) -> list[str]:
    return [name for text in texts(given["device"]) for name in text.split(",")]


def _check(paths: tuple[str, ...], given: Mapping[str, object], outputs: Mapping[str, str | None]) -> None:
    """Raise UsageError where something is asked for that there is not."""
    unknown = [form for form in outputs if form not in _FORMATS]
    if unknown:
        message = f"threads a second have no format '{unknown[0]}'"
        raise UsageError(Finding("INP000", "error", message, help=(f"the formats: {', '.join(_FORMATS)}",)))
    old = [name for name in _names(given) if is_vliw(name)]
    if old:
        message = f"{old[0]} has bundles, and the others have none"
        raise UsageError(Finding("INP000", "error", message, help=("ask for the two kinds of GPUs one by one",)))
    if not paths:
        raise UsageError(Finding("INP001", "error", "no input: the command line names no file"))
