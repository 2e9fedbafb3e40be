"""`warpsmith survey`: every loop of a project in exactly one category, those with the most work first."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from warpsmith.app.cli.about.settings import processes, settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.failure import exit_code
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import compiler_options, effects_option, front_options, text
from warpsmith.app.cli.output import check_free, refuse_dash
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.profiling import profile_build, run_request
from warpsmith.flows.survey import SurveyOptions, survey
from warpsmith.flows.watching import watch_project
from warpsmith.poly.facts import PolyOptions
from warpsmith.project.capture import capture_build
from warpsmith.project.database import project_of_files, read_database, write_database
from warpsmith.project.model import Project
from warpsmith.report.survey.model import SurveyReport
from warpsmith.settings.model import Settings
from warpsmith.survey.cache import default_cache
from warpsmith.survey.limits import SurveyLimits

__all__ = ["command"]


class _WithBuild(Command):
    """Keeps what stands behind `--`: the build command, whose options are not ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before, after = args, list[str]()
        if "--" in args:
            cut = args.index("--")
            before, after = args[:cut], args[cut + 1 :]
        ctx.meta["build"] = tuple(after)
        return super().parse_args(ctx, before)


@click.command("survey", cls=_WithBuild, options_metavar="[OPTIONS] [FILE...] [-- BUILD COMMAND...]")
@click.argument("files", nargs=-1, metavar="")
@click.option("-p", "database", metavar="PATH", help="A compile_commands.json, or the folder that holds it.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "html"]),
    default="text",
    show_default=True,
    help="How the survey is written.",
)
@click.option("--all", "everything", is_flag=True, help="Text: every loop, by file and line.")
@click.option("--save-commands", metavar="FILE", help="Write a compile_commands.json of what the build compiles.")
@click.option("--run", "run", metavar="CMD", help="Build a copy that counts its loops, run CMD there, rank by seconds.")
@effects_option
@compiler_options
@click.pass_context
def command(context: click.Context, /, files: tuple[str, ...], **given: object) -> int:
    """List every loop of a project in exactly one category, those with the most work first.

    The project is the FILEs, what a compile_commands.json says (-p), or what a build command compiles while it runs:
    `warpsmith survey -- make -j8`. Exit code 3: a part of it could not be read, or the build failed; 124:
    for a file there was no time (--timeout), the others are answered.
    """
    build, run = context.meta["build"], text(given["run"])
    settings = settings_of({})
    refuse_dash(saved := text(given["save_commands"]), "--save-commands")
    if saved is not None:
        check_free(str(Path(saved).parent), [Path(saved).name], force=global_options().force)
    project = _project(files, build, given)
    if saved is not None:
        write_database(project, saved)
    profile = None
    if run is not None:
        seconds = _profile_seconds(settings)
        with watch_progress() as progress:
            project, profile = profile_build(project, build, run, Path.cwd(), timeout_s=seconds, progress=progress)
            request = run_request(project, build, run, Path.cwd(), seconds)
            project = watch_project(project, request, profile, front_options(given, settings), PolyOptions(described=1))
    limits = SurveyLimits(front=front_options(given, settings), poly=PolyOptions(described=1))
    with watch_progress() as progress:
        report = survey(project, SurveyOptions(limits, processes(settings), default_cache(), profile, progress))
    tell(report.findings)
    form = "json" if global_options().json else str(given["form"])
    click.echo(_render_report(report, form, everything=bool(given["everything"])))
    return exit_code(report.status, report.findings)


def _profile_seconds(settings: Settings) -> float:
    """Return how long a whole program may be built, or run: longer than a piece of our own work, unless that is set."""
    return 3600.0 if settings.origins["timeout"] == "default" else settings.seconds("timeout")


def _project(files: tuple[str, ...], build: tuple[str, ...], given: dict[str, object]) -> Project:
    database = text(given["database"])
    # with --run, the build command may stand beside the files that are surveyed
    ways = sum(map(bool, (files, build and not (given["run"] and (files or database)), database)))
    if ways != 1:
        what = "several were given" if ways else "nothing was given"
        helps = ("warpsmith survey -- make -j8", "warpsmith survey -p build", "warpsmith survey a.c b.c")
        message = f"a survey is of files, of a compile_commands.json, or of a build command: {what}"
        raise UsageError(Finding("INP000", "error", message, help=helps))
    if database is not None:
        return read_database(database)
    if build:
        return capture_build(build)
    return project_of_files(files)


def _render_report(report: SurveyReport, form: str, *, everything: bool) -> str:
    # only the view that is asked for is loaded
    view = getattr(import_module(f"warpsmith.report.survey.{form}"), f"survey_{form}")
    return str(view(report, everything=everything) if form == "text" else view(report))
