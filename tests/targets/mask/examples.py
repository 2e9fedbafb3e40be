"""Kernels of examples/, each with a small launch of its own."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

from tests.simt.engine.agree import Case
from warpsmith.base.errors import InputError
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Function, Value
from warpsmith.ssa.types import F32
from warpsmith.targets.mask.addresses import bases_of
from warpsmith.targets.mask.export import export_kernel

__all__ = ["example_case", "example_kernels", "why_refused"]

_ROOT = Path(__file__).parents[3] / "examples"
_WORDS = 512
_OF_ONE_BLOCK = ("temporal", "sync_dependence", "warp_number", "halve", "late_starts", "pointer_jump")
"""Blocks would write the same elements."""


@cache
def _unit(path: str) -> KernelUnit:
    unit = read_unit(KernelFile(path))
    assert isinstance(unit, KernelUnit)
    return unit


def example_kernels() -> list[tuple[str, str]]:
    """Return the files and names of all kernels of examples/kernels and examples/manual."""
    folders = (_ROOT / "kernels", _ROOT / "manual")
    files = sorted(one for folder in folders for one in folder.iterdir() if one.suffix in (".cu", ".cl", ".ptx"))
    return [(str(one), f.name) for one in files for f in _unit(str(one)).module.functions if f.kernel and f.blocks]


def _function(path: str, name: str) -> Function:
    function = _unit(path).module.function(name)
    assert function is not None
    return function


def why_refused(path: str, name: str) -> str:
    """Return why a kernel is not exported, "" where it is."""
    try:
        export_kernel(_function(path, name))
    except InputError as error:
        (finding,) = error.findings
        assert finding.rule == "MSK007" and finding.span is not None
        return finding.message
    return ""


def example_case(path: str, name: str) -> Case:
    """Return a launch of a kernel: small numbers in all arrays."""
    function = _function(path, name)
    exported = export_kernel(function)
    bases = bases_of(function)
    numbers = {
        base
        for _, i in function.instructions()
        for address in (i.operands[:1] if i.op in ("load", "store") else ())
        for base in ([bases.get(address)] if isinstance(address, Value) else [])
        if base and any(one.type == F32 for one in (*i.results, *i.operands[1:]))
    }
    floats = struct.pack(f"<{_WORDS}f", *(at % 13 / 4 - 1 for at in range(_WORDS)))
    whole = struct.pack(f"<{_WORDS}i", *(at * 7 % 11 for at in range(_WORDS)))
    arrays = {one: (floats if one in numbers else whole, True) for one in exported.views}
    given = {
        one.name: struct.pack("<f", 1.5) if one.type == F32 else struct.pack("<q", 8)[: one.bytes]
        for one in function.parameters
        if one.name not in arrays
    }
    block = (8, 1, 1) if exported.dimensions == 1 else (4, 2, 1)
    grid = (1, 1, 1) if name in _OF_ONE_BLOCK else (2, 1, 1) if exported.dimensions == 1 else (2, 2, 1)
    return Case(_unit(path).module, name, Launch(grid, block, given, warp=8, max_steps=200_000), arrays)
