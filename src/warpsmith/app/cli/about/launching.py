"""Options that commands about kernels share, and how they become files and launches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import click

from warpsmith.app.cli.options import compiler_arguments, compiler_options, text, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.shape import Launching, arguments_of, bounds_of, dim_of
from warpsmith.kernels.units import KernelFile, Language, files_of
from warpsmith.project.database import read_database
from warpsmith.settings.model import Settings

__all__ = ["kernel_files", "kernel_options", "launching_of"]

_DEVICE_CODE: Final = (".cu", ".cuh", ".cl")

F = TypeVar("F", bound=Callable[..., object])


def kernel_options(function: F) -> F:
    """Add what says which kernels are meant, how they are launched and what is reported of them."""
    for option in reversed((
        click.option("--kernel", multiple=True, metavar="GLOB", help="Only kernels of this name."),
        click.option("--block", metavar="X[,Y[,Z]]", help="Threads a block."),
        click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks a grid."),
        click.option("--arg", multiple=True, metavar="NAME=NUMBER", help="A scalar argument (in PTX: 2=4096)."),
        click.option("--assume", multiple=True, metavar="EXPR", help="What holds of arguments: 'n % 32 == 0'."),
        click.option("--shared", type=click.IntRange(0), default=0, metavar="BYTES", help="Dynamic shared memory."),
        click.option("--device", multiple=True, metavar="ID", help="A GPU model, or several (default sm_80)."),
        click.option("--select", multiple=True, metavar="CODES", help="Only these rules: MEM, MEM001, ALL."),
        click.option("--extend-select", multiple=True, metavar="CODES", help="These rules as well."),
        click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules."),
        click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix)."),
    )):  # fmt: skip
        function = option(function)
    return compiler_options(function)


def kernel_files(paths: tuple[str, ...], given: Mapping[str, object], settings: Settings) -> list[KernelFile]:
    """Return the files that are named by the command line; `-` is standard input."""
    language = _language(text(given.get("lang")))
    arguments = compiler_arguments(given)
    instances = tuple(name for name in texts(given.get("kernel")) if "<" in name)
    seconds = settings.seconds("timeout")
    commands = _read_commands(text(given.get("database")))
    files: list[KernelFile] = []
    for path in files_of(paths, settings.texts("include")) if paths or not commands else commands:
        if path == "-":
            name = text(given.get("stdin_filename")) or "<stdin>"
            held = sys.stdin.buffer.read().decode("latin-1")
            files.append(KernelFile(name, language, arguments, held, instances, seconds))
        else:
            own = commands.get(os.path.realpath(path))
            spoken = language or ("cuda" if own is not None and Path(path).suffix.lower() not in _DEVICE_CODE else None)
            files.append(KernelFile(path, spoken, (*(own or ()), *arguments), None, instances, seconds))
    return files


def _read_commands(database: str | None) -> dict[str, tuple[str, ...]]:
    """Return the arguments of the first command for each file of device code in a database, by its path."""
    found: dict[str, tuple[str, ...]] = {}
    for command in read_database(database).commands if database is not None else ():
        if command.language == "cuda" or Path(command.file).suffix.lower() in _DEVICE_CODE:
            found.setdefault(os.path.realpath(command.file), command.arguments)
    if database is not None and not found:
        help = ("kernels in files of another language are named one by one",)
        raise UsageError(Finding("INP001", "error", f"{database} compiles no file of device code", help=help))
    return found


def _language(word: str | None) -> Language | None:
    match word:
        case "cuda" | "opencl" | "ptx":
            return word
        case _:
            return None


def launching_of(given: Mapping[str, object]) -> Launching:
    """Return how kernels are launched; raises UsageError where an option makes no sense."""
    block, grid = text(given.get("block")), text(given.get("grid"))
    assume = texts(given.get("assume"))
    bounds_of(assume)
    shared = int(str(given.get("shared") or 0))
    if shared < 0:
        raise UsageError(Finding("INP000", "error", f"--shared takes a number of bytes; it got {shared}"))
    return Launching(
        None if block is None else dim_of(block, "--block"),
        None if grid is None else dim_of(grid, "--grid"),
        arguments_of(texts(given.get("arg"))),
        assume,
        shared,
    )
