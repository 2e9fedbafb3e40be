"""Where what a nest touches again is found, once its loops are mapped: the nearest memory that can hold it.

    reuse along a loop that runs in the thread          a register
    along x                                             broadcast: the lanes of a warp read one element at a time
    along y or z, where a block is longer than 1        a shared tile, or L1
    along an axis on which blocks have one thread       L2: other blocks read it
    along a loop on the host                            L2: the next launch reads it

A direction that combines several of them lands where the furthest does. Neighbours that read one element at different
times (stencils) find it in a shared tile with a halo, or in L1, also along x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from warpsmith.offload.plan import Plan
from warpsmith.tree.program import Axis

__all__ = ["Landing", "NestPlace", "landing", "place_nest"]

Landing = Literal["register", "broadcast", "shared tile or L1", "L2"]
Place = Axis | Literal["thread", "host"]


class NestPlace(Struct, frozen=True):
    """Where the loops around references run (outermost first): an axis of the kernel's threads, in each thread, or on
    the host around the kernel; and the threads of a block along x, y and z."""

    kernel: str
    loops: tuple[Place, ...]
    block: tuple[int, int, int]


def place_nest(plan: Plan, loops: Sequence[str]) -> NestPlace | None:
    """Return where the loops (by their addresses, outermost first) run; None where the innermost is in no kernel."""
    for fragment in plan.fragments:
        if fragment.kind == "nest" and loops and loops[-1] in fragment.loops:
            axes = {mapped.id: mapped.axis for mapped in fragment.kernel.mapped}
            places = tuple(_place(loop, axes, fragment.loops) for loop in loops)
            return NestPlace(fragment.kernel.name, places, fragment.kernel.block)
    return None


def _place(loop: str, axes: Mapping[str, Axis], inside: Sequence[str]) -> Place:
    return axes.get(loop) or ("thread" if loop in inside else "host")


def landing(direction: Sequence[int], place: NestPlace, *, same_time: bool) -> Landing:
    """Return where reuse along a direction lands; `same_time`: by one reference, so that the lanes of a warp read the
    element in one instruction, not by two references one after the other."""
    moved = {where for where, step in zip(place.loops, direction, strict=True) if step}
    if "host" in moved:
        return "L2"
    if moved <= {"thread"}:
        return "register"
    threads = dict(zip(("x", "y", "z"), place.block, strict=True))
    if any(threads.get(axis, 2) == 1 for axis in moved):
        return "L2"
    return "broadcast" if same_time and moved == {"x"} else "shared tile or L1"
