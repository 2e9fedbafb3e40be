"""Options that several commands about kernels share, and how they become settings, files and launches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import click
from msgspec.structs import replace

from warpsmith.app.cli.command import global_options
from warpsmith.app.cli.options import compiler_arguments, compiler_options, text, texts
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.shape import Launching, arguments_of, bounds_of, dim_of
from warpsmith.kernels.units import KernelFile, Language, files_of
from warpsmith.settings.model import Setting, Settings
from warpsmith.settings.read import Wanted, read_settings

__all__ = [
    "BASELINE",
    "baseline_path",
    "default_settings",
    "is_found",
    "kernel_files",
    "kernel_options",
    "launching_of",
    "processes",
    "settings_of",
]

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
    said = global_options()
    numbers = {"context": given.get("context"), "limit": given.get("limit"), "jobs": said.jobs, "timeout": said.timeout}
    flags |= {key: number for key, number in numbers.items() if isinstance(number, int | float)}
    settings = read_settings(Wanted(flags, said.config, not (said.isolated or said.no_config), not said.isolated))
    _check(settings)
    return settings


def _check(settings: Settings) -> None:
    """Raise UsageError where a value makes no sense that only the commands about kernels can judge."""
    if not settings.texts("device"):
        message = f"{settings.origins['device']}: 'device' names no GPU model"
        raise UsageError(Finding("CFG002", "error", message, help=('for example device = ["sm_80"]',)))
    tables = [(f'kernels."{kernel.pattern}".assume', kernel.assume) for kernel in settings.kernels]
    for name, assumed in [("assume", settings.texts("assume")), *tables]:
        try:
            bounds_of(assumed)
        except UsageError as error:
            (found,) = error.findings
            message = found.message.replace("--assume", f"'{name}' of the configuration")
            raise UsageError(replace(found, rule="CFG002", message=message)) from error


def default_settings() -> Settings:
    """Return the settings where nothing is set."""
    return read_settings(Wanted(files=False, environment=False))


BASELINE = "warpsmith-baseline.json"


def baseline_path(settings: Settings) -> str:
    """Return the baseline that is set; else where one lies that nobody names: beside the configuration."""
    return settings.text("baseline") or os.path.relpath(Path(settings.root, BASELINE))


def is_found(path: str, settings: Settings) -> bool:
    """Whether `analyze` comes to this baseline without being told."""
    said = global_options()
    set_here = "" if said.isolated or said.no_config else baseline_path(replace(settings, values=_unsaid(settings)))
    return bool(set_here) and Path(set_here).resolve() == Path(path).resolve()


def _unsaid(settings: Settings) -> dict[str, Setting]:
    """Return the values without a baseline that only this command line names."""
    said = {"baseline": ""} if settings.origins["baseline"] == "command line" else {}
    return {**settings.values, **said}


def processes(settings: Settings) -> int:
    """Return how many processes a survey may use: as -j or the setting says, else as many as processors."""
    said = settings.number("jobs") if settings.origins["jobs"] != "default" else 0
    return said or os.cpu_count() or 1


def kernel_files(paths: tuple[str, ...], given: Mapping[str, object], settings: Settings) -> list[KernelFile]:
    """Return the files that are named by the command line; `-` is standard input."""
    language = _language(text(given.get("lang")))
    arguments = compiler_arguments(given)
    instances = tuple(name for name in texts(given.get("kernel")) if "<" in name)
    seconds = settings.seconds("timeout")
    files: list[KernelFile] = []
    for path in files_of(paths, settings.texts("include")):
        if path == "-":
            name = text(given.get("stdin_filename")) or "<stdin>"
            held = sys.stdin.buffer.read().decode("latin-1")
            files.append(KernelFile(name, language, arguments, held, instances, seconds))
        else:
            files.append(KernelFile(path, language, arguments, None, instances, seconds))
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
