"""`port --data`: how long data stay on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.offload.plan import DataScheme
from warpsmith.settings.model import Settings

__all__ = ["data_options", "data_scheme"]

C = TypeVar("C", bound=Callable[..., object])


def data_options(command: C) -> C:
    """Add the option to a command."""
    command = click.option(
        "--pinned",
        is_flag=True,
        help="What is copied lies in page-locked memory, as far as the program allocates it itself or it is static.",
    )(command)
    return click.option(
        "--data",
        type=click.Choice(["resident", "per-call", "managed"]),
        help="How long data stay on the device: across kernels and calls, as far as that is proved (resident, the "
        "default); for each kernel alone, with copies around it (per-call); or in memory that the host shares, "
        "which the program's own malloc then gives (managed).",
    )(command)


def data_scheme(given: Mapping[str, object], settings: Settings, *, project: bool) -> DataScheme:
    """Return what the option, or the configuration, says. Raises UsageError where other options contradict it."""
    schemes: tuple[DataScheme, ...] = ("resident", "per-call", "managed")
    data = next(scheme for scheme in schemes if scheme == settings.text("data"))
    if data == "per-call" and given["transfers"] in ("host", "mixed"):
        message = f"--data per-call copies around each kernel, and --transfers {given['transfers']} does not"
        raise UsageError(Finding("INP000", "error", message, help=("leave out --transfers",)))
    if (data == "managed" or given["pinned"]) and project:
        option = "--data managed" if data == "managed" else "--pinned"
        message = f"{option} replaces the allocations of files, not of projects"
        raise UsageError(Finding("INP000", "error", message, help=("name the C files to port",)))
    if data == "managed" and given["transfers"] != "optimized":
        message = f"--data managed keeps data where they are, and --transfers {given['transfers']} copies them"
        raise UsageError(Finding("INP000", "error", message, help=("leave out --transfers",)))
    if data == "managed" and given["pinned"]:
        message = "--pinned makes copies faster, and --data managed shares the memory in place of copies"
        raise UsageError(Finding("INP000", "error", message, help=("leave out one of them",)))
    return data
