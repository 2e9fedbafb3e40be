"""Stencils whose kernels have tiles with a halo on the compiled SIMT machine, against the functions that they are made
from, bit for bit.

Races, accesses that leave an array, shared memory that is read before anything was stored there, and barriers that not
all threads come to, all end a run.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from tests.random_programs.halo_programs import SIZES, Stencil, elements, program
from tests.random_programs.on_engine import launch_grid
from warpsmith.flows.port import PortOptions, port
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.offload.mapping.halo import kernel
from warpsmith.offload.mapping.halo.neighbors import HaloRead
from warpsmith.offload.mapping.tile_shape import TileBlock
from warpsmith.offload.mapping.tiling import TileRequest
from warpsmith.offload.plan import Fragment
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.tree.program import Decision

__all__ = ["Compared", "compare_stencils", "want_halos"]

_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=True, quick=True)
_STEPS: Final = 200_000_000
_COUNTERS: Final = {"int": ctypes.c_int, "long": ctypes.c_long}
_TYPES: Final = {"double": "<f8", "float": "<f4", "int": "<i4"}
_ARRAYS: Final = "CAD"
_BLOCKS: Final[dict[int, tuple[tuple[int, int, int], ...]]] = {
    1: ((8, 1, 1), (16, 1, 1), (64, 1, 1)),
    2: ((8, 4, 1), (4, 8, 1), (16, 1, 1), (16, 16, 1), (1, 8, 1), (32, 2, 1)),
    3: ((4, 4, 2), (8, 2, 4), (2, 2, 8), (16, 1, 2), (8, 8, 1)),
}


class Compared(Struct):
    """Counts over functions: kernels with tiles, launches of them, why others had none, and what was `wrong`."""

    kernels: int = 0
    launches: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def want_halos(patch: pytest.MonkeyPatch) -> None:
    """Let every kernel have tiles, in a block that is chosen by the name of the function."""

    def decision(request: TileRequest) -> Decision:
        function = request.search.request.facts.function.symbol.name
        return Decision("", function, "halo", request.search.heads[0])

    def block(reads: Sequence[HaloRead], given: TileBlock) -> TileBlock:
        chosen = random.Random(" ".join(repr(read.reach[loop]) for read in reads for loop in read.by))
        return replace(given, block=chosen.choice(_BLOCKS[len(given.heads)]))

    patch.setattr(kernel, "_find_decision", decision)
    patch.setattr(kernel, "choose_block", block)


def compare_stencils(stencils: Sequence[Stencil], folder: Path, compared: Compared) -> None:
    """Port functions and run those that are one kernel at all sizes, natively and on the machine."""
    path = folder / "stencils.c"
    path.write_text(program(stencils))
    result = port([str(path)], PortOptions(steps=False, verify=False))
    assert result.plan is not None
    for refusal in result.plan.refusals:
        compared.left[refusal.reason.text] += 1
    text = next((file.text for file in result.files if file.path.endswith(".cu")), "")
    if not text:
        return
    unit = read_unit(KernelFile("stencils.cu", text=text))
    assert isinstance(unit, KernelUnit), unit
    library = folder / f"{stencils[0].name}_{len(list(folder.iterdir()))}.so"
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(path), "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    native = ctypes.CDLL(str(library))
    for one in stencils:
        mine = [f for f in result.plan.fragments if f.function.symbol.name == one.name]
        # what is refused as a whole may have kernels of inner loops
        if len(mine) != 1 or not mine[0].halos or mine[0].region.count("/") > 1:
            compared.left["not one kernel"] += 1
            continue
        compared.kernels += 1
        for size in SIZES:
            _compare(one, mine[0], unit, (native, size), compared)


def _compare(
    one: Stencil,
    fragment: Fragment,
    unit: KernelUnit,
    at: tuple[ctypes.CDLL, tuple[int, int, int]],
    compared: Compared,
) -> None:
    native, size = at
    chosen = random.Random(f"{one.text} {size}")
    before = {name: _numbers(chosen, one, size) for name in _ARRAYS}
    expected = {name: block.copy() for name, block in before.items()}
    places = [ctypes.c_void_p(expected[name].ctypes.data) for name in _ARRAYS]
    getattr(native, one.name)(*(_COUNTERS[one.counter](number) for number in size), *places)
    grid = launch_grid(fragment, dict(zip("nml", size, strict=True)))
    if grid is None:
        found = before["C"]
    else:
        made = _run(fragment, unit, (grid, size, chosen.choice((8, 17, 32, 64))), before)
        if isinstance(made, str):
            compared.wrong.append(f"{made} at {size}\n{one.text}")
            return
        found = np.frombuffer(made, _TYPES[one.element])
    compared.launches += 1
    if found.tobytes() != expected["C"].tobytes():
        at_element = int(np.flatnonzero(found != expected["C"])[0])
        said = f"C[{at_element}] is {found[at_element]}, not {expected['C'][at_element]}"
        compared.wrong.append(f"{said} at {size}\n{one.text}")


def _numbers(chosen: random.Random, one: Stencil, size: tuple[int, int, int]) -> np.ndarray[Any, Any]:
    """Return an array of exactly as many elements as the function's parameter has."""
    return np.array([chosen.randint(-9, 30) / 8 for _ in range(elements(one, size))]).astype(_TYPES[one.element])


def _run(
    fragment: Fragment,
    unit: KernelUnit,
    at: tuple[tuple[int, int, int], tuple[int, int, int], int],
    before: Mapping[str, np.ndarray[Any, Any]],
) -> bytes | str:
    """Return what a launch leaves in C, or what stopped it; `at`: the grid, the sizes, how wide a warp is."""
    grid, size, width = at
    kernel = unit.module.function(f"{fragment.kernel.name}_kernel")
    assert kernel is not None
    given = dict(zip("nml", size, strict=True))
    memory = LaunchMemory(checks=True)
    buffers = {name: memory.allocate(name, block.tobytes()) for name, block in before.items()}
    arguments: dict[str, bytes] = {}
    for parameter in kernel.parameters:
        name = parameter.name.removesuffix("_gpu")
        number = buffers[name].address if name in buffers else given.get(name, 0)
        arguments[parameter.name] = number.to_bytes(parameter.bytes, "little")
    launch = Launch(grid, fragment.kernel.block, arguments, warp=width, max_steps=_STEPS)
    why = why_refused(unit.module, kernel, launch)
    assert not why, why
    made = run(unit.module, kernel.name, launch, memory, _CHECKS)
    return made.why or bytes(buffers["C"].data)
