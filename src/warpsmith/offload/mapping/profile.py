"""The static profiler: how many sectors and lines a mapping touches, counted from the strides of each reference.

    warp    its first 32 threads form a box of the block: sectors of 32 bytes a request
    block   lines of 128 bytes that the block brings into L1, per thread
    print   the same, by the printed tables of machine/tables.py

Invariant: the count of each reference is machine/lines.py's formula; a reference inside loops that run in the thread
weighs as often as it repeats, an unknown trip count DEFAULT_TRIPS times, which is then listed. Limits: arrays are taken
to start on a line, and lines shared between blocks are not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct

from warpsmith.machine.lines import count_lines
from warpsmith.machine.tables import TableScore, score_by_tables
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.plan import CostEstimate
from warpsmith.poly.facts import ReferenceFact
from warpsmith.tree.nodes import Expr, For, Loop, Node, While
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import loops, walk

__all__ = [
    "DEFAULT_TRIPS",
    "ProfiledReference",
    "count_lines_a_thread",
    "count_sectors",
    "estimate",
    "references",
    "score_by_print",
    "size_of",
    "sum_by_print",
]

DEFAULT_TRIPS = 64
_SECTOR = 32
_LINE = 128
_WARP = 32


class ProfiledReference(Struct, frozen=True):
    """One array reference: bytes an element, elements moved by a thread's step along each mapped loop, repetitions."""

    bytes: int
    strides: tuple[int | None, ...]
    weight: int


def size_of(type: Type) -> int:
    """Return the bytes of a value of `type` (8 where that is not known)."""
    match type:
        case Scalar(bits=bits):
            return max(1, bits // 8)
        case Record(bytes=size) if size:
            return size
        case Array(of=of, count=int() as count):
            return count * size_of(of)
        case Pointer():
            return 8
        case Array() | FunctionType() | Opaque() | Record():
            return 8


def references(
    accesses: Sequence[ReferenceFact], heads: Sequence[For], sizes: Mapping[str, int]
) -> tuple[tuple[ProfiledReference, ...], tuple[str, ...]]:
    """Return the references of a nest whose loops `heads` are threads, and the trip counts that were assumed."""
    inner = _repetitions(heads[-1].body)
    assumed: list[str] = []
    found: list[ProfiledReference] = []
    for access in accesses:
        weight = 1
        for loop in inner.get(id(access.expr), ()):
            trips = trip_count(loop, sizes) if isinstance(loop, For) else None
            if trips is None:
                assumed.append(_assumption(loop))
            weight *= DEFAULT_TRIPS if trips is None else max(1, trips)
        strides = tuple(_thread_stride(access.strides, head) for head in heads)
        found.append(ProfiledReference(size_of(access.element), strides, weight))
    return tuple(found), tuple(dict.fromkeys(assumed))


def _assumption(loop: Loop) -> str:
    label = f"the loop over {loop.variable.name}" if isinstance(loop, For) else f"the {loop.form} loop"
    return f"{label} (line {loop.header.line}) runs {DEFAULT_TRIPS} times"


def _thread_stride(strides: Mapping[Symbol, int | None], head: For) -> int | None:
    if head.variable not in strides:
        return 0
    stride = strides[head.variable]
    return None if stride is None else stride * head.step


def _repetitions(body: Node) -> dict[int, tuple[Loop, ...]]:
    """Return, by `id`, the loops of the thread's body around each expression."""
    found: dict[int, tuple[Loop, ...]] = {}
    for loop, around in loops(body):
        for part in walk(loop):
            if not isinstance(part, For | While) and isinstance(part, Expr):
                found[id(part)] = (*around, loop)
    return found


def estimate(
    found: Sequence[ProfiledReference], shape: Sequence[int], fastest: Sequence[int], assumed: tuple[str, ...] = ()
) -> CostEstimate:
    """Return what a block of `shape[r]` threads along mapped loop r costs; `fastest` lists the loops from x to z."""
    warp = _warp_box(shape, fastest)
    weights = sum(r.weight for r in found) or 1
    sectors = sum(r.weight * _count_touched(r, warp, _SECTOR) for r in found)
    lines = sum(r.weight * _count_touched(r, shape, _LINE) for r in found)
    return CostEstimate(sectors / weights, lines / max(1, prod(shape)), assumed)


def count_sectors(reference: ProfiledReference, shape: Sequence[int], fastest: Sequence[int]) -> int:
    """Return the sectors that a warp's request for one reference touches."""
    return _count_touched(reference, _warp_box(shape, fastest), _SECTOR)


def count_lines_a_thread(reference: ProfiledReference, shape: Sequence[int]) -> float:
    """Return the lines a thread that one reference brings into L1, each time that it is reached."""
    return _count_touched(reference, shape, _LINE) / max(1, prod(shape))


def score_by_print(
    found: Sequence[ProfiledReference], shape: Sequence[int], fastest: Sequence[int]
) -> tuple[TableScore, ...]:
    """Return what the printed tables say of each reference of two or three mapped loops, each time that it is reached,
    in a block of `shape[r]` threads along loop r; `fastest` lists the loops from x to z. An element that is larger than
    a line is one.

    Raises ValueError for other numbers of loops.
    """
    block = [shape[loop] for loop in fastest]
    return tuple(score_by_tables([r.strides[loop] for loop in fastest], block, max(1, _LINE // r.bytes)) for r in found)


def sum_by_print(found: Sequence[ProfiledReference], scores: Sequence[TableScore]) -> float:
    """Return the lines a thread of all references by the printed tables."""
    return sum(reference.weight * score.lines for reference, score in zip(found, scores, strict=True))


def _warp_box(shape: Sequence[int], fastest: Sequence[int]) -> tuple[int, ...]:
    """Return how the first warp of a block lies in it."""
    box = [1] * len(shape)
    left = _WARP
    for loop in fastest:
        box[loop] = min(shape[loop], left)
        left = max(1, left // box[loop])
    return tuple(box)


def _count_touched(reference: ProfiledReference, box: Sequence[int], line: int) -> int:
    if reference.bytes <= line:
        return count_lines(reference.strides, box, line // reference.bytes)
    return count_lines(reference.strides, box, 1) * -(-reference.bytes // line)
