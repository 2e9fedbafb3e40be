"""`warpsmith demo journey bitonic`: one kernel through everything that there is, each output compared."""

from __future__ import annotations

from pathlib import Path

import click

from warpsmith.app.cli.about.settings import settings_of
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.app.cli.launch import at_least, kernel_file, shape_options, usage
from warpsmith.app.cli.options import compiler_arguments, text, texts
from warpsmith.app.cli.progress import watch_progress
from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.journey.journey import travel
from warpsmith.flows.journey.subjects import NAMES, HandLaunch, Subject, loops_subject, own_subject, users_subject
from warpsmith.front.inputs import Source
from warpsmith.kernels.shape import dim_of
from warpsmith.project.command_line import language_of
from warpsmith.report.journey.html import journey_html
from warpsmith.report.journey.json import journey_json
from warpsmith.report.journey.text import journey_text
from warpsmith.report.json_parts import document
from warpsmith.settings.model import Settings

__all__ = ["command"]

_PAGES = (".html", ".htm")
_OF_A_FILE = ("kernel", "block", "grid", "arg", "shared", "lang")
_OF_A_KERNEL = ("block", "grid", "shared", "lang")


@click.command("journey", cls=Command)
@click.argument("name", required=False, metavar=f"[{'|'.join(NAMES)}]")
@click.option(
    "--file",
    "path",
    metavar="FILE",
    help="A kernel (.cu, .cl, .ptx, .il, .br) or loops (.c) of your own, in place of one.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "html"]), help="Default: text; html for -o X.html."
)
@shape_options
def command(name: str | None, path: str | None, form: str | None, **given: object) -> int:
    """Send one kernel through everything that there is, and compare every output with the original's.

    \b
    bitonic    bitonic sort: loops of C, a CUDA kernel, a program of Brook+
    matmul     matrix product: loops of C, a CUDA kernel        lu    LU decomposition: loops of C
    dec2zero   loops that run as long as their data say: of C, a CUDA kernel

    \b
    1 where it comes from   loops of C become kernels by `port`; a kernel is there as it is
    2 findings              what `analyze` says: races, sectors, bank conflicts, divergence
    3 placed and rewritten  what `port --optimize` or `analyze --fix` makes of it, counted before and after
    4 every target          of `lower`; what a target cannot take is named, with its line
    5 every machine         on the same input; each output is compared with the original's
    6 simulated             with warps of 8 to 64 lanes, under every policy of `simulate`
    7 the same in Brook+    sorts the same data alike (bitonic)

    A kernel of your own is launched as with `simulate`: --kernel, --block, --grid, --arg; what it computes is compared
    with what the interpreter computes. Of a C file a function with loops is sent (--kernel names it), --arg gives its
    parameters, and it is compared with the C program. -o FILE.html writes one page with every stage. Each run works all
    of it out.

    \b
    Exit codes: 0 all outputs that were computed are the original's   1 one is not   2 usage, or nothing could be read
                3 nothing could be compared
    """
    said = global_options()
    form = _format(form, said.output, as_json=said.json)
    settings = settings_of({})
    try:
        subject = _subject(name, path, given, settings)
        with watch_progress() as progress:
            made = travel(subject, settings, progress)
    except WarpsmithError as error:
        if form != "json":
            raise
        click.echo(document("demo journey", [path or name or ""], {}, "error", error.findings))
        return error.exit_code
    inputs = tuple(row.file for row in made.origin.rows)
    match form:
        case "json":
            click.echo(journey_json(made, inputs))
        case "html":
            click.echo(journey_html(made), nl=False)
        case _:
            click.echo(journey_text(made))
    return made.exit_code


def _format(said: str | None, output: str | None, *, as_json: bool) -> str:
    if as_json:
        return "json"
    page = output is not None and output.lower().endswith(_PAGES)
    return said or ("html" if page else "text")


def _subject(name: str | None, path: str | None, given: dict[str, object], settings: Settings) -> Subject:
    """Return what is sent on its way; raises UsageError."""
    if (name is None) == (path is None):
        raise usage("name one of the kernels, or a file of your own", f"demo journey {'|'.join(NAMES)}", "--file FILE")
    if path is None:
        for option in _OF_A_FILE:
            if given[option]:
                raise usage(f"--{option}: our own kernels have launches of their own", "--file FILE sends one of yours")
        if name not in NAMES:
            raise usage(f"no kernel of ours is called '{name}'", f"they are {', '.join(NAMES)}", f"--file {name}")
        return own_subject(name)
    if language_of(path) in ("c", "c++"):
        return _loops(path, given)
    block, grid = (text(given[option]) for option in ("block", "grid"))
    launch = HandLaunch(
        kernel_file(path, given, settings),
        str(given["kernel"]),
        None if block is None else dim_of(block, "--block"),
        None if grid is None else dim_of(grid, "--grid"),
        at_least(given, "shared", 0),
    )
    return users_subject(launch, texts(given["arg"]))


def _loops(path: str, given: dict[str, object]) -> Subject:
    """Return a function with loops in a C file; raises UsageError and InputError."""
    if language_of(path) != "c":
        help = f"warpsmith port {path} -o gpu writes kernels: --file gpu/…_kernels.cu"
        raise usage(f"{path} is C++: its functions cannot be called from here", help)
    for option in _OF_A_KERNEL:
        if given[option]:
            raise usage(f"--{option}: {path} has loops, and `port` decides how their kernels are launched")
    if not Path(path).is_file():
        raise usage(f"{path} does not exist" if not Path(path).exists() else f"{path} is a folder", "name a .c file")
    source = Source(path, compiler_arguments(given), text=Path(path).read_bytes().decode("latin-1"))
    return loops_subject(source, str(given["kernel"]), texts(given["arg"]))
