"""Options of a launch, which `simulate` and `experiment` share: the kernel, its threads, its arguments, the warp."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar, cast

import click

from warpsmith.app.cli.options import chosen_device, compiler_arguments, compiler_options, text, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions
from warpsmith.kernels.shape import dim_of
from warpsmith.kernels.units import KernelFile, Language
from warpsmith.settings.model import Settings

__all__ = ["at_least", "kernel_file", "launch_of", "launch_options", "one_dimension", "shape_options", "usage"]

F = TypeVar("F", bound=Callable[..., object])


def shape_options(function: F) -> F:
    """Add what says which kernel is meant, its threads, and what it gets."""
    function = compiler_options(function)
    for option in reversed(
        (
            click.option(
                "--kernel", default="", metavar="NAME", help="The kernel, if FILE has several; k<float, 32> for one."
            ),
            click.option(
                "--block", metavar="X[,Y[,Z]]", help="Threads a block (default: as the file's host code launches it)."
            ),
            click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks a grid (default: as the host code says, else 1)."),
            click.option(
                "--arg", multiple=True, metavar="NAME=VALUE", help="An argument; see above. In PTX: 0=…, 1=…."
            ),
            click.option("--shared", default=0, metavar="BYTES", help="Dynamic shared memory a block."),
            click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix)."),
            click.option("--stdin-filename", metavar="NAME", help="The name of what comes from standard input (-)."),
        )
    ):
        function = option(function)
    return function


def launch_options(function: F) -> F:
    """Add these, and how a launch is run."""
    function = shape_options(function)
    for option in reversed(
        (
            click.option(
                "--max-steps",
                default=1_000_000_000,
                show_default=True,
                metavar="N",
                help="Instructions of lanes, at most.",
            ),
            click.option(
                "--warp",
                type=click.IntRange(1, 64),
                metavar="N",
                help="Lanes of a warp, 1 to 64 (default: as the device).",
            ),
            click.option(
                "--seed", default=0, show_default=True, metavar="N", help="The order in which lanes take their turns."
            ),
            click.option("--device", metavar="ID", help="A GPU model (default: as is set, sm_80)."),
        )
    ):
        function = option(function)
    return function


def usage(message: str, *helps: str) -> UsageError:
    """Return the error for what makes no sense on the command line."""
    return UsageError(Finding("INP000", "error", message, help=helps))


def one_dimension(said: str, option: str) -> int:
    """Return how many threads or groups are meant; raises UsageError."""
    size = dim_of(said, option)
    if size[1:] != (1, 1):
        raise usage(f"{option} {said}: groups of the mask ISA have one dimension", f"for example {option} 64")
    return size[0]


def kernel_file(path: str, given: Mapping[str, object], settings: Settings) -> KernelFile:
    """Return the file that is meant; raises UsageError."""
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


def launch_of(given: Mapping[str, object], settings: Settings) -> SimulateOptions:
    """Return how the kernel is launched."""
    block, grid, warp = text(given["block"]), text(given["grid"]), given["warp"]
    return SimulateOptions(
        kernel=str(given["kernel"]),
        block=None if block is None else dim_of(block, "--block"),
        grid=None if grid is None else dim_of(grid, "--grid"),
        arguments=texts(given["arg"]),
        shared=at_least(given, "shared", 0),
        device=chosen_device(given, settings),
        warp=None if warp is None else int(str(warp)),
        seed=int(str(given["seed"])),
        max_steps=at_least(given, "max_steps", 1),
        workers=settings.number("jobs") or os.cpu_count() or 1,
        settings=settings,
    )


def at_least(given: Mapping[str, object], option: str, least: int) -> int:
    """Return the number of an option; raises UsageError where it is less."""
    number = int(str(given[option]))
    if number < least:
        raise usage(f"--{option.replace('_', '-')} takes a number from {least} on; it got {number}")
    return number
