"""`warpsmith baseline`: findings that are known and accepted, so that only new ones are told."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from warpsmith.app.cli.options import texts
from warpsmith.app.cli.settings import config_options, kernel_files, kernel_options, launching_of, settings_of
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding, render_finding
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.report.analysis import AnalysisReport
from warpsmith.report.analysis_numbers import counted
from warpsmith.report.analysis_text import analysis_concise, columns
from warpsmith.report.baseline import Baseline, Entry, baseline_text, entry_of, read_baseline
from warpsmith.settings.model import Settings

__all__ = ["command"]

DEFAULT = "warpsmith-baseline.json"


@click.group("baseline")
def command() -> None:
    """Write, check, prune or show a baseline: findings that are known, so that only new ones are told."""


def _options(function: click.decorators.FC) -> click.decorators.FC:
    function = click.option("--baseline", metavar="FILE", help=f"The baseline (default {DEFAULT}).")(function)
    function = click.option("--min-certainty", type=click.Choice(["proven", "conditional", "heuristic"]))(function)
    return config_options(kernel_options(function))


@command.command("write")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def write(paths: tuple[str, ...], **given: object) -> int:
    """Take all findings of PATHS as known.

    Entries of files that are not among PATHS are kept.
    """
    settings = settings_of(given)
    path = _path(settings)
    report = _analyzed(paths, given, settings, None)
    old = read_baseline(path).entries.values() if Path(path).exists() else ()
    new = {entry_of(one) for one in report.findings if one.fingerprint}
    read = {*report.inputs, *(entry.file for entry in new)}
    kept = {entry for entry in old if entry.file not in read}
    _store(path, kept | new)
    click.echo(f"{path}: {counted(len(new), 'finding')} of {counted(len(report.inputs), 'file')}, {len(kept)} kept")
    return 3 if report.status == "incomplete" else report.exit_code if report.status == "error" else 0


@command.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def check(paths: tuple[str, ...], **given: object) -> int:
    """Exit with 1 where PATHS have new findings.

    These are listed: findings that the baseline does not know.
    """
    settings = settings_of(given)
    report = _analyzed(paths, given, settings, read_baseline(_path(settings)))
    new = [one for one in report.findings if one.fingerprint]
    known = sum(one.hidden == "baseline" for one in report.kept_back)
    if report.findings:
        click.echo(analysis_concise(report))
    click.echo(f"{counted(len(new), 'new finding')}, {known} known")
    return report.exit_code if report.status in ("error", "incomplete") else 1 if new else 0


@command.command("prune")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def prune(paths: tuple[str, ...], **given: object) -> int:
    """Take out of the baseline what PATHS no longer have."""
    settings = settings_of(given)
    path = _path(settings)
    baseline = read_baseline(path)
    report = _analyzed(paths, given, settings, None)
    if report.status == "error":
        return report.exit_code
    now = {one.fingerprint for one in (*report.findings, *report.kept_back)}
    read = {*report.inputs, *(entry_of(one).file for one in (*report.findings, *report.kept_back))}
    kept = {e for e in baseline.entries.values() if e.fingerprint in now or e.file not in read}
    _store(path, kept)
    click.echo(f"{path}: {counted(len(baseline.entries) - len(kept), 'finding')} taken out, {len(kept)} kept")
    return 0


@command.command("show")
@click.option("--baseline", metavar="FILE", help=f"The baseline (default {DEFAULT}).")
@config_options
def show(**given: object) -> int:
    """List what the baseline has."""
    baseline = read_baseline(_path(settings_of(given)))
    rows = [(e.file, e.rule, e.kernel, e.message) for e in sorted(baseline.entries.values())]
    if rows:
        click.echo("\n".join(columns([("file", "rule", "kernel", "finding"), *rows])))
    click.echo(f"{baseline.path}: {counted(len(rows), 'finding')}")
    return 0


def _path(settings: Settings) -> str:
    return settings.text("baseline") or DEFAULT


def _analyzed(
    paths: tuple[str, ...], given: dict[str, object], settings: Settings, baseline: Baseline | None
) -> AnalysisReport:
    files = kernel_files(paths, given, settings)
    report = explain(files, ExplainOptions(settings, launching_of(given), texts(given["kernel"]), baseline))
    for finding in report.diagnostics:
        click.echo(render_finding(finding), err=True)
    return report


def _store(path: str, entries: set[Entry]) -> None:
    """Write a baseline, whole or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=".warpsmith-", dir=Path(path).parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(baseline_text(entries))
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as error:
        message = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise UsageError(
            Finding("OUT002", "error", message, help=("choose another place: --baseline FILE",))
        ) from error
