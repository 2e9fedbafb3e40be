"""The list of GPUs with units of four or five operations (gpus.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Literal

from msgspec import Struct, convert

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.machine.vliw.slots import Generation

__all__ = ["VliwGpu", "is_vliw", "load_vliw_gpus", "vliw_gpu"]


class VliwGpu(Struct, frozen=True, forbid_unknown_fields=True):
    """One GPU: `units` take a bundle a clock each; `source` says where its numbers come from."""

    name: str
    title: str
    chip: str
    generation: Generation
    units: int
    texture_units: int
    clock_mhz: int
    source: Literal["public", "memory"]


@cache
def load_vliw_gpus() -> tuple[VliwGpu, ...]:
    """Return every GPU of the list, in its order."""
    text = files("warpsmith.machine.vliw").joinpath("gpus.toml").read_text(encoding="utf-8")
    rows: Mapping[str, Mapping[str, object]] = tomllib.loads(text)
    return tuple(convert({"name": name, **row}, VliwGpu) for name, row in rows.items())


def is_vliw(name: str) -> bool:
    """Whether a GPU of the list is called `name`."""
    return any(name.strip().lower() in (one.name, one.chip.lower()) for one in load_vliw_gpus())


def vliw_gpu(name: str) -> VliwGpu:
    """Return the GPU called `name`, or the one of that chip; raises UsageError with the nearest names."""
    wanted = name.strip().lower()
    for one in load_vliw_gpus():
        if wanted in (one.name, one.chip.lower()):
            return one
    known = [word for one in load_vliw_gpus() for word in (one.name, one.chip.lower())]
    near = get_close_matches(wanted, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
    raise UsageError(Finding("CFG001", "error", f"there is no GPU of four or five slots '{name}'", help=(hint,)))
