"""Kernels with tiles on the compiled SIMT machine, against the functions that they come from, bit for bit.

Races, accesses that leave an array, shared memory that is read before anything was stored there, and barriers that not
all threads come to, all end a run.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import Counter
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct, field

from tests.random_programs.on_engine import launch_grid
from tests.random_programs.tiled_programs import SIZES, TiledFunction, program
from warpsmith.flows.port import PortOptions, port
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.offload.plan import Fragment
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

__all__ = ["Tiled", "compare_tiled"]

_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=True, quick=True)
_STEPS: Final = 200_000_000
_COUNTERS: Final = {"int": 4, "unsigned": 4, "long": 8, "size_t": 8}
_TYPES: Final = {"double": "<f8", "float": "<f4", "int": "<i4"}
_ARRAYS: Final = "CABPx"


class Tiled(Struct):
    """Counts over functions: kernels with tiles, those of them with `several` iterations a thread, launches of them,
    why others had none, and what was `wrong`."""

    kernels: int = 0
    several: int = 0
    launches: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def compare_tiled(functions: list[TiledFunction], folder: Path, tiled: Tiled, *arguments: str) -> None:
    """Port functions and run those that are one kernel with tiles at all sizes, natively and on the machine; kernels
    are read with these compiler's `arguments`."""
    path = folder / "tiled.c"
    path.write_text(program(functions))
    result = port([str(path)], PortOptions(steps=False, verify=False))
    assert result.plan is not None
    text = next((file.text for file in result.files if file.path.endswith(".cu")), "")
    unit = read_unit(KernelFile("tiled.cu", text=text, arguments=arguments))
    assert isinstance(unit, KernelUnit), unit
    library = folder / f"{functions[0].name}_{len(list(folder.iterdir()))}.so"
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(path), "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    native = ctypes.CDLL(str(library))
    for one in functions:
        mine = [f for f in result.plan.fragments if f.function.symbol.name == one.name]
        if len(mine) != 1 or not mine[0].tiles:
            tiled.left["no tiles" if len(mine) == 1 else "not one kernel"] += 1
            continue
        tiled.kernels += 1
        tiled.several += prod(mine[0].kernel.elements) > 1
        for size in SIZES:
            _compare(one, mine[0], unit, (native, size), tiled)


def _compare(
    one: TiledFunction, fragment: Fragment, unit: KernelUnit, at: tuple[ctypes.CDLL, tuple[int, int]], tiled: Tiled
) -> None:
    native, size = at
    chosen = random.Random(f"{one.text} {size}")
    before = {name: _numbers(chosen, one, name, size) for name in _ARRAYS}
    expected = {name: block.copy() for name, block in before.items()}
    kind = {4: ctypes.c_int, 8: ctypes.c_long}[_COUNTERS[one.counter]]
    places = [ctypes.c_void_p(expected[name].ctypes.data) for name in _ARRAYS]
    getattr(native, one.name)(*(kind(number) for number in size), *places)
    grid = launch_grid(fragment, dict(zip("nm", size, strict=True)))
    if grid is None:
        found = before["C"]
    else:
        made = _run(fragment, unit, (grid, size, chosen.choice((8, 17, 32, 64))), before)
        if isinstance(made, str):
            tiled.wrong.append(f"{made} at {size}\n{one.text}")
            return
        found = np.frombuffer(made, _TYPES[one.element])
    tiled.launches += 1
    if found.tobytes() != expected["C"].tobytes():
        at_element = int(np.flatnonzero(found != expected["C"])[0])
        said = f"C[{at_element}] is {found[at_element]}, not {expected['C'][at_element]}"
        tiled.wrong.append(f"{said} at {size}\n{one.text}")


def _numbers(chosen: random.Random, one: TiledFunction, name: str, size: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Return an array of exactly as many elements as the function's parameter has."""
    n, m = size
    count = {"C": n * n, "A": n * m, "B": m * n, "P": n * n, "x": m}[name]
    return np.array([chosen.randint(-9, 30) / 8 for _ in range(count)]).astype(_TYPES[one.element])


def _run(
    fragment: Fragment,
    unit: KernelUnit,
    at: tuple[tuple[int, int, int], tuple[int, int], int],
    before: Mapping[str, np.ndarray[Any, Any]],
) -> bytes | str:
    """Return what a launch leaves in C, or what stopped it; `at`: the grid, the sizes, how wide a warp is."""
    grid, size, width = at
    kernel = unit.module.function(f"{fragment.kernel.name}_kernel")
    assert kernel is not None
    given = dict(zip("nm", size, strict=True))
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
