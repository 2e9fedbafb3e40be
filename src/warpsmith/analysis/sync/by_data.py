"""Places that meet where data say so: one thread's own element, and one that another thread picks by a loaded index.

    s[tid] = 0;                       no barrier here
    atomicAdd(&s[bin[i]], 1);         whose element is it?

    s[bin[i] & 7] += 1;               two elements, one bin

Only what leaves no room for a layout that keeps threads apart: the picked index is unknown as a whole (not
`16·tid + x`, a part of the array for each thread), and the other one runs through the array with the threads; or both
are picked by one number that a mask, a remainder or a shift has made of several.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Final

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.sync.races import Clash, Judge, Meeting
from warpsmith.ssa.nodes import Constant, Instruction, Value

__all__ = ["BY_DATA", "PICKED", "pick_clash"]

BY_DATA: Final = "the index that one thread picks is that of another one's element"
PICKED: Final = "two threads pick one element"
_NARROWING: Final = ("and", "urem", "srem", "lshr", "ashr")
_INDEXING: Final = ("add", "sub", "mul", "shl", "sext", "zext", "trunc", "smulwide", "umulwide")
_MOST_STEPS: Final = 16


def pick_clash(judge: Judge, meeting: Meeting) -> Clash | None:
    """Return a clash that nothing but the data can prevent; None where that cannot be said."""
    a, b = meeting.first, meeting.second
    if (twice := _picked_twice(judge, meeting)) is not None:
        return twice
    if a.space != "shared" or a.base is None or a.base is not b.base or judge.may_be_ordered(meeting):
        return None
    if not any(_is_own(one) and _is_picked(other) for one, other in ((a, b), (b, a))) or not _start_together(a, b):
        return None
    if not (_follows(judge, a, b) or _follows(judge, b, a)):
        return None
    here, there = (judge.presences.at(place.block).threads for place in (a, b))
    pair = next(((t, u) for t in sorted(here)[:2] for u in sorted(there)[:2] if t != u), None)
    return None if pair is None else Clash(True, pair, assumptions=(BY_DATA,))


def _picked_twice(judge: Judge, meeting: Meeting) -> Clash | None:
    """Return a clash of two threads that read and write the element that both pick."""
    a, b = meeting.first, meeting.second
    if a.address is None or b.address is None or a.base is None or not a.address.same(b.address):
        return None
    if {a.kind, b.kind} != {"load", "store"} or not _is_picked(a) or any(by != 0 for _, by in meeting.ahead):
        return None
    presence = judge.presences.at(a.block)
    everyone = presence.kind == "all" and judge.presences.at(b.block).kind == "all"
    follows = _follows(judge, a, b) or _follows(judge, b, a)
    if not everyone or len(presence.threads) < 2 or not follows or not _is_narrowed(judge, a):
        return None
    one, two, *_ = sorted(presence.threads)
    return Clash(True, (one, two), reached=True, assumptions=(PICKED,))


def _is_narrowed(judge: Judge, place: AccessSite) -> bool:
    """Whether the index is what an operation leaves of a loaded number that gives the same for several."""
    pending, definitions = [(place.instruction.operands[0], 0)], judge.forms.answer.definitions
    while pending:
        value, steps = pending.pop()
        made = definitions.get(value) if isinstance(value, Value) and steps < _MOST_STEPS else None
        if not isinstance(made, Instruction):
            continue
        if made.op in _NARROWING:
            source = definitions.get(made.operands[0]) if isinstance(made.operands[0], Value) else None
            if isinstance(source, Instruction) and source.op == "load" and isinstance(made.operands[1], Constant):
                return True
        elif made.op in _INDEXING:
            pending += [(operand, steps + 1) for operand in made.operands]
    return False


def _start_together(a: AccessSite, b: AccessSite) -> bool:
    """Whether both count from the same place of the variable: programs put several arrays into one."""
    assert a.address is not None
    assert b.address is not None
    return not a.address.common().plus(b.address.common(), -1).terms


def _follows(judge: Judge, first: AccessSite, second: AccessSite) -> bool:
    """Whether control may come from one place to the other without a barrier, rather than to one of the two alone."""
    blocks, graph = judge.forms.blocks, judge.forms.graph
    rest = list(dropwhile(lambda i: i is not first.instruction, blocks[first.block].instructions))
    if second.instruction in rest:
        return not any(full_barrier(i) for i in rest[: rest.index(second.instruction)])
    if any(full_barrier(i) for i in rest):
        return False
    pending, seen = list(graph.successors[first.block]), set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for i in blocks[name].instructions:
            if i is second.instruction:
                return True
            if full_barrier(i):
                break
        else:
            pending += graph.successors[name]
    return False


def _is_own(place: AccessSite) -> bool:
    """Whether every thread has an element of its own there."""
    return place.address is not None and place.address.has("index") and not place.address.has("own", "wrap")


def _is_picked(place: AccessSite) -> bool:
    return place.address is not None and place.address.has("own") and not place.address.has("index")
