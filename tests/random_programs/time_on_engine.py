"""Kernels that do several time steps a launch on the compiled SIMT machine, against the functions that they come from,
bit for bit in both arrays.

Races, accesses that leave an array, shared memory that is read before anything was stored there, and barriers that not
all threads come to, all end a run.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct, field

from tests.poly.programs import load
from tests.random_programs.on_engine import launch_grid
from tests.random_programs.time_programs import SIZES, TimeLoop
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.loops.step import Step
from warpsmith.offload.plan import Fragment
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.time_tile import TimeTile
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

__all__ = ["TimeTiled", "accepted", "compare_time_loops", "steps_of", "text_of"]

_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=True, quick=True)
_STEPS: Final = 200_000_000
_TYPES: Final = {"double": "<f8", "float": "<f4", "int": "<i4"}
_ARRAYS: Final = "ABD"
_AXES: Final = {1: ("x",), 2: ("y", "x"), 3: ("z", "y", "x")}


class TimeTiled(Struct):
    """Counts over functions: kernels of several steps, runs of them, why others had none, and what was `wrong`."""

    kernels: int = 0
    runs: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def text_of(loops: Sequence[TimeLoop]) -> str:
    """Return all functions."""
    return "\n".join(one.text for one in loops)


def steps_of(one: TimeLoop) -> tuple[Step, ...]:
    """Return the steps that tile a function."""
    tile, counter = TimeTile(one.loop, one.iterations, one.passes), one.loop.partition("/")[2]
    return tile, Map(f"{one.name}/{counter}_passes/{counter}_in/i", _AXES[one.depth], one.block)


def accepted(one: TimeLoop, folder: Path) -> str:
    """Return why a function's loop is refused, empty where it is not."""
    program = load(one.text, folder)
    verdict = TimeTile(one.loop, one.iterations, one.passes).check(program, Facts.about(program, PolyOptions()))
    return "" if isinstance(verdict, Proved) else verdict.reasons[0].text


def compare_time_loops(loops: Sequence[TimeLoop], folder: Path, tiled: TimeTiled) -> None:
    """Port functions, each with its steps, and run what is tiled at all sizes, natively and on the machine."""
    kept: list[TimeLoop] = []
    for one in loops:
        why = accepted(one, folder)
        if why:
            tiled.left[why] += 1
        else:
            kept.append(one)
    if not kept:
        return
    path = folder / "loops.c"
    path.write_text(text_of(kept))
    chosen = tuple(step for one in kept for step in steps_of(one))
    result = port([str(path)], PortOptions(steps=False, verify=False, chosen=chosen))
    assert result.plan is not None
    text = next(file.text for file in result.files if file.path.endswith(".cu"))
    unit = read_unit(KernelFile("loops.cu", text=text))
    assert isinstance(unit, KernelUnit), unit
    library = folder / f"{kept[0].name}_{len(list(folder.iterdir()))}.so"
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(path), "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    native = ctypes.CDLL(str(library))
    for one in kept:
        (mine,) = [f for f in result.plan.fragments if f.function.symbol.name == one.name and f.iterations]
        tiled.kernels += 1
        for size in SIZES:
            _compare(one, mine, unit, (native, size), tiled)


def _compare(
    one: TimeLoop,
    fragment: Fragment,
    unit: KernelUnit,
    at: tuple[ctypes.CDLL, tuple[int, int, int]],
    tiled: TimeTiled,
) -> None:
    native, size = at
    chosen = random.Random(f"{one.text} {size}")
    count = prod(size[: one.depth])
    before = {
        name: np.array([chosen.randint(-9, 30) / 8 for _ in range(count)]).astype(_TYPES[one.element])
        for name in _ARRAYS
    }
    expected = {name: block.copy() for name, block in before.items()}
    places = [ctypes.c_void_p(expected[name].ctypes.data) for name in _ARRAYS]
    getattr(native, one.name)(*(ctypes.c_int(number) for number in size), *places)
    grid = launch_grid(fragment, dict(zip("nml", size, strict=True)))
    found = before if grid is None else _run(fragment, unit, (grid, size, chosen.choice((8, 17, 32))), before)
    if isinstance(found, str):
        tiled.wrong.append(f"{found} at {size}, {one.iterations} x {one.passes}\n{one.text}")
        return
    tiled.runs += 1
    for name in "AB":
        if found[name].tobytes() != expected[name].tobytes():
            at_element = int(np.flatnonzero(found[name] != expected[name])[0])
            said = f"{name}[{at_element}] is {found[name][at_element]}, not {expected[name][at_element]}"
            tiled.wrong.append(f"{said} at {size}, {one.iterations} x {one.passes}\n{one.text}")
            return


def _run(
    fragment: Fragment,
    unit: KernelUnit,
    at: tuple[tuple[int, int, int], tuple[int, int, int], int],
    before: dict[str, np.ndarray[Any, Any]],
) -> dict[str, np.ndarray[Any, Any]] | str:
    """Return what all launches leave in the arrays, or what stopped one; `at`: the grid, the sizes, a warp's width."""
    grid, size, width = at
    kernel = unit.module.function(f"{fragment.kernel.name}_kernel")
    assert kernel is not None and fragment.kernel.turn is not None
    given = dict(zip("nml", size, strict=True))
    memory = LaunchMemory(checks=True)
    buffers = {name: memory.allocate(name, block.tobytes()) for name, block in before.items()}
    for turn in range(fragment.kernel.turns):
        arguments: dict[str, bytes] = {}
        for parameter in kernel.parameters:
            name = parameter.name.removesuffix("_gpu")
            number = buffers[name].address if name in buffers else given.get(name, 0)
            number = turn if name == fragment.kernel.turn.name else number
            arguments[parameter.name] = number.to_bytes(parameter.bytes, "little")
        launch = Launch(grid, fragment.kernel.block, arguments, warp=width, max_steps=_STEPS)
        why = why_refused(unit.module, kernel, launch)
        assert not why, why
        made = run(unit.module, kernel.name, launch, memory, _CHECKS)
        if made.why:
            return f"{made.why} in turn {turn}"
    return {name: np.frombuffer(bytes(buffers[name].data), block.dtype) for name, block in before.items()}
