"""The table of GPUs (devices.toml). Adding a GPU is adding a table there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Literal

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["Device", "HostProcessor", "Source", "Vendor", "device", "load_devices", "load_host"]

Vendor = Literal["nvidia", "amd"]
Source = Literal["vendor", "public", "header", "fitted", "memory"]


class Device(Struct, frozen=True):
    """One GPU. Units are multiprocessors (compute units); sizes are in the unit that the field names.

    `sources` says for each number where it comes from; "memory" is unconfirmed.
    """

    name: str
    title: str
    vendor: Vendor
    arch: str
    units: int
    clock_mhz: int
    bandwidth_gb_s: int
    l2_mib: int
    warp_width: int
    warps_per_unit: int
    blocks_per_unit: int
    shared_per_unit_kib: int
    shared_per_block_kib: int
    registers: int
    copy_gb_s: int
    copy_ns: int
    launch_ns: int
    start_us: int
    latency_cycles: int
    request_cycles: int
    sources: Mapping[str, Source]


class HostProcessor(Struct, frozen=True):
    """The processor that a program ran on before, in picoseconds of one of its cores: the row `host` of the table says
    what each is."""

    title: str
    cores: int
    operation_ps: int
    vector_operation_ps: int
    chain_ps: int
    division_ps: int
    call_ps: int
    strided_ps: int
    byte_ps: int
    sources: Mapping[str, Source]


@cache
def load_devices() -> tuple[Device, ...]:
    """Return every GPU of the table, in its order."""
    return tuple(_device(name, row) for name, row in _table().items() if name != _HOST)


@cache
def load_host() -> HostProcessor:
    """Return the processor of the table that is no GPU."""
    row = _table()[_HOST]
    numbers = {key: value for key, value in row.items() if isinstance(value, int)}
    return HostProcessor(title=str(row["title"]), sources=_sources(row, numbers), **numbers)


@cache
def _table() -> Mapping[str, Mapping[str, object]]:
    return tomllib.loads(files("warpsmith.machine").joinpath("devices.toml").read_text(encoding="utf-8"))


def device(name: str) -> Device:
    """Return the GPU called `name` (`h100`) or the first one of architecture `name` (`sm_90`, `gfx90a`).

    Raises UsageError with the nearest names where there is none.
    """
    devices = load_devices()
    wanted = name.strip().lower()
    for candidate in devices:
        if wanted == candidate.name:
            return candidate
    for candidate in devices:
        if wanted == candidate.arch:
            return candidate
    known = list(dict.fromkeys(n for d in devices for n in (d.name, d.arch)))
    near = get_close_matches(wanted, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    raise UsageError(Finding("CFG001", "error", f"there is no device '{name}'", help=(hint,)))


_HOST = "host"


def _device(name: str, row: Mapping[str, object]) -> Device:
    numbers = {key: value for key, value in row.items() if isinstance(value, int)}
    return Device(
        name=name,
        title=str(row["title"]),
        vendor="nvidia" if row["vendor"] == "nvidia" else "amd",
        arch=str(row["arch"]),
        sources=_sources(row, numbers),
        **numbers,
    )


def _sources(row: Mapping[str, object], numbers: Mapping[str, int]) -> Mapping[str, Source]:
    given = row["source"]
    return {n: _source(given.get(n) if isinstance(given, dict) else None) for n in numbers}


def _source(text: object) -> Source:
    match text:
        case "vendor" | "public" | "header" | "fitted":
            return text
        case None:
            return "memory"
        case _:
            raise ValueError(f"devices.toml: unknown source {text!r}")
