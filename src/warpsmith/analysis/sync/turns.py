"""In which iteration of a loop a place may meet one outside of the loop, with no barrier between the two.

for (d = 32; d > 0; d /= 2) {          from A to B without a barrier: around the loop once, then out of it;
    __syncthreads(); A                 so A is of the last iteration, one before the test that ends the loop
}
B
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.ssa.graph import Cycle

__all__ = ["meeting_iterations"]

_MANY = 2


def meeting_iterations(
    forms: Forms, inside: AccessSite, outside: AccessSite, cycle: Cycle
) -> tuple[set[int], set[int]]:
    """Return how many iterations before the last test, and how many behind the first one, the place inside a loop may
    meet the one outside; 2 stands for any number of them."""
    leaving = {turns for name, turns in _out_of(forms, inside, cycle) if _reaches(forms, name, outside)}
    return leaving, _into(forms, outside, inside, cycle)


def _out_of(forms: Forms, place: AccessSite, cycle: Cycle) -> Iterator[tuple[str, int]]:
    """Yield the blocks behind a loop that control comes to from a place, and how often it goes around before."""
    rest = list(dropwhile(lambda i: i is not place.instruction, forms.blocks[place.block].instructions))
    if any(full_barrier(i) for i in rest):
        return
    pending = [(place.block, 0)]
    seen: set[tuple[str, int]] = set()
    while pending:
        name, turns = pending.pop()
        for after in forms.graph.successors[name]:
            if after not in cycle.blocks:
                yield after, turns
                continue
            now = after, min(_MANY, turns + (after == cycle.header))
            if now not in seen:
                seen.add(now)
                if not any(full_barrier(i) for i in forms.blocks[after].instructions):
                    pending.append(now)


def _reaches(forms: Forms, block: str, place: AccessSite) -> bool:
    """Whether control comes from the top of a block to a place without a barrier."""
    pending, seen = [block], set[str]()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            met = _meets(forms, name, place)
            if met:
                return True
            pending += forms.graph.successors[name] if met is None else ()
    return False


def _into(forms: Forms, outside: AccessSite, inside: AccessSite, cycle: Cycle) -> set[int]:
    """Return how often control goes around a loop on its way from a place outside to one inside."""
    found: set[int] = set()
    rest = list(dropwhile(lambda i: i is not outside.instruction, forms.blocks[outside.block].instructions))
    if any(full_barrier(i) for i in rest):
        return found
    pending = [(after, 0) for after in forms.graph.successors[outside.block]]
    seen: set[tuple[str, int]] = set()
    while pending:
        name, turns = pending.pop()
        if (name, turns) in seen:
            continue
        seen.add((name, turns))
        met = _meets(forms, name, inside)
        if met:
            found.add(turns)
        if met is not False and not any(full_barrier(i) for i in forms.blocks[name].instructions):
            pending += [(after, _count(turns, name, after, cycle)) for after in forms.graph.successors[name]]
    return found


def _count(turns: int, before: str, after: str, cycle: Cycle) -> int:
    if after != cycle.header:
        return turns
    return min(_MANY, turns + 1) if before in cycle.blocks else 0


def _meets(forms: Forms, block: str, place: AccessSite) -> bool | None:
    """Return whether a place comes before a barrier in a block; None: there is neither."""
    for i in forms.blocks[block].instructions:
        if i is place.instruction:
            return True
        if full_barrier(i):
            return False
    return None
