"""Options that several commands about kernels share, and how they become settings, files and launches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from warpsmith.app.cli.options import compiler_arguments, compiler_options, text, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.kernel_shape import Launching, arguments_of, bounds_of, dim_of
from warpsmith.flows.kernel_units import KernelFile, Language, files_of
from warpsmith.settings.model import Setting, Settings
from warpsmith.settings.read import Wanted, read_settings

__all__ = ["config_options", "kernel_files", "kernel_options", "launching_of", "settings_of"]

F = TypeVar("F", bound=Callable[..., object])


def config_options(function: F) -> F:
    """Add --config --no-config --isolated."""
    for option in (
        click.option("--isolated", is_flag=True, help="No configuration files and no environment variables."),
        click.option("--no-config", is_flag=True, help="No configuration files."),
        click.option("--config", metavar="FILE", help="This configuration file and no other."),
    ):
        function = option(function)
    return function


def kernel_options(function: F) -> F:
    """Add what says which kernels are meant, how they are launched and what is reported of them."""
    for option in reversed((
        click.option("--kernel", multiple=True, metavar="GLOB", help="Only kernels of this name."),
        click.option("--block", metavar="X[,Y[,Z]]", help="Threads a block."),
        click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks a grid."),
        click.option("--arg", multiple=True, metavar="NAME=NUMBER", help="A scalar argument (in PTX: 2=4096)."),
        click.option("--assume", multiple=True, metavar="EXPR", help="What holds of arguments: 'n % 32 == 0'."),
        click.option("--shared", default=0, metavar="BYTES", help="Dynamic shared memory a block."),
        click.option("--device", multiple=True, metavar="ID", help="A GPU model, or several (default sm_80)."),
        click.option("--select", multiple=True, metavar="CODES", help="Only these rules: MEM, MEM001, ALL."),
        click.option("--extend-select", multiple=True, metavar="CODES", help="These rules as well."),
        click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules."),
        click.option("--lang", type=click.Choice(["cuda", "opencl", "ptx"]), help="Language (default: by suffix)."),
        click.option("--timeout", type=float, metavar="S", help="Seconds for one kernel (default 60)."),
        click.option("-j", "--jobs", type=int, metavar="N", help="Processes; 0: as many as processors."),
    )):  # fmt: skip
        function = option(function)
    return compiler_options(function)


def settings_of(given: Mapping[str, object]) -> Settings:
    """Return the settings for the options of a command; those that were not given do not count."""
    flags: dict[str, Setting] = {}
    lists = {
        "device": "device", "select": "rules.select", "extend_select": "rules.extend-select", "ignore": "rules.ignore",
    }  # fmt: skip
    for option, key in lists.items():
        if found := texts(given.get(option)):
            flags[key] = tuple(part.strip() for one in found for part in one.split(","))
    for key in ("fail-on", "min-certainty", "evidence", "sort", "baseline"):
        value = text(given.get(key.replace("-", "_")))
        if value is not None:
            flags[key] = value
    for key in ("context", "limit", "jobs", "timeout"):
        number = given.get(key)
        if isinstance(number, int | float):
            flags[key] = max(0, number)
    isolated = bool(given.get("isolated"))
    return read_settings(
        Wanted(flags, text(given.get("config")), not (isolated or given.get("no_config")), not isolated)
    )  # fmt: skip


def kernel_files(paths: tuple[str, ...], given: Mapping[str, object], settings: Settings) -> list[KernelFile]:
    """Return the files that are named by the command line; `-` is standard input."""
    language = _language(text(given.get("lang")))
    arguments = compiler_arguments(given)
    instances = tuple(name for name in texts(given.get("kernel")) if "<" in name)
    files: list[KernelFile] = []
    for path in files_of(paths, settings.texts("include")):
        if path == "-":
            name = text(given.get("stdin_filename")) or "<stdin>"
            held = sys.stdin.buffer.read().decode("latin-1")
            files.append(KernelFile(name, language, arguments, held, instances))
        else:
            files.append(KernelFile(path, language, arguments, None, instances))
    return files


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
