"""`warpsmith analyze`: what the kernels of CUDA, OpenCL and PTX files cost, and what is wrong with them."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Final, cast

import click

from warpsmith.app.cli.about.launching import kernel_files, kernel_options, launching_of
from warpsmith.app.cli.about.settings import baseline_path, default_settings, is_found, settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.commands.analyze_il import are_il, run_analysis
from warpsmith.app.cli.commands.edits.fixes import Editing, edited_report, fix_options
from warpsmith.app.cli.commands.machines.throughput import asks_throughput, run_throughput
from warpsmith.app.cli.commands.watch import watch_for_changes
from warpsmith.app.cli.console import is_colored, tell
from warpsmith.app.cli.crash import crash_file
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import texts
from warpsmith.app.cli.output import write_result
from warpsmith.base.errors import UsageError, WarpsmithError
from warpsmith.base.findings import Finding, Severity
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.flows.explaining.explain_file import Times
from warpsmith.report.analysis.csv import analysis_csv
from warpsmith.report.analysis.github import analysis_github
from warpsmith.report.analysis.groups import GroupBy
from warpsmith.report.analysis.html.page import analysis_html
from warpsmith.report.analysis.json import analysis_json, analysis_jsonl
from warpsmith.report.analysis.junit import analysis_junit
from warpsmith.report.analysis.markdown import analysis_markdown
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.numbers import sort_findings
from warpsmith.report.analysis.sarif import analysis_sarif
from warpsmith.report.analysis.silenced.baseline import read_baseline
from warpsmith.report.analysis.text import TextOptions, analysis_concise, analysis_text
from warpsmith.settings.model import Settings

__all__ = ["command"]

_FOR_PEOPLE: Final = ("text", "html", "markdown")
FORMATS: Final = ("text", "concise", "json", "jsonl", "sarif", "html", "github", "markdown", "junit", "csv")


@click.command("analyze", cls=Command)
@click.argument("paths", nargs=-1, metavar="PATHS...")
@kernel_options
@click.option("-p", "database", metavar="PATH", help="A compile_commands.json, or the folder that holds it.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "note", "never"]), help="The gate (default error).")
@click.option(
    "--min-certainty",
    type=click.Choice(["proven", "witnessed", "conditional", "heuristic"]),
    help="Show what is at least so certain (default conditional).",
)
@click.option(
    "--runs",
    type=click.FloatRange(0),
    metavar="S",
    help="Find races by running kernels, so many seconds a file (default 3; 0: none).",
)
@click.option("--format", "forms", multiple=True, metavar="FMT[=FILE]", help=f"{', '.join(FORMATS)}; may be repeated.")
@click.option("--sort", type=click.Choice(["impact", "line", "rule"]), help="The order (impact in text and html).")
@click.option("--group-by", type=click.Choice(["kernel", "rule", "file"]), help="Put text under headings.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Print N findings as text; 0: all.")
@click.option("--context", type=click.IntRange(0), metavar="N", help="Source lines around a finding.")
@click.option("--evidence", type=click.Choice(["none", "short", "full"]), help="Tables that show it (default short).")
@click.option("--baseline", metavar="FILE", help="Findings in this file are known and not shown.")
@click.option("--no-baseline", is_flag=True, help="Show what the baseline has as well.")
@click.option("--show-suppressed", is_flag=True, help="List what comments and the baseline keep back.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what comes from standard input (-).")
@click.option(
    "--ptxas",
    is_flag=True,
    help="Ask ptxas for the registers of PTX and, with NVRTC, of CUDA kernels (else estimated).",
)
@click.option("--require-input", is_flag=True, help="No file at all is an error.")
@click.option("--allow-incomplete", is_flag=True, help="Exit code 0 where a part could not be read.")
@fix_options
@click.option("--watch", is_flag=True, help="Run again whenever a file changes, until Ctrl-C.")
@click.option(
    "--what-if", type=click.Choice(["blocks"]), help="Predict the time of the same threads in blocks of other shapes."
)
@click.option(
    "--metrics", is_flag=True, help="Every number of each kernel as a table, predicted times, and its access matrices."
)
@click.option(
    "--throughput", is_flag=True, help="Threads a second on each GPU of --device, or of a list, and what decides."
)
def command(paths: tuple[str, ...], **given: object) -> int:
    """Say what the kernels in PATHS cost and what is wrong with them, without a GPU.

    A path is a file (.cu, .cl, .ptx), a folder, or - for standard input; with -p alone, all device code that is
    compiled there. Programs of AMD IL (.il) are counted as bundles of GPUs of 2007 to 2011, or of those of --device
    (hd3870); so are the kernels of other files for such a --device. --evidence full prints the bundles. Numbers are
    worked out from the text: they are a model, not a measurement.

    \b
    Exit codes: 0 nothing at the gate   1 findings at the gate   2 usage, or nothing could be read
                3 a part could not be read   70 an error of ours   124 out of time
    """
    outputs = _outputs(texts(given["forms"]), as_json=global_options().json)
    editing = Editing.of(given)
    if given["watch"]:
        _check_watch(paths, editing)
    counted = asks_throughput(paths, given)
    if counted or are_il(paths, texts(given["device"])):
        run = partial(run_throughput if counted else run_analysis, paths, given, outputs)
        return watch_for_changes(run, lambda: paths) if given["watch"] else run()
    if not given["watch"]:
        report = _run(paths, given, outputs, editing)
        return 0 if report.status == "incomplete" and given["allow_incomplete"] else report.exit_code
    included: dict[str, None] = {}

    def again() -> None:
        # what was included once is watched on: the change that mends a file may be there
        included.update(dict.fromkeys(_run(paths, given, outputs, editing).headers))

    return watch_for_changes(again, lambda: [*_watched_files(paths, given), *included])


def _check_watch(paths: tuple[str, ...], editing: Editing) -> None:
    """Raise UsageError where a report at every change of a file makes no sense."""
    if editing.any or "-" in paths or global_options().output is not None:
        other = "not standard input" if "-" in paths else "not with edits" if editing.any else "not with -o"
        message = f"--watch prints a report at every change of a file: {other}"
        raise UsageError(Finding("INP000", "error", message, help=("leave one of the two out",)))


def _watched_files(paths: tuple[str, ...], given: dict[str, object]) -> list[str]:
    settings = settings_of(given)
    configured = sorted(origin for origin in set(settings.origins.values()) if Path(origin).is_file())
    return [*(file.path for file in kernel_files(paths, given, settings)), *configured]


def _run(
    paths: tuple[str, ...], given: dict[str, object], outputs: dict[str, str | None], editing: Editing
) -> AnalysisReport:
    """Analyze once, edit what shall be edited, write the report in every form, and return it."""
    try:
        settings = settings_of(given)
        report = _report(paths, settings, given, editing)
    except WarpsmithError as error:
        if set(outputs) <= {"text", "concise"}:
            raise
        settings = default_settings()
        report = AnalysisReport(paths, "negative" if error.exit_code == 1 else "error", error.exit_code, error.findings)
    tell(report.diagnostics)
    if report.crash:
        click.echo(f"the details of the error are in {crash_file(sys.argv[1:], report.crash)}", err=True)
    if editing.diff and not texts(given["forms"]) and not global_options().json:
        return report
    asked = settings.origins["sort"] != "default"
    for form, file in outputs.items():
        order = settings.text("sort") if asked else "impact" if form in _FOR_PEOPLE else "line"
        _write(_render_report(sort_findings(report, order), form, settings, given), file, err=editing.diff)
    return report


def _outputs(forms: tuple[str, ...], *, as_json: bool) -> dict[str, str | None]:
    """Return each format with the file that it goes to (None: stdout); one at most goes to stdout."""
    found: dict[str, str | None] = {}
    for form in (*forms, *(["json"] if as_json and "json" not in forms else [])):
        name, _, file = form.partition("=")
        if name not in FORMATS:
            message = f"no format is called '{name}'"
            raise UsageError(Finding("INP000", "error", message, help=(f"the formats: {', '.join(FORMATS)}",)))
        found[name] = None if file == "-" else file or None
    found = found or {"text": None}
    if sum(file is None for file in found.values()) > 1:
        listed = ", ".join(name for name, file in found.items() if file is None)
        helps = ("give all but one a file: --format sarif=report.sarif",)
        raise UsageError(Finding("INP000", "error", f"several formats for one output: {listed}", help=helps))
    return found


def _report(paths: tuple[str, ...], settings: Settings, given: dict[str, object], editing: Editing) -> AnalysisReport:
    launching = launching_of(given)
    files = kernel_files(paths, given, settings)
    if not files:
        named = ", ".join(paths) or "the command line"
        message = f"no input: {named} {'has no files that match the setting `include`' if paths else 'names no file'}"
        finding = Finding("INP001", "warning", message, None, ("name a .cu, .cl or .ptx file, or a folder",))
        if not paths or given["require_input"]:
            raise UsageError(Finding("INP001", "error", message, None, finding.help))
        return AnalysisReport(paths, "ok", 0, (*settings.findings, finding))
    known = "" if given["no_baseline"] else baseline_path(settings)
    wanted = bool(settings.text("baseline")) or (is_found(known, settings) and Path(known).is_file())
    baseline = read_baseline(known) if known and wanted else None
    drawn = any(form.partition("=")[0] == "html" for form in texts(given["forms"]))
    kernels = texts(given["kernel"])
    options = ExplainOptions(
        settings, launching, kernels, baseline, bool(given["ptxas"]), drawn, fixes=True,
        patterns=bool(given["metrics"]), times=_times(given),
    )  # fmt: skip
    return edited_report(files, options, editing) if editing.any else explain(files, options)


def _times(given: dict[str, object]) -> Times:
    """Return which times are predicted."""
    return "blocks" if given["what_if"] else "launches" if given["metrics"] else ""


def _render_report(report: AnalysisReport, form: str, settings: Settings, given: dict[str, object]) -> str:
    suppressed = bool(given["show_suppressed"])
    match form:
        case "json":
            return analysis_json(report, suppressed=suppressed)
        case "jsonl":
            return analysis_jsonl(report)
        case "concise":
            return analysis_concise(report)
        case "sarif":
            return analysis_sarif(report)
        case "html":
            return analysis_html(report)
        case "github":
            return analysis_github(report)
        case "markdown":
            return analysis_markdown(report)
        case "csv":
            return analysis_csv(report)
        case "junit":
            gate = settings.text("fail-on")
            return analysis_junit(report, None if gate == "never" else cast("Severity", gate))
        case _:
            terminal = sys.stdout.isatty()
            options = TextOptions(
                settings.text("evidence"), settings.number("context"), settings.number("limit"), suppressed,
                is_colored(), cast("GroupBy", given["group_by"] or ""),
                shutil.get_terminal_size().columns if terminal else 0, bool(given["metrics"]),
            )  # fmt: skip
            return analysis_text(report, options)


def _write(rendered: str, file: str | None, *, err: bool) -> None:
    """Write a report to a file or to stdout, to stderr (`err`) where that is another document's."""
    if file is None:
        if rendered:
            # colors were decided on before: click would take them out where nobody looks
            click.echo(rendered, err=err, color="\x1b[" in rendered or None)
        return
    write_result(file, rendered + "\n")
