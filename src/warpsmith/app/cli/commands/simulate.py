"""`warpsmith simulate`: a kernel runs lane by lane, and every branch, access and mistake is counted."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

import click
from msgspec.structs import replace

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.console import tell
from warpsmith.app.cli.failure import TIMED_OUT, is_late
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.options import chosen_device, compiler_arguments, compiler_options, text, texts
from warpsmith.app.cli.output import refuse_dash, write_result
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import UsageError, WarpsmithError
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.shape import dim_of
from warpsmith.kernels.units import KernelFile, Language
from warpsmith.report.simulation.html import simulation_html, simulation_svg
from warpsmith.report.simulation.json import simulation_json
from warpsmith.report.simulation.model import CHECKS, Check, SimulationReport
from warpsmith.report.simulation.perfetto import simulation_perfetto
from warpsmith.report.simulation.text import simulation_text
from warpsmith.settings.model import Settings
from warpsmith.simt.choose import Engine
from warpsmith.simt.policies.machine import POLICIES, PolicyName

__all__ = ["command"]


@click.command("simulate", cls=Command)
@click.argument("path", metavar="FILE")
@click.option("--kernel", default="", metavar="NAME", help="The kernel, where FILE has several; k<float, 32> for one.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads a block (default: as the file's host code launches it).")
@click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks a grid (default: as the host code says, else 1).")
@click.option("--arg", multiple=True, metavar="NAME=VALUE", help="An argument; see above. In PTX: 0=…, 1=….")
@click.option("--shared", default=0, metavar="BYTES", help="Dynamic shared memory a block.")
@click.option("--out", multiple=True, metavar="NAME=FILE", help="Write an array to FILE (.npy) when the run is over.")
@click.option(
    "--check", default="all", show_default=True, metavar="LIST", help="all, none, or some of race,oob,uninit,barrier."
)
@click.option("--max-steps", default=10_000_000, show_default=True, metavar="N", help="Instructions of lanes, at most.")
@click.option(
    "--warp", type=click.IntRange(1, 64), metavar="N", help="Lanes of a warp, 1 to 64 (default: as the device)."
)
@click.option(
    "--engine",
    type=click.Choice(["compiled", "interpreter"]),
    help="Who runs it: machine code, or lane by lane (default: lane by lane at first, then machine code).",
)
@click.option("--profile", is_flag=True, help="Every basic block as well, those that took most first.")
@click.option(
    "--policy",
    default="",
    metavar="LIST",
    help=f"Run it under other ways to keep lanes together: all, or some of {', '.join(POLICIES)}.",
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="The order in which lanes take their turns.")
@click.option("--device", metavar="ID", help="A GPU model (default: as is set, sm_80).")
@click.option(
    "--timeline",
    default="off",
    metavar="FORM[=FILE]",
    help="Lanes of every step: ascii, html, svg, perfetto, json; off.",
)
@click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix).")
@click.option("--stdin-filename", metavar="NAME", help="The name of what comes from standard input (-).")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Text, or one document.")
@compiler_options
def command(path: str, **given: object) -> int:
    """Run one kernel of FILE (.cu, .cl, .ptx) without a GPU, and count what its warps do.

    \b
    Arguments   n=1024  m=n*2  x=3.5            numbers; later ones may name earlier ones
                a=zeros:f32[n]  a=const:f32[n]=2  a=iota:i32[64]
                a=rand:f32[n]:seed=1:below=64   0 up to below (1 for floats, 100 for integers)
                a=empty:f32[n]                  nothing was written there yet
                a=@b.npy                        an array of numpy
                a=local:f32[64]                 for a __local parameter
                p=hex:0000803f                  the bytes of a struct
    Types       f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64

    \b
    Every lane has a program counter of its own. What is counted puts lanes of a warp together that are at
    one instruction in one iteration of every loop around it (maximal reconvergence):
      visits           how often a warp comes to a branch, once however many lanes are there
      diverged         visits in which its lanes take different ways
      lost lane slots  instructions of the warp while a lane waits, counted for the branch where that lane
                       left the others; after an early return that is all the rest of the kernel
      requests         how often a warp accesses memory, once for all lanes there
      sectors          32-byte pieces that a request touches; ideal: those that its bytes would fill
      bank conflicts   passes of shared memory beyond the first one of a request

    Instructions are those of warpsmith's kernel IR, not of a GPU; --policy counts them where lanes are kept
    together in other ways. Races are seen in the order of this run: another --seed may show more.

    \b
    Exit codes: 0 done, nothing wrong   1 a check failed   2 usage, or nothing could be read
                3 stopped early (--max-steps, or something that is not modeled)   124 out of time (--timeout)
    """
    as_json = global_options().json or given["form"] == "json" or given["timeline"] == "json"
    try:
        settings = settings_of({})
        with watch_progress() as progress:
            report = simulate(_file(path, given, settings), replace(_options(given, settings), progress=progress))
    except WarpsmithError as error:
        if not as_json:
            raise
        code = TIMED_OUT if is_late(error.findings) else error.exit_code
        report = SimulationReport((path,), "error", code, error.findings)
    tell(report.diagnostics)
    form, file = _timeline(str(given["timeline"]))
    if report.timeline and form in _PICTURES:
        drawn = _PICTURES[form](report)
        if file is None:
            click.echo(drawn)
            return report.exit_code
        _write_report(file, drawn)
        report = replace(report, timeline=())
    width = shutil.get_terminal_size((100, 24)).columns
    rendered = simulation_json(report) if as_json else simulation_text(report, width)
    if rendered:
        click.echo(rendered)
    return report.exit_code


_PICTURES: Final[Mapping[str, Callable[[SimulationReport], str]]] = {
    "html": simulation_html, "svg": simulation_svg, "perfetto": simulation_perfetto,
}  # fmt: skip
_FORMS: Final = ("off", "ascii", "json", *_PICTURES)


def _timeline(said: str) -> tuple[str, str | None]:
    """Return the form of the timeline, and the file that it goes to (None: stdout)."""
    form, _, file = said.partition("=")
    if form not in _FORMS:
        raise _usage(f"--timeline: there is no form '{form}'", f"the forms: {', '.join(_FORMS)}")
    if file and form not in _PICTURES:
        raise _usage(f"--timeline {form} goes to stdout, with the rest", "for example --timeline html=run.html")
    return form, None if file == "-" else file or None


def _write_report(file: str, text: str) -> None:
    data = (text + "\n").encode("utf-8", "backslashreplace")
    write_result(file, gzip.compress(data, mtime=0) if file.endswith(".gz") else data)


def _file(path: str, given: dict[str, object], settings: Settings) -> KernelFile:
    arguments = compiler_arguments(given)
    kernel = str(given["kernel"])
    language = cast("Language | None", text(given["lang"]))
    instances = (kernel,) if "<" in kernel else ()
    seconds = settings.seconds("timeout")
    if path == "-":
        name = text(given["stdin_filename"]) or "<stdin>"
        held = sys.stdin.buffer.read().decode("latin-1")
        return KernelFile(name, language, arguments, held, instances, seconds)
    if Path(path).is_dir():
        raise UsageError(Finding("INP001", "error", f"{path} is a folder", help=("name a .cu, .cl or .ptx file",)))
    return KernelFile(path, language, arguments, None, instances, seconds)


def _options(given: dict[str, object], settings: Settings) -> SimulateOptions:
    block, grid, warp = text(given["block"]), text(given["grid"]), given["warp"]
    return SimulateOptions(
        kernel=str(given["kernel"]),
        block=None if block is None else dim_of(block, "--block"),
        grid=None if grid is None else dim_of(grid, "--grid"),
        arguments=texts(given["arg"]),
        shared=_at_least(given, "shared", 0),
        device=chosen_device(given, settings),
        warp=None if warp is None else int(str(warp)),
        seed=int(str(given["seed"])),
        max_steps=_at_least(given, "max_steps", 1),
        checks=_checks(str(given["check"])),
        out=_files(texts(given["out"])),
        timeline=_timeline(str(given["timeline"]))[0] != "off",
        profile=bool(given["profile"]),
        policies=_policies(str(given["policy"])),
        engine=cast("Engine", text(given["engine"]) or ""),
        settings=settings,
    )


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))


def _at_least(given: dict[str, object], option: str, least: int) -> int:
    number = int(str(given[option]))
    if number < least:
        raise _usage(f"--{option.replace('_', '-')} takes a number from {least} on; it got {number}")
    return number


def _checks(said: str) -> tuple[Check, ...]:
    words = [word.strip() for word in said.split(",")]
    if words in (["all"], ["none"]):
        return CHECKS if words == ["all"] else ()
    for word in words:
        if word not in CHECKS:
            raise _usage(f"--check: there is no check '{word}'", f"all, none, or some of {','.join(CHECKS)}")
    return tuple(check for check in CHECKS if check in words)


def _policies(said: str) -> tuple[PolicyName, ...]:
    words = [word.strip() for word in said.split(",") if word.strip()]
    if words == ["all"]:
        return POLICIES
    for word in words:
        if word not in POLICIES:
            raise _usage(f"--policy: there is no policy '{word}'", f"all, or some of {', '.join(POLICIES)}")
    return tuple(policy for policy in POLICIES if policy in words)


def _files(said: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in said:
        name, equals, file = one.partition("=")
        if not name or not equals or not file:
            raise _usage(f"--out takes NAME=FILE; it got {one!r}", "for example --out c=c.npy")
        refuse_dash(file, f"--out {name}=FILE")
        found[name] = file
    return found
