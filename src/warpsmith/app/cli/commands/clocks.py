"""`warpsmith simulate --clocks`: a program of the mask ISA, or a kernel as one, on a machine with clocks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Final

import click

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.commands.pictures import picture_of, read_timeline, write_picture
from warpsmith.app.cli.console import ask, tell
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import kernel_file, launch_of, one_dimension, usage
from warpsmith.app.cli.options import speech_of, text, texts
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.kernels import ClockKernel
from warpsmith.flows.clocks.simulate import ClockOptions, ClockReport, check_lanes_stay, read_program, simulate_clocks
from warpsmith.flows.stepping.clocks import step_clocks
from warpsmith.report.history.graph import history_graph
from warpsmith.report.history.heat import draw_heat
from warpsmith.report.history.html import history_html
from warpsmith.report.history.json import history_json
from warpsmith.report.history.layout import draw_history
from warpsmith.report.history.model import History
from warpsmith.report.history.perfetto import history_perfetto
from warpsmith.report.history.pipeline import draw_pipeline
from warpsmith.report.history.png import history_png
from warpsmith.report.history.profile_text import profile_text
from warpsmith.report.history.svg import history_svg
from warpsmith.report.history.text import history_text
from warpsmith.report.words import DOCUMENT

__all__ = ["run_clocks"]


def run_clocks(path: str, given: Mapping[str, object]) -> int:
    """Run a program, draw and print what it did, and return the exit code."""
    form, file = read_timeline(str(given["timeline"]), _HISTORIES)
    program, options = _program(path, given), _options(path, given)
    if given["interactive"] or given["breaks"] or given["watches"]:
        return _step(program, given, options)
    heat = picture_of("--heat", text(given["heat"]))
    report = simulate_clocks(program, options)
    tell(report.findings)
    if heat is not None:
        heat(draw_heat(report.history, _threads_in_a_row(text(given["pixels"]), report.history)))
    if form == "perfetto" and options.shown:
        raise usage("--range: a trace has all clocks, and ui.perfetto.dev goes to some of them", "leave --range out")
    if form in _HISTORIES and file is None:
        if form == "png":
            raise usage("--timeline png is no text", "name a file: --timeline png=run.png")
        click.echo(_HISTORIES[form](report.history))
        return report.exit_code
    if file is not None:
        write_picture(file, _HISTORIES[form](report.history))
    _tell_run(report, given, as_json=global_options().json or given["form"] == "json" or form == "json")
    return report.exit_code


def _program(path: str, given: Mapping[str, object]) -> SourceFile | ClockKernel:
    """Return the program that is meant; raises UsageError."""
    if path.endswith(".mask"):
        return read_program(path)
    settings = settings_of({})
    return ClockKernel(kernel_file(path, given, settings), launch_of(given, settings))


def _options(path: str, given: Mapping[str, object]) -> ClockOptions:
    """Return the options of a run; a kernel has its own block and grid."""
    block, grid = (text(given[name]) if path.endswith(".mask") else None for name in ("block", "grid"))
    return ClockOptions(
        text(given["machine"]) or "example",
        None if block is None else one_dimension(block, "--block"),
        1 if grid is None else one_dimension(grid, "--grid"),
        texts(given["arg"]),
        int(str(given["max_clocks"])),
        _clocks_shown(text(given["range_"])),
        speech_of(given, DOCUMENT),
    )


def _tell_run(report: ClockReport, given: Mapping[str, object], *, as_json: bool) -> None:
    """Print a run with clocks."""
    width = shutil.get_terminal_size((100, 24)).columns
    profile = bool(given["profile"])
    if as_json:
        click.echo(history_json(report.history, report.findings, profile=profile))
        return
    click.echo(history_text(report.history, width))
    if profile:
        click.echo("\n" + profile_text(report.history))


def _step(program: SourceFile | ClockKernel, given: Mapping[str, object], options: ClockOptions) -> int:
    """Step through the clocks of a program."""
    if not given["interactive"] or given["breaks"] or given["watches"]:
        raise usage(
            "--break and --watch are for kernels", "with -i, `until LINE` and `change SLOT` stop a .mask program"
        )
    if global_options().json or given["form"] == "json":
        raise usage("-i talks to people: it has no JSON")
    if given["words"]:
        raise usage("--words: -i speaks of waves, as the document does", "leave --words out")
    return step_clocks(program, options, click.echo, ask)


def _threads_in_a_row(said: str | None, history: History) -> int:
    """Return how many threads of a heat map stand side by side: as many as a picture is wide, or as a wave has."""
    threads = len(history.run.thread_clocks)
    if said is None:
        return max(history.machine.width, 16)
    wide, _, high = said.partition("x")
    if not wide.isdecimal() or not high.isdecimal() or not int(wide) or int(wide) * int(high) != threads:
        message = f"--pixels: WxH are as many pixels as there are threads, {threads:,}; it got '{said}'"
        raise usage(message, f"for example --pixels {history.machine.width}x{-(-threads // history.machine.width)}")
    return int(wide)


def _clocks_shown(said: str | None) -> tuple[int, int] | None:
    """Return the first clock, and the one behind the last."""
    if said is None:
        return None
    first, dash, last = said.partition("-")
    if not dash or not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
        raise usage(f"--range: clocks are FROM-TO; it got '{said}'", "for example --range 100-199")
    return int(first), int(last) + 1


_Drawn = Callable[[History], str | bytes]
_HISTORIES: Final[Mapping[str, _Drawn]] = {
    "html": history_html,
    "svg": lambda history: history_svg(draw_history(history)),
    "png": lambda history: history_png(draw_history(history)),
    "perfetto": history_perfetto,
    "pipeline": lambda history: history_svg(draw_pipeline(history)),
    "graph": lambda history: _graph(history),
}


def _graph(history: History) -> str:
    check_lanes_stay(history.machine, "--timeline graph")
    return history_graph(history)
