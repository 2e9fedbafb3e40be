"""Ports of random nests on the compiled SIMT machine: what a kernel leaves in memory is what the function leaves there.

    nests.c  ──► port ──► nests.cu ──► kernel IR ──► machine code of warps, races looked for
       └───── gcc ──────────────────────────────────► the same arrays, from the same numbers

The referee runs ports with its own threads of the host; here other code makes machine code of the kernel that is
written, runs it in warps of any width, and looks for races at every byte. Compared are functions that are one kernel,
at sizes for which their guards hold.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec import Struct, field

from tests.random_programs.nests import Nest, Size, render_nest, render_unit
from tests.random_programs.survey import APART, LEGAL, ROOM, value_of
from warpsmith.emit.device.launching.grid import LaunchedGrid, launched_grid
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.predicted import launched_name
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.offload.plan import Fragment
from warpsmith.simt.engine.engine import Checks, run, why_refused
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Function

__all__ = ["Compared", "compare_ports", "launch_grid"]

ARRAYS: Final = "ABXYMP"
_TYPES: Final = {"int": ctypes.c_int, "unsigned": ctypes.c_uint, "long": ctypes.c_long, "unsigned long": ctypes.c_ulong}
_CHECKS: Final = Checks(lost=False, requests=False, uninitialized=False, quick=True)
_WIDTHS: Final = (4, 8, 17, 32, 64)

Blocks = dict[str, np.ndarray[Any, Any]]


class Compared(Struct):
    """Counts over nests: `launches` that were compared, `lanes` of them, why others were not, and what was `wrong`."""

    nests: int = 0
    launches: int = 0
    lanes: int = 0
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def compare_ports(nests: Sequence[Nest], folder: Path, sizes: int, compared: Compared) -> None:
    """Port a batch of nests, and run each that is one kernel at so many sizes, natively and on the machine."""
    path = folder / "nests.c"
    path.write_text(render_unit(nests, LEGAL, ROOM))
    result = port([str(path)], PortOptions(steps=False, verify=False))
    assert result.plan is not None
    compared.nests += len(nests)
    text = next((file.text for file in result.files if file.path.endswith(".cu")), "")
    # where indices have either width, those of 32 bits
    instances = tuple(_instance(one, shared=way) for one in result.plan.fragments for way in (True, False))
    unit = read_unit(KernelFile("nests.cu", text=text, instances=instances)) if text else None
    if not isinstance(unit, KernelUnit):
        return
    native = _build(nests, folder)
    for nest in nests:
        mine = [one for one in result.plan.fragments if one.function.symbol.name == nest.name]
        if not _is_whole(mine, unit):
            compared.left["not one kernel"] += 1
            continue
        chosen = random.Random(f"{nest.name} {render_nest(nest)}")
        for size in _sizes(nest, chosen, sizes):
            _Ported(nest, mine[0], unit, native).compare(size, chosen, compared)


def _build(nests: Sequence[Nest], folder: Path) -> ctypes.CDLL:
    """Return the functions as the compiler of the host makes them."""
    source, library = folder / "native.c", folder / f"{nests[0].name}.so"  # what is loaded stays, by its name
    source.write_text("\n".join(render_nest(nest) for nest in nests))
    command = ["gcc", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True, timeout=120)
    return ctypes.CDLL(str(library))


def _instance(fragment: Fragment, *, shared: bool) -> str:
    """Return what is launched: indices have 32 bits, and threads share loops or do not."""
    return launched_name(fragment.kernel, narrow=True, shared=shared)


def _is_whole(fragments: Sequence[Fragment], unit: KernelUnit) -> bool:
    """Whether a function is one kernel, which has all of its loops, and gets nothing but its arrays and sizes."""
    if len(fragments) != 1 or fragments[0].kind != "nest" or fragments[0].region.count("/") != 1:
        return False
    kernel = unit.module.function(_instance(fragments[0], shared=False))
    if kernel is None or not kernel.blocks:
        return False
    known = {*(f"{name}_gpu" for name in ARRAYS), *"nmw"}
    return all(parameter.name in known for parameter in kernel.parameters)


def _sizes(nest: Nest, chosen: random.Random, count: int) -> Iterator[Size]:
    """Yield sizes at which rows do not overlap, and that a nest takes."""
    most_n, most_m = (max(size[axis] for size in LEGAL) for axis in range(2))
    for _ in range(count):
        size = (chosen.randint(0, most_n), chosen.randint(0, most_m), chosen.randint(31, 33))
        if nest.accepts(size):
            yield size


class _Ported(Struct, frozen=True):
    """A nest that is one kernel, and the function that the compiler of the host makes of it."""

    nest: Nest
    fragment: Fragment
    unit: KernelUnit
    native: ctypes.CDLL

    def compare(self, size: Size, chosen: random.Random, compared: Compared) -> None:
        """Run it at one size on both, and take note of what differs."""
        given = dict(zip("nmw", size, strict=True))
        if not _holds(self.fragment, {**given, **APART}):
            compared.left["a guard fails, or is not known"] += 1
            return
        before = {name: _numbers(chosen) for name in ARRAYS}
        expected = {name: block.copy() for name, block in before.items()}
        _call(self.native, self.nest, size, expected)
        kernel, threads = self.fragment.kernel, _threads(self.fragment, given)
        for shared in (False, True) if kernel.sharing is not None else (False,):
            grid = launched_grid(kernel, threads, shared=shared)
            assert grid is None or grid.slices == 1, "few threads"
            # threads that share a loop are lanes of a warp of 32
            width = chosen.choice(_WIDTHS) if not shared else 32
            function = self.unit.module.function(_instance(self.fragment, shared=shared))
            assert function is not None, self.fragment.kernel.name
            found = before if grid is None else self.launch(function, (grid, width), size, before, compared)
            if found is not None:
                _note(self.nest, size, found, expected, compared)

    def launch(
        self, kernel: Function, how: tuple[LaunchedGrid, int], size: Size, before: Blocks, compared: Compared
    ) -> Blocks | None:
        """Return what a kernel leaves of the arrays in a grid, in warps of a width; None where it does not run to its
        end."""
        grid, width = how
        given = dict(zip("nmw", size, strict=True))
        memory = LaunchMemory(checks=True)
        buffers = {name: memory.allocate(name, before[name].tobytes()) for name in ARRAYS}
        arguments: dict[str, bytes] = {}
        for parameter in kernel.parameters:
            name = parameter.name.removesuffix("_gpu")
            number = buffers[name].address + 8 * ROOM if name in buffers else given[name]
            arguments[parameter.name] = (number % (1 << 8 * parameter.bytes)).to_bytes(parameter.bytes, "little")
        launch = Launch(grid.grid, grid.block, arguments, warp=width)
        why = why_refused(self.unit.module, kernel, launch)
        if why:
            compared.left[why] += 1
            return None
        made = run(self.unit.module, kernel.name, launch, memory, _CHECKS)
        if made.why:
            compared.wrong.append(f"{made.why} at {size}\n{render_nest(self.nest)}")
            return None
        compared.lanes += made.counts.totals.lane_instructions
        return {name: np.frombuffer(bytes(buffer.data), "<f8") for name, buffer in buffers.items()}


def _note(nest: Nest, size: Size, found: Blocks, expected: Blocks, compared: Compared) -> None:
    """Take note of a launch, and of the first array that is not what it should be: sums may be in another order."""
    compared.launches += 1
    for name in ARRAYS:
        if not np.allclose(found[name], expected[name], rtol=1e-12, atol=0, equal_nan=True):
            at = int(np.flatnonzero(found[name] != expected[name])[0])
            said = f"{name}[{at - ROOM}] is {found[name][at]}, not {expected[name][at]}"
            compared.wrong.append(f"{said} at {size}\n{render_nest(nest)}")
            return


def _holds(fragment: Fragment, names: Mapping[str, int]) -> bool:
    """Whether the guards of a kernel hold, as far as they can be evaluated here."""
    try:
        return all(value_of(one.condition, names) for one in fragment.assumptions if one.condition is not None)
    except AssertionError:
        return False


def launch_grid(fragment: Fragment, given: Mapping[str, int]) -> tuple[int, int, int] | None:
    """Return how many blocks are launched along each axis, None where there is nothing to do."""
    kernel, counts = fragment.kernel, _threads(fragment, given)
    if any(count <= 0 for count in counts.values()):
        return None
    x, y, z = (-(-counts.get(axis, 1) // size) for axis, size in zip("xyz", kernel.covered, strict=True))
    return x, y, z


def _threads(fragment: Fragment, given: Mapping[str, int]) -> dict[str, int]:
    """Return how many iterations there are along each axis."""
    kernel = fragment.kernel
    pairs = zip(kernel.mapped, kernel.launch, strict=True)
    return {mapped.axis: value_of(count, given) for mapped, (_, count) in pairs}


def _numbers(chosen: random.Random) -> np.ndarray[Any, Any]:
    return np.array([chosen.randint(1, 31) / 32 for _ in range(2 * ROOM)])


def _call(native: ctypes.CDLL, nest: Nest, size: Size, blocks: Blocks) -> None:
    function = getattr(native, nest.name)
    function.restype = ctypes.c_double
    places = (ctypes.c_void_p(blocks[name].ctypes.data + 8 * ROOM) for name in ARRAYS)
    function(*(_TYPES[nest.sizes](number) for number in size), *places)
