"""`warpsmith baseline`: findings that are known and accepted, so that only new ones are reported."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
from msgspec.structs import asdict, replace

from warpsmith.app.cli.about.launching import kernel_files, kernel_options, launching_of
from warpsmith.app.cli.about.settings import BASELINE, baseline_path, is_found, settings_of
from warpsmith.app.cli.command import Group
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import text, texts
from warpsmith.app.cli.output import check_free, refuse_dash, write_result
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.report.analysis.json import analysis_json
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.numbers import count_noun
from warpsmith.report.analysis.silenced.baseline import (
    Baseline,
    BaselineEntry,
    baseline_text,
    entry_of,
    name_in,
    read_baseline,
)
from warpsmith.report.analysis.text import analysis_concise, columns
from warpsmith.report.json_parts import Json, document
from warpsmith.settings.model import Settings

__all__ = ["command"]


@click.group("baseline", cls=Group)
def command() -> None:
    """Write, check, prune or show a baseline: findings that are known, so that only new ones are reported."""


def _options(function: click.decorators.FC) -> click.decorators.FC:
    function = click.option("--baseline", metavar="FILE", help=f"The baseline (default {BASELINE}).")(function)
    function = click.option("--min-certainty", type=click.Choice(["proven", "witnessed", "conditional", "heuristic"]))(
        function
    )
    return kernel_options(function)


@command.command("write", writes=True)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def write(paths: tuple[str, ...], **given: object) -> int:
    """Take all findings of PATHS as known.

    Entries of files that are not among PATHS are kept. -o FILE begins a new baseline there.
    """
    said = global_options()
    if said.output is not None:
        check_free(str(Path(said.output).parent), [Path(said.output).name], force=said.force)
    refuse_dash(text(given["baseline"]), "--baseline")
    settings = settings_of(given | ({"baseline": said.output} if said.output is not None else {}))
    path = _path(settings)
    report = _analyze_paths(paths, given, settings, None)
    old = read_baseline(path).entries if Path(path).exists() and said.output is None else ()
    new = {entry_of(one, path) for one in report.findings if one.fingerprint}
    read = {*(name_in(path, file) for file in report.inputs), *(entry.file for entry in new)}
    kept = {entry for entry in old if entry.file not in read}
    _store(path, kept | new)
    done = f"{path}: {count_noun(len(new), 'finding')} of {count_noun(len(report.inputs), 'file')}, {len(kept)} kept"
    _report_findings(
        f"{done}\n{_who_uses(path, settings)}", report, {"path": path, "taken": len(new), "kept": len(kept)}, path
    )
    return 3 if report.status == "incomplete" else report.exit_code if report.status == "error" else 0


@command.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def check(paths: tuple[str, ...], **given: object) -> int:
    """Exit with 1 where PATHS have new findings.

    These are listed: findings that the baseline does not know.
    """
    settings = settings_of(given)
    report = _analyze_paths(paths, given, settings, read_baseline(_path(settings)))
    new = [one for one in report.findings if one.fingerprint]
    known = sum(one.hidden == "baseline" for one in report.kept_back)
    code = report.exit_code if report.status in ("error", "incomplete") else 1 if new else 0
    if code == 1:
        report = replace(report, status="negative")
    listed = f"{analysis_concise(report)}\n" if report.findings else ""
    text = f"{listed}{count_noun(len(new), 'new finding')}, {known} known"
    _report_findings(text, report, {"path": _path(settings), "new": len(new), "known": known})
    return code


@command.command("prune")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@_options
def prune(paths: tuple[str, ...], **given: object) -> int:
    """Take out of the baseline what PATHS no longer have."""
    settings = settings_of(given)
    path = _path(settings)
    baseline = read_baseline(path)
    report = _analyze_paths(paths, given, settings, None)
    if report.status == "error":
        _report_findings("", report, {"path": path})
        return report.exit_code
    kept = set(baseline.entries) - set(baseline.stale((*report.findings, *report.kept_back), report.inputs))
    _store(path, kept)
    out = len(baseline.entries) - len(kept)
    text = f"{path}: {count_noun(out, 'finding')} taken out, {len(kept)} kept"
    _report_findings(text, report, {"path": path, "removed": out, "kept": len(kept)}, path)
    return 0


@command.command("show")
@click.option("--baseline", metavar="FILE", help=f"The baseline (default {BASELINE}).")
def show(**given: object) -> int:
    """List what the baseline has."""
    baseline = read_baseline(_path(settings_of(given)))
    rows = [(e.file, e.rule, e.kernel, e.message) for e in sorted(baseline.entries)]
    if global_options().json:
        entries = [asdict(entry) for entry in sorted(baseline.entries)]
        click.echo(document("baseline", (), {"baseline": {"path": baseline.path, "entries": entries}}))
        return 0
    if rows:
        click.echo("\n".join(columns([("file", "rule", "kernel", "finding"), *rows])))
    click.echo(f"{baseline.path}: {count_noun(len(rows), 'finding')}")
    return 0


def _who_uses(path: str, settings: Settings) -> str:
    """Return how `analyze` comes to the baseline that was written."""
    if is_found(path, settings):
        return "`warpsmith analyze` uses it from here on; --no-baseline shows everything"
    said = f"`warpsmith analyze --baseline {shlex.quote(path)}` uses it"
    return f"{said}; `baseline = {json.dumps(path, ensure_ascii=False)}` in warpsmith.toml makes that the default"


def _report_findings(text: str, report: AnalysisReport, counts: Json, written: str | None = None) -> None:
    """Print what was done, as text, or as one document with the findings that are new."""
    if not global_options().json:
        if text:
            click.echo(text)
        return
    found = json.loads(analysis_json(report))
    rows: Json = {"findings": found["findings"]} if "findings" in found and "new" in counts else {}
    rows |= {"baseline": counts} | ({"outputs": [written]} if written is not None else {})
    click.echo(document("baseline", report.inputs, rows, report.status, report.diagnostics))


def _path(settings: Settings) -> str:
    return baseline_path(settings)


def _analyze_paths(
    paths: tuple[str, ...], given: dict[str, object], settings: Settings, baseline: Baseline | None
) -> AnalysisReport:
    files = kernel_files(paths, given, settings)
    report = explain(files, ExplainOptions(settings, launching_of(given), texts(given["kernel"]), baseline))
    tell(report.diagnostics)
    return report


def _store(path: str, entries: set[BaselineEntry]) -> None:
    write_result(path, baseline_text(entries), remedy="choose another place: --baseline FILE")
