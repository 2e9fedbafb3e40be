"""Accesses that only a barrier of OpenCL stands between whose flags leave their memory out.

    a[i] = 1;                          global memory
    barrier(CLK_LOCAL_MEM_FENCE);      all work-items wait, but only local memory is ordered
    b[i] = a[i + 1];                   may read what was there before

Work-items of a group wait at a barrier whatever its flags are; that accesses before it come before those behind it
holds for the memory that the flags name (OpenCL C 1.2, 6.12.8; OpenCL 3.0, 3.3.6.4: a barrier's entry synchronizes with
its exit in that memory alone). What is conflicting and not ordered is a race. `barrier(0)` orders no memory.

Fences, barriers of sub-groups and what is called may order such accesses by themselves; then nothing is told.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from msgspec import Struct

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.sync.barriers import all_instructions
from warpsmith.analysis.sync.races import Judge, Meeting
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Barrier, Instruction, Space

__all__ = ["Unordered", "assume_flags", "describe_flags", "left_out"]

_ORDERING = ("call", "unmodeled", "fence", "warp_barrier")


class Unordered(Struct, frozen=True):
    """Places of one memory that may meet where barriers order nothing whose flags leave it out. `barrier`: such a one
    that would keep them apart, None where there may be an order that flags do not show."""

    meeting: Meeting
    barrier: Instruction | None


def left_out(
    judge: Judge, barriers: Sequence[Instruction], places: Sequence[AccessSite], space: Space
) -> list[Unordered]:
    """Return the meetings in a memory that flags leave out; these include those with all barriers in place."""
    fewer = frozenset(i for i in barriers if _orders(i) not in ("all", space))
    mine = [place for place in places if place.space == space]
    if not fewer or all(place.kind == "load" for place in mine):
        return []
    found = judge.meetings_by(mine, partial(_is_left, fewer))
    ordering = any(i.op in _ORDERING for _, i in all_instructions(judge.forms))
    known = [] if ordering else [i for i in barriers if i in fewer and _orders(i) != "unknown"]
    between = {i: {m.key for m in judge.meetings_by(mine, partial(_is_left, fewer - {i}))} for i in known}
    always = {m.key for m in judge.meetings_by(mine, full_barrier)}
    return [
        Unordered(m, next((i for i in between if m.key not in between[i] and m.key not in always), None)) for m in found
    ]


def describe_flags(i: Instruction) -> str:
    """Return the memory that a barrier orders, in words."""
    return {"shared": "local memory only", "global": "global memory only", "none": "no memory"}.get(_orders(i), "all")


def assume_flags(i: Instruction) -> str:
    """Return what is assumed where a race rests on a barrier's flags."""
    return f"the device goes by the flags of the barrier{_at(i.span)}, which order {describe_flags(i)}"


def _at(span: Span | None) -> str:
    return "" if span is None else f" in line {span.line}"


def _orders(i: Instruction) -> str:
    return i.detail.orders if isinstance(i.detail, Barrier) else "all"


def _is_left(gone: Set[Instruction], i: Instruction) -> bool:
    return full_barrier(i) and i not in gone
