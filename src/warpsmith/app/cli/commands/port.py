"""`warpsmith port`: loops of C files to CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.commands.edits.patch import (
    apply_command,
    check_patches,
    is_project,
    ported_project,
    project_options,
    show_series,
    write_patches,
)
from warpsmith.app.cli.commands.ports.data import asked_settings, data_options, data_scheme
from warpsmith.app.cli.commands.ports.optimized import (
    best_port,
    check_search,
    mapping_model,
    optimize_options,
    searches,
    write_search,
)
from warpsmith.app.cli.commands.ports.policy import check_policy, policy_options, port_by_policy
from warpsmith.app.cli.commands.ports.timeline import check_timeline, timeline_options, transfer_texts
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.failure import TIMED_OUT, exit_code, is_late
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import (
    chosen_device,
    claims_option,
    compiler_options,
    effects_option,
    front_options,
    parse_claims,
    run_options,
    text,
    texts,
    verify_options,
)
from warpsmith.app.cli.output import check_free, holds, unified_diff, write_files
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import decode_text
from warpsmith.emit.file_names import kernel_stem
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import paths_below
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.offload.gain.shares import time_loops
from warpsmith.offload.plan import GainOptions, OffloadOptions, TransferScheme
from warpsmith.poly.effects.assertions import used_descriptions
from warpsmith.poly.facts import PolyOptions
from warpsmith.recipes.placement import recorded_steps
from warpsmith.report.model import Report, Status
from warpsmith.report.port.build import kernel_entries, loop_entries
from warpsmith.report.port.claims import claim_findings
from warpsmith.report.port.hottest import hottest_loop
from warpsmith.report.port.mapped import mapped_findings
from warpsmith.report.port.moved import moved_work
from warpsmith.report.port.text import port_text
from warpsmith.report.survey.counts import read_counts
from warpsmith.run.verification import has_timed_out
from warpsmith.settings.model import Settings
from warpsmith.tree.program import Assumption

__all__ = ["command"]


class _Output(Struct, frozen=True):
    """Where results go."""

    directory: str | None
    force: bool
    diff: bool
    json: bool
    recipe: str | None = None


@click.command(
    "port", cls=Command, writes=True, short_help="Move the loops of C files to CUDA, and prove it by running."
)
@click.argument("paths", nargs=-1, metavar="[FILE...]")
@click.option("--survey", is_flag=True, help="Verdicts only: every loop in exactly one category.")
@click.option("--recipe", metavar="FILE", help="Apply the steps of a recipe, and nothing else.")
@click.option(
    "--save-recipe", metavar="FILE", help="Write every step of this port, the automatic ones too (-: print them)."
)
@click.option(
    "--transform",
    "transforms",
    multiple=True,
    metavar="NAME=LOOP[,KEY=VALUE]",
    help="Apply a step first (`warpsmith steps` lists them).",
)
@click.option("--explain-illegal", is_flag=True, help="Say what would make a refused step legal.")
@click.option("--loop", "loops", multiple=True, metavar="FILE:LINE", help="Port this loop (or FUNCTION/VAR/VAR).")
@click.option("--diff", is_flag=True, help="Print what changes as a unified diff.")
@click.option("--single-file", is_flag=True, help="One .cu file (C++ input only).")
@click.option(
    "--verify",
    "referee",
    type=click.Choice(["auto", "emulation", "off"]),
    default="auto",
    show_default=True,
    help="Build, run under hostile schedules, compare.",
)
@click.option("--assume", "assumed", multiple=True, metavar="TEXT", help="Assert a fact: 'injective(idx)', 'n >= 1'.")
@claims_option
@click.option("--precise-fp", is_flag=True, help="No floating-point reduction in another order.")
@click.option("--no-guards", is_flag=True, help="Refuse what would need a test at run time.")
@click.option(
    "--transfers",
    type=click.Choice(["fragment", "host", "mixed", "optimized"]),
    default="optimized",
    show_default=True,
    help="How copies are placed.",
)
@data_options
@click.option("--all", "everything", is_flag=True, help="Port loops that would be slower on the device, too.")
@click.option("--counts", metavar="FILE", help="How often loops run: what `survey --run … --json` has printed.")
@click.option(
    "--what-if", type=click.Choice(["blocks"]), help="Predict every kernel on other axes, in blocks of other shapes."
)
@optimize_options
@policy_options
@click.option("--ptxas", is_flag=True, help="Ask ptxas, with NVRTC, for the registers of kernels (else estimated).")
@click.option("--arg", "sizes", multiple=True, metavar="NAME=VALUE", help="A size that the model may count on.")
@timeline_options
@effects_option
@project_options
@compiler_options
@run_options
def command(paths: tuple[str, ...], **given: object) -> int:
    """Move the loops of C files to CUDA, and prove the result by running it.

    -o names the folder below which the ported program is written; without it nothing is. Exit code 1: a loop that was
    asked for cannot be ported, or the referee rejects. 3: the referee has not judged all of the port; the files are
    written, and the report says what is open, and what helps. 124: not in time.
    """
    said = global_options()
    output = _Output(
        directory=said.output,
        force=said.force,
        diff=bool(given["diff"]),
        json=said.json,
        recipe=text(given["save_recipe"]),
    )
    check_search(given, project=is_project(given), force=output.force)
    check_policy(given, project=is_project(given))
    if is_project(given):
        return _project(paths, output, given)
    if not paths:
        message = "name the C files to port, or a project's compile commands: -p compile_commands.json"
        raise UsageError(Finding("INP000", "error", message, help=("try `warpsmith port --help`",)))
    if output.recipe == "-" and (output.json or output.diff):
        message = f"two documents for one output: the recipe and the {'report' if output.json else 'diff'}"
        raise UsageError(Finding("INP000", "error", message, help=("give the recipe a file: --save-recipe FILE",)))
    check_timeline(text(given["timeline"]), force=output.force)
    if output.directory is not None and not given["survey"]:
        names = _names(paths, single_file=bool(given["single_file"]))
        check_free(output.directory, names, force=output.force)
    options = _port_options(given)
    with watch_progress() as progress:
        watched = replace(options, run=replace(options.run, progress=progress))
        result = _port(paths, watched, given)
    tell(result.diagnostics)
    # A port that the referee rejects is never written: nobody should run it by accident.
    accepted = result.verification is None or result.verification.status != "fail"
    written: tuple[str, ...] = ()
    recipe = _recipe(paths, result) if accepted and output.recipe is not None else None
    if accepted:
        written = _write(output, result.files, recipe)
    written = (*written, *write_search(paths, result, given, force=output.force))
    report = _report(paths, result, written, options, given)
    if output.json:
        _print_json(report)
    elif output.diff:
        click.echo(unified_diff([unit.file for unit in result.program.units], result.files), nl=False)
        click.echo(_summary(report), err=True)
    elif output.recipe == "-":
        click.echo(recipe or "", nl=False)
        click.echo(_summary(report), err=True)
    else:
        click.echo(_summary(report))
    _print_transfers(
        result, options, given, force=output.force, to_stderr=output.json or output.diff or output.recipe == "-"
    )
    return _exit_code(report)


def _port(paths: tuple[str, ...], options: PortOptions, given: dict[str, object]) -> PortResult:
    """Return the port, by the search or the policy that was asked for."""
    if searches(given):
        return best_port(paths, options, given)
    return port_by_policy(paths, options) if given["policy"] is not None else port(paths, options)


def _print_transfers(
    result: PortResult, options: PortOptions, given: dict[str, object], *, force: bool, to_stderr: bool
) -> None:
    """Print what --timeline and --compare-transfers ask for, and write the picture."""
    out, compare = text(given["timeline"]), bool(given["compare_transfers"])
    for found in transfer_texts(result, options, out=out, compare=compare, force=force):
        click.echo(found, err=to_stderr)


_FILES = "-o DIR writes the files"
_WRITES = "--patch OUT writes the patches"


def _summary(report: Report, writes: str = _FILES) -> str:
    return port_text(report, writes, quiet=global_options().quiet)


def _project(paths: tuple[str, ...], output: _Output, given: dict[str, object]) -> int:
    """Port inside a project: nothing is written but the patches."""
    out = text(given["patch"])
    if out is not None and not given["survey"]:
        check_patches(out, force=output.force)
    options = _port_options(given)
    with watch_progress() as progress:
        ported = ported_project(paths, given, replace(options, run=replace(options.run, progress=progress)))
    result = ported.result
    tell(result.diagnostics)
    written = write_patches(out, ported, force=output.force) if out is not None else ()
    found = ported.series.findings if ported.series is not None else ()
    result = replace(result, findings=(*result.findings, *found))
    report = _report(paths or (str(given["project"]),), result, written, options, given)
    if output.json:
        _print_json(report)
    elif output.diff:
        click.echo(show_series(ported), nl=False)
        click.echo(_summary(report, _WRITES), err=True)
    else:
        click.echo(_summary(report, _WRITES))
        if written:
            click.echo(f"apply   {apply_command(ported, written)}")
    return _exit_code(report)


def _names(paths: tuple[str, ...], *, single_file: bool) -> list[str]:
    """Return the files that a port of `paths` may write."""
    hosts = paths_below(paths)
    kernels = [host.with_name(f"{kernel_stem(host)}_kernels{suffix}") for host in hosts for suffix in (".cu", ".h")]
    return [str(host.with_suffix(".cu")) for host in hosts] if single_file else [*map(str, hosts), *map(str, kernels)]


def _port_options(given: dict[str, object]) -> PortOptions:
    guards = not given["no_guards"]
    settings = settings_of(asked_settings(given))
    data = data_scheme(given, settings, project=is_project(given))
    granted = tuple(Assumption(words, "granted") for words in texts(given["assumed"]))
    return PortOptions(
        front=front_options(given, settings),
        poly=PolyOptions(guards=guards, granted=granted, claims=parse_claims(given)),
        offload=OffloadOptions(
            device=chosen_device(given, settings),
            transfers=_transfers(str(given["transfers"])),
            data=data.data,
            pinned=data.pinned,
            overlap=data.overlap,
            model=mapping_model(given),
            sizes=_sizes(texts(given["sizes"])),
            guards=guards,
            precise_fp=bool(given["precise_fp"]),
            gain=_gain_options(given, settings),
        ),
        run=verify_options(given, settings),
        loops=texts(given["loops"]),
        survey=bool(given["survey"]),
        verify=given["referee"] != "off",
        single_file=bool(given["single_file"]),
        recipe=text(given["recipe"]),
        transforms=texts(given["transforms"]),
        explain_illegal=bool(given["explain_illegal"]),
        assumed=settings.texts("assume"),
    )


def _gain_options(given: dict[str, object], settings: Settings) -> GainOptions:
    """Return what the estimate of time rests on: the device that was named, else its own, and measured counts."""
    named = text(given["device"]) is not None or settings.origins["device"] != "default"
    counts = text(given["counts"])
    measured = {} if counts is None else read_counts(counts)
    gain = GainOptions(counts=measured, everything=bool(given["everything"]))
    return replace(gain, device=chosen_device(given, settings)) if named else gain


def _recipe(paths: tuple[str, ...], result: PortResult) -> str:
    """Return the recipe of everything that this port applied."""
    # loaded where a recipe is written: it knows every step
    from warpsmith.recipes.writing import write_recipe

    steps = recorded_steps([applied.step for applied in result.prepared.applied], result.plan)
    granted = [assumption.text for assumption in result.prepared.original.options.granted]
    granted += [assumption.text for assumption in used_descriptions(result.facts.summaries)]
    return write_recipe(steps, granted, paths)


def _write(output: _Output, files: tuple[OutputFile, ...], recipe: str | None) -> tuple[str, ...]:
    """Write what was asked for, all of it or nothing; a recipe that already says the same is left alone."""
    wanted = list(files) if output.directory is not None else []
    if output.recipe in {None, "-"} or recipe is None or holds(output.recipe, recipe):
        return write_files(output.directory or ".", wanted, force=output.force) if wanted else ()
    wanted.append(OutputFile(str(Path(output.recipe).absolute()), decode_text(recipe)))
    return (*write_files(output.directory or ".", wanted, force=output.force)[:-1], output.recipe)


def _transfers(name: str) -> TransferScheme:
    schemes: tuple[TransferScheme, ...] = ("fragment", "host", "mixed", "optimized")
    return next(scheme for scheme in schemes if scheme == name)


def _sizes(pairs: tuple[str, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not value.strip().removeprefix("-").isdecimal():
            message = f"--arg takes NAME=VALUE with a whole number; it got {pair!r}"
            raise UsageError(Finding("INP000", "error", message, help=("for example --arg n=4096",)))
        sizes[name.strip()] = int(value)
    return sizes


def _report(
    paths: tuple[str, ...],
    result: PortResult,
    written: tuple[str, ...],
    options: PortOptions,
    given: Mapping[str, object],
) -> Report:
    plan = result.plan
    survey = bool(given["survey"])
    times = time_loops(result.facts, options.offload)
    predicted = predict_port(result.prepared, result.ported, options.offload, ptxas=bool(given["ptxas"]))
    tell(predicted.problems if predicted is not None else ())
    if predicted is not None and result.ported is not None and given["what_if"] is not None:
        from warpsmith.flows.porting.what_if import predict_mappings  # loaded where it is wanted

        mappings = predict_mappings(result.prepared, result.ported, options.offload)
        predicted = replace(predicted, mappings=mappings)
    loops = loop_entries(result.prepared, plan)
    functions = [function for _, function in result.program.functions()]
    claims = claim_findings(result.facts.functions, result.prepared.facts.functions)
    return Report(
        command="survey" if survey else "port",
        inputs=paths,
        status=_status(result),
        diagnostics=(*result.diagnostics, *(predicted.problems if predicted is not None else ())),
        loops=loops,
        kernels=kernel_entries(plan),
        transfers=plan.transfers if plan else (),
        outputs=written,
        verify=result.verification,
        findings=(*result.findings, *claims, *mapped_findings(result.facts)),
        hottest=None if plan is None else hottest_loop(functions, loops, times),
        moved=None if plan is None else moved_work(functions, loops, times),
        predicted=predicted,
        search=result.search,
        placement=result.placement,
        timing_s=result.timing_s,
    )


def _print_json(report: Report) -> None:
    from warpsmith.report.port.json import report_json  # loaded where it is wanted

    click.echo(report_json(report))


def _status(result: PortResult) -> Status:
    rejected = result.verification is not None and result.verification.status == "fail"
    if rejected or any(finding.severity == "error" for finding in result.findings):
        return "negative"
    unjudged = result.verification is not None and result.verification.status in ("undecided", "skipped")
    failed = any(finding.severity == "error" for finding in result.diagnostics)
    incomplete = unjudged or failed or is_late(result.diagnostics)
    return "incomplete" if incomplete else "ok"


def _exit_code(report: Report) -> int:
    late = report.verify is not None and has_timed_out(report.verify)
    return TIMED_OUT if late else exit_code(report.status, report.diagnostics)
