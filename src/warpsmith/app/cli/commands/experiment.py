"""`warpsmith experiment`: one kernel, run again and again with one thing varied; a table and a chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import click
from msgspec.structs import replace

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.commands.pictures import draw_experiment, picture_of
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.failure import TIMED_OUT, is_late
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import kernel_file, launch_of, launch_options, one_dimension, usage
from warpsmith.app.cli.options import text, texts
from warpsmith.app.cli.output import write_result
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.clocks.experiment import experiment_clocks
from warpsmith.flows.clocks.simulate import ClockOptions, read_program
from warpsmith.flows.experiment import ExperimentOptions, experiment
from warpsmith.report.experiment.chart import experiment_svg
from warpsmith.report.experiment.json import experiment_json
from warpsmith.report.experiment.model import VARIED, ExperimentReport, Varied
from warpsmith.report.experiment.text import experiment_text

__all__ = ["command"]


@click.command("experiment", cls=Command)
@click.argument("varied", metavar="WHAT", type=click.Choice(VARIED))
@click.argument("path", metavar="FILE")
@click.option("--values", default="", metavar="LIST", help="The values of WHAT, with commas (default: all usual ones).")
@click.option(
    "--input", "inputs", multiple=True, metavar="'NAME: ARG; ARG'", help="A named input: arguments of its own."
)
@click.option("--chart", metavar="FILE", help="Draw it: an SVG.")
@click.option("--by-thread", metavar="svg|png=FILE", help="FILE.mask: draw the clocks of each thread in each run.")
@click.option(
    "--machine",
    default="example",
    metavar="FILE|NAME[,KEY=VALUE…]",
    help="FILE.mask: the machine with clocks (`warpsmith simulate --help`).",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Text, or one document.")
@launch_options
def command(varied: str, path: str, **given: object) -> int:
    """Run one kernel of FILE (.cu, .cl, .ptx, .mask) once for each value of WHAT, and for each input; compare.

    \b
    WHAT    width    lanes of a warp: 1, 2, 4, 8, 16, 32, 64
            policy   how lanes are kept together: see `warpsmith simulate --help`
            block    threads of a block, as many threads in all as --block and --grid say
            input    the inputs alone
    A program of the mask ISA (.mask) is compared by clocks: width and input.

    \b
    An input has a name and arguments, which go before those of --arg (`warpsmith simulate --help` has their forms):
      --arg n=6400 --input 'falling: v=each:i32[n]=n-1-i' --input 'equal: v=const:i32[n]=3200'
    One of FILE.mask may have keys of the machine, and another program:
      --input 'formed: machine.formation=homes; machine.scheduler=majority' --input 'select: program=select.mask'
    """
    as_json = global_options().json or given["form"] == "json"
    try:
        settings = settings_of({})
        with watch_progress() as progress:
            base = replace(launch_of(given, settings), checks=(), engine="compiled", progress=progress)
            values = tuple(value.strip() for value in str(given["values"]).split(",") if value.strip())
            kind, inputs = cast("Varied", varied), _inputs(texts(given["inputs"]))
            if path.endswith(".mask"):
                report = experiment_clocks(read_program(path), kind, _with_clocks(given), values, inputs)
            else:
                asked = ExperimentOptions(kind, base, values, inputs)
                report = experiment(kernel_file(path, given, settings), asked)
    except WarpsmithError as error:
        if not as_json:
            raise
        code = TIMED_OUT if is_late(error.findings) else error.exit_code
        report = ExperimentReport((path,), "error", code, cast("Varied", varied), error.findings)
    tell(report.diagnostics)
    chart = text(given["chart"])
    if chart is not None and report.points:
        write_result(chart, experiment_svg(report).encode("utf-8", "backslashreplace"))
    by_thread = picture_of("--by-thread", text(given["by_thread"]))
    if by_thread is not None:
        if not any(point.threads for point in report.points):
            raise usage("--by-thread: only runs on a machine with clocks have clocks of threads", "name a FILE.mask")
        by_thread(draw_experiment(report))
    rendered = experiment_json(report) if as_json else experiment_text(report)
    if rendered:
        click.echo(rendered)
    return report.exit_code


def _with_clocks(given: Mapping[str, object]) -> ClockOptions:
    block, grid = text(given["block"]), text(given["grid"])
    return ClockOptions(
        str(given["machine"]),
        None if block is None else one_dimension(block, "--block"),
        1 if grid is None else one_dimension(grid, "--grid"),
        texts(given["arg"]),
    )


def _inputs(said: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one in said:
        name, colon, arguments = one.partition(":")
        given = tuple(argument.strip() for argument in arguments.split(";") if argument.strip())
        if not colon or not name.strip() or "=" in name or not given:
            raise usage(
                f"--input takes 'NAME: ARG; ARG'; it got {one!r}", "for example --input 'equal: v=const:i32[n]=3'"
            )
        if name.strip() in found:
            raise usage(f"--input {name.strip()} is given twice", "each input has a name of its own")
        found[name.strip()] = given
    return found
