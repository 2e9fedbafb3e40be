"""The table of GPUs (devices.toml). Adding a GPU is adding a table there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal, TypeVar, cast

from msgspec import Meta, Struct, ValidationError, convert

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["Device", "HostProcessor", "Source", "Vendor", "device", "load_devices", "load_host"]

Vendor = Literal["nvidia", "amd"]
Source = Literal["vendor", "public", "header", "fitted", "memory"]
_ARCH = r"^(sm_[0-9]+|gfx[0-9a-f]+|r600|evergreen)$"


class Device(Struct, frozen=True, forbid_unknown_fields=True):
    """One GPU. Units are multiprocessors (compute units); sizes are in the unit that the field names.

    `sources` says for each number where it comes from; "memory" is unconfirmed.
    """

    name: str
    title: str
    vendor: Vendor
    arch: Annotated[str, Meta(pattern=_ARCH)]
    units: int
    clock_mhz: int
    bandwidth_gb_s: int
    l2_mib: int | float
    l2_gb_s: int
    warp_width: int
    warps_per_unit: int
    blocks_per_unit: int
    shared_per_unit_kib: int
    shared_per_block_kib: int
    registers: int
    copy_gb_s: int
    pinned_gb_s: int
    copy_ns: int
    launch_ns: int
    start_us: int
    latency_cycles: int
    request_cycles: int
    sources: Mapping[str, Source]


class HostProcessor(Struct, frozen=True, forbid_unknown_fields=True):
    """The processor that a program ran on before, in picoseconds of one of its cores: the row `host` of the table says
    what each is."""

    title: str
    cores: int
    operation_ps: int
    vector_operation_ps: int
    chain_ps: int
    division_ps: int
    call_ps: int
    io_ps: int
    strided_ps: int
    byte_ps: int
    team_ps: int
    sources: Mapping[str, Source]


_HOST: Final = "host"
_Row = TypeVar("_Row", Device, HostProcessor)


@cache
def load_devices() -> tuple[Device, ...]:
    """Return every GPU of the table, in its order."""
    return tuple(_device(name, row) for name, row in _table().items() if name != _HOST)


@cache
def load_host() -> HostProcessor:
    """Return the processor of the table that is no GPU."""
    return _read_row(HostProcessor, _HOST, _table()[_HOST])


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


def _device(name: str, row: Mapping[str, object]) -> Device:
    return _read_row(Device, name, {"name": name, **row})


def _read_row(kind: type[_Row], name: str, row: Mapping[str, object]) -> _Row:
    """Return a row of the table as a record. Raises ValueError where a key, a word or a source is not one that there
    is: a mistake in the table."""
    numbers = [key for key, value in row.items() if isinstance(value, int | float)]
    given = cast(Mapping[str, object], row["source"])
    if unknown := given.keys() - set(numbers):
        raise ValueError(f"devices.toml: {name} has no number {', '.join(sorted(unknown))} that could have a source")
    sources = {number: given.get(number, "memory") for number in numbers}
    values = {key: value for key, value in row.items() if key != "source"}
    try:
        return convert({**values, "sources": sources}, kind, strict=True)
    except ValidationError as error:
        raise ValueError(f"devices.toml: {name}: {error}") from error
