"""Where what a nest touches again is found, once its loops are mapped: the nearest memory that can hold it.

    reuse along a loop that runs in the thread          a register
    along x                                             broadcast: the lanes of a warp read one element at a time
    along y or z, where a block is longer than 1        a shared tile, or L1
    along an axis on which blocks have one thread       L2: other blocks read it
    along blocks of a kernel that was not ported        L2: other blocks read it
    along a loop on the host                            L2: the next launch reads it
    along any axis, of what is written                  combined: the threads add up, or the like
    along a loop in which another reference writes      none (`landing` is not asked: report/accesses/model.py)
    along y or z, of what a kernel has in shared memory shared memory, where it is (said there, too)
    along any axis, of what a port has in tiles         that tile (said there, too)

A direction that combines several of them lands where the furthest does. Neighbours that read one element at different
times (stencils) find it in a shared tile with a halo, or in L1, also along x.

Steps may have rewritten the loops that the user wrote: a reference is found by its text's place, and the loops around
it by their variables, which steps keep, or copy under the same key with a number. Where a loop is around it that the
user did not write (skewing), nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Expr, For, Loop
from warpsmith.tree.program import Axis
from warpsmith.tree.walk import loop_names, loops, walk

if TYPE_CHECKING:
    # the analysis of kernels reads this module, and has no use for what plans are made of
    from warpsmith.offload.plan import Fragment, Plan

__all__ = ["Landing", "NestPlace", "Place", "landing", "place_nest"]

Landing = Literal[
    "register", "broadcast", "shared tile or L1", "shared tile", "shared memory", "L2", "combined", "none"
]
Place = Axis | Literal["thread", "block", "host"]
_WARP: Final = 32


class NestPlace(Struct, frozen=True):
    """Where the loops around references run (outermost first): an axis of the kernel's threads, in each thread, or on
    the host around the kernel; "block": it is an index of blocks; the threads of a block along x, y and z; `widths`:
    how many threads one step of each loop is, 1 where it is empty; `tiled`: arrays that the loops around the reference
    read from tiles in shared memory."""

    kernel: str
    loops: tuple[Place, ...]
    block: tuple[int, int, int]
    widths: tuple[int, ...] = ()
    tiled: frozenset[str] = frozenset()


def place_nest(plan: Plan, counters: Sequence[str], outer: Sequence[str], reference: Span) -> NestPlace | None:
    """Return where the loops around a reference run, by the keys of their counters (outermost first; `outer`: of the
    loops around the nest); None where the reference is in no kernel, or another loop is around it in the port."""
    for fragment in plan.fragments:
        inside = _loops_around(fragment, reference) if fragment.kind == "nest" else ()
        if not inside:
            continue
        around = next((over for loop, over in loops(fragment.function.body) if loop is inside[-1]), inside[:-1])
        known = {*counters, *outer}
        if any(not isinstance(loop, For) or _key(loop) not in known for loop in (*around, inside[-1])):
            continue
        found = {_key(loop): loop for loop in inside if isinstance(loop, For)}
        places = tuple(_place(found.get(key), fragment) for key in counters)
        return NestPlace(fragment.kernel.name, places, fragment.kernel.block, tiled=_find_tiled(fragment, inside))
    return None


def _find_tiled(fragment: Fragment, inside: Sequence[Loop]) -> frozenset[str]:
    """Return the arrays that loops read from tiles."""
    names = loop_names(fragment.function) if fragment.tiles else {}
    around = {names[loop] for loop in inside if loop in names}
    return frozenset(name for one in fragment.tiles if one.loop in around for name in one.arrays)


def _key(loop: For) -> str:
    return loop.variable.key.partition("#")[0]


def _loops_around(fragment: Fragment, reference: Span) -> tuple[Loop, ...]:
    """Return the loops of a fragment around the expression whose text stands at `reference`."""
    found: tuple[Loop, ...] = ()
    for statement in fragment.statements:
        for loop, around in loops(statement):
            inside = (part for part in walk(loop.body) if isinstance(part, Expr))
            if len(around) >= len(found) and any(part.span == reference for part in inside):
                found = (*around, loop)
    return found


def _place(loop: For | None, fragment: Fragment) -> Place:
    if loop is None:
        return "host"
    return fragment.mapping.get(loop.variable.name, "thread")


def landing(direction: Sequence[int], place: NestPlace, *, same_time: bool = True, written: bool = False) -> Landing:
    """Return where reuse along a direction lands; `same_time`: by one reference, so that the lanes of a warp read the
    element in one instruction, not by two references one after the other; `written`: that reference writes it."""
    moved = {where for where, step in zip(place.loops, direction, strict=True) if step}
    if moved & {"host", "block"}:
        return "L2"
    if moved <= {"thread"}:
        return "register"
    if written:
        return "combined"
    threads = dict(zip(("x", "y", "z"), place.block, strict=True))
    if any(threads.get(axis, 2) == 1 for axis in moved):
        return "L2"
    far = any(abs(step) * width >= _WARP for step, width in zip(direction, place.widths, strict=False))
    return "broadcast" if same_time and moved == {"x"} and not far else "shared tile or L1"
