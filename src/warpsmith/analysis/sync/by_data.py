"""Places that meet where data say so: one thread's own element, and one that another thread picks by a loaded index.

    s[tid] = 0;                       no barrier here
    atomicAdd(&s[bin[i]], 1);         whose element is it?

Only what leaves no room for a layout that keeps threads apart: the picked index is unknown as a whole (not
`16·tid + x`, a part of the array for each thread), and the other one runs through the array with the threads.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Final

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.sync.races import Clash, Judge, Meeting

__all__ = ["BY_DATA", "pick_clash"]

BY_DATA: Final = "the index that one thread picks is that of another one's element"


def pick_clash(judge: Judge, meeting: Meeting) -> Clash | None:
    """Return a clash that nothing but the data can prevent; None where that cannot be said."""
    a, b = meeting.first, meeting.second
    if a.space != "shared" or a.base is None or a.base is not b.base or judge.may_be_ordered(meeting):
        return None
    if not any(_is_own(one) and _is_picked(other) for one, other in ((a, b), (b, a))) or not _start_together(a, b):
        return None
    if not (_follows(judge, a, b) or _follows(judge, b, a)):
        return None
    here, there = (judge.presences.at(place.block).threads for place in (a, b))
    pair = next(((t, u) for t in sorted(here)[:2] for u in sorted(there)[:2] if t != u), None)
    return None if pair is None else Clash(True, pair, assumptions=(BY_DATA,))


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
