"""`port --data`: how long data stay on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import click
from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.offload.plan import DataScheme
from warpsmith.settings.model import Settings

__all__ = ["DataChoice", "asked_settings", "data_options", "data_scheme"]

C = TypeVar("C", bound=Callable[..., object])


class DataChoice(Struct, frozen=True):
    """How long data stay on the device, whether what is copied is page-locked, and whether copies go on beside other
    work."""

    data: DataScheme
    pinned: bool = False
    overlap: bool = False


def data_options(command: C) -> C:
    """Add the option to a command."""
    command = click.option(
        "--overlap",
        is_flag=True,
        help="As --pinned; and copies go on beside kernels and host code that are proved not to meet them.",
    )(command)
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


def asked_settings(given: Mapping[str, object]) -> dict[str, object]:
    """Return what the options say of the keys of the configuration that they stand for."""
    copies = "overlapped" if given["overlap"] else "pinned" if given["pinned"] else None
    return {"data": given["data"], "copies": copies}


def data_scheme(given: Mapping[str, object], settings: Settings, *, project: bool) -> DataChoice:
    """Return what the options, or the configuration, say. Raises UsageError where others contradict it."""
    schemes: tuple[DataScheme, ...] = ("resident", "per-call", "managed")
    data = next(scheme for scheme in schemes if scheme == settings.text("data"))
    copies = settings.text("copies")
    option = "--overlap" if copies == "overlapped" else "--pinned"
    if data == "managed" and copies != "ordinary":
        typed = {key for key in ("data", "copies") if settings.origins[key] == "command line"}
        if len(typed) != 1:
            does = "lets copies go on beside other work" if option == "--overlap" else "makes copies faster"
            message = f"{option} {does}, and --data managed shares the memory in place of copies"
            raise UsageError(Finding("INP000", "error", message, help=("leave out one of them",)))
        # what is typed says more than a file
        data, copies = ("managed", "ordinary") if "data" in typed else ("resident", copies)
    if data == "per-call" and given["transfers"] in ("host", "mixed"):
        message = f"--data per-call copies around each kernel, and --transfers {given['transfers']} does not"
        raise UsageError(Finding("INP000", "error", message, help=("leave out --transfers",)))
    if (data == "managed" or copies != "ordinary") and project:
        option = "--data managed" if data == "managed" else option
        message = f"{option} replaces the allocations of files, not of projects"
        raise UsageError(
            Finding("INP000", "error", message, help=("name the C files to port, and leave out -p and --patch",))
        )
    if data == "managed" and given["transfers"] != "optimized":
        message = f"--data managed keeps data where they are, and --transfers {given['transfers']} copies them"
        raise UsageError(Finding("INP000", "error", message, help=("leave out --transfers",)))
    return DataChoice(data, copies != "ordinary", copies == "overlapped")
