"""Kernels of examples/ and of the corpus of races, each with a small launch under which it has a meaning."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path

from tests.simt.engine.agree import Case
from tests.targets.llvm.agree import interpreted
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Function, Memory, Value
from warpsmith.ssa.types import F32, F64, Type
from warpsmith.targets.llvm.addresses import pointer_parameters
from warpsmith.targets.llvm.vector import lanes_of_kernel
from warpsmith.targets.mask.addresses import bases_of

__all__ = ["OWN", "all_kernels", "case_of", "kernel_module", "own_kernels"]

_ROOT = Path(__file__).parents[3]
_FOLDERS = ("examples/kernels", "examples/manual", "examples", "tests/analysis/sync/corpus")
OWN = str(Path(__file__).parent / "kernels.cu")
_ELEMENTS = 4096
_SHAPES = (((32, 1, 1), (2, 1, 1)), ((32, 1, 1), (1, 1, 1)), ((8, 8, 1), (1, 1, 1)), ((16, 16, 1), (1, 1, 1)))
_SIZES = (32, 8)


@cache
def kernel_module(path: str) -> KernelUnit:
    """Return what a file holds."""
    unit = read_unit(KernelFile(path))
    assert isinstance(unit, KernelUnit)
    return unit


def all_kernels() -> list[tuple[str, str]]:
    """Return the files and names of all kernels."""
    files = sorted(
        one for folder in _FOLDERS for one in (_ROOT / folder).iterdir() if one.suffix in (".cu", ".cl", ".ptx")
    )
    return [
        (str(one), f.name) for one in files for f in kernel_module(str(one)).module.functions if f.kernel and f.blocks
    ]


def own_kernels() -> list[str]:
    """Return the names of the kernels of kernels.cu."""
    return [function.name for function in kernel_module(OWN).module.functions if function.kernel]


@cache
def case_of(path: str, name: str) -> Case | None:
    """Return a launch of a kernel that the interpreter runs without complaint; None where none was found."""
    unit = kernel_module(path)
    function = unit.module.function(name)
    assert function is not None
    launched = unit.launches.get(name)
    shapes = list(_SHAPES)
    exact = function.limits.exact_block or (launched.block if launched is not None else None)
    if exact is not None:
        shapes = [(exact, (1, 1, 1))]
    for block, grid in shapes:
        for size in _SIZES:
            made = _case(unit, function, Launch(grid, block, _scalars(function, size), shared=1024, max_steps=40_000))
            if interpreted(made, lanes_of_kernel(function)) is not None:
                return made
    return None


def _scalars(function: Function, size: int) -> dict[str, bytes]:
    pointers = pointer_parameters(function)
    given = {}
    for one in function.parameters:
        if one.name not in pointers:
            number = struct.pack("<f", 1.5) if one.type == F32 else struct.pack("<d", 1.5) if one.type == F64 else None
            given[one.name] = number or struct.pack("<q", size)[: one.bytes].ljust(one.bytes, b"\0")
    return given


def _case(unit: KernelUnit, function: Function, launch: Launch) -> Case:
    types = _element_types(function)
    arrays = {name: (_numbers(types.get(name)), True) for name in pointer_parameters(function)}
    return Case(unit.module, function.name, launch, arrays)


def _element_types(function: Function) -> dict[str, Type]:
    bases = bases_of(function)
    found: dict[str, Type] = {}
    for _, i in function.instructions():
        address = i.operands[0] if isinstance(i.detail, Memory) else None
        if isinstance(address, Value) and bases.get(address):
            found[bases[address]] = (*i.results, *i.operands[1:])[0].type
    return found


def _numbers(type: Type | None) -> bytes:
    if type == F64:
        return struct.pack(f"<{_ELEMENTS}d", *(at % 13 / 4 - 1 for at in range(_ELEMENTS)))
    if type == F32:
        return struct.pack(f"<{_ELEMENTS}f", *(at % 13 / 4 - 1 for at in range(_ELEMENTS)))
    return struct.pack(f"<{_ELEMENTS}i", *(at * 7 % 11 for at in range(_ELEMENTS)))
