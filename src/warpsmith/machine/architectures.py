"""What a multiprocessor of an architecture does in a clock (architectures.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import cast

from msgspec import Struct, convert

from warpsmith.machine.devices import Source

__all__ = ["Architecture", "Lanes", "Latencies", "architecture"]


class Lanes(Struct, frozen=True, forbid_unknown_fields=True):
    """Results in a clock, by the kind of instruction; `single` and `double` are of floating point; 0: none."""

    integer: int
    multiply: int
    single: int
    double: int
    special: int
    convert: int
    memory: int
    control: int


class Latencies(Struct, frozen=True, forbid_unknown_fields=True):
    """Clocks until a result is there: of an instruction, of a load that a memory or a cache answers."""

    arithmetic: int
    shared: int
    l1: int
    l2: int
    memory: int


class Architecture(Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table. `source` names the numbers that are confirmed (`memory_clocks`: the latency of memory)."""

    name: str
    issue: int
    lanes: Lanes
    l1_bytes: int
    l1_kib: int
    latency: Latencies
    source: Mapping[str, Source]


@cache
def _table() -> Mapping[str, object]:
    return tomllib.loads(files("warpsmith.machine").joinpath("architectures.toml").read_text(encoding="utf-8"))


@cache
def architecture(name: str) -> Architecture | None:
    """Return the architecture of a device (`sm_80`); None where there are no numbers for it. Raises ValueError where
    the table has a mistake."""
    row = _table().get(name)
    if row is None:
        return None
    return convert({**cast(Mapping[str, object], row), "name": name}, Architecture, strict=True)
