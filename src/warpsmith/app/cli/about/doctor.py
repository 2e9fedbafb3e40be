"""`warpsmith doctor`: which tools are found, what is missing, and how to get it."""

from __future__ import annotations

import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

import click

from warpsmith import __version__
from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.report.model import Report, ToolEntry
from warpsmith.report.port.json import report_json
from warpsmith.report.port.text import table_text

__all__ = ["command"]


@click.command("doctor", cls=Command)
def command() -> int:
    """Say which tools are found, what is missing, and how to get it. Exit code 1: a needed one is missing."""
    entries = _entries()
    missing = any(entry.state == "missing" for entry in entries)
    if global_options().json:
        click.echo(report_json(Report("doctor", (), "negative" if missing else "ok", tools=entries)))
    else:
        click.echo(table_text([(entry.name, entry.found, entry.state, entry.remedy) for entry in entries]))
    return 1 if missing else 0


def _entries() -> tuple[ToolEntry, ...]:
    return (
        ToolEntry("python", "ok", f"{platform.python_version()}, warpsmith {__version__}", ""),
        _package("libclang", needed=True, remedy="pip install libclang==18.1.1"),
        _package("islpy", needed=True, remedy="pip install islpy"),
        _program("gcc", needed=True, remedy="install gcc: reading C and the referee need it"),
        _program("g++", needed=True, remedy="install g++: the emulation needs it"),
        _program("addr2line", needed=False, remedy="install binutils: races are then named with their lines"),
        _program("nvcc", needed=False, remedy="install the CUDA toolkit to compile whole programs for a GPU"),
        _package("nvidia-cuda-nvrtc", needed=False, remedy="pip install 'warpsmith[cuda]': kernels compiled by NVRTC"),
        ToolEntry("network", "ok", "warpsmith opens no connection", ""),
    )


def _program(name: str, *, needed: bool, remedy: str) -> ToolEntry:
    path = shutil.which(name)
    if path is not None:
        return ToolEntry(name, "ok", path, "")
    return ToolEntry(name, "missing" if needed else "optional", "not found", remedy)


def _package(name: str, *, needed: bool, remedy: str) -> ToolEntry:
    try:
        return ToolEntry(name, "ok", version(name), "")
    except PackageNotFoundError:
        return ToolEntry(name, "missing" if needed else "optional", "not installed", remedy)
