"""Whether the calls in an expression may change what the same expression reads.

    energy = kinetic(s) + s->potential        kinetic stores nothing: an update before the statement serves the read,
                                              whichever of the two C evaluates first
    energy = forces(s) + s->potential         forces stores through s: the read may come before or after

Invariant: where `may_change` says no, the places have the same value before, while and after the call runs, in the
memory of the host as well: kernels of the call write none of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpsmith.offload.memory.places import PlaceAccess, find_loads_for
from warpsmith.offload.memory.presence import place_base
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import bases
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import Call, Expr, Function
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names

__all__ = ["disturbs", "may_change", "may_move"]


def may_change(summaries: Summaries, function: Function, call: Call, place: Expr) -> bool:
    """Whether a call in `function` may write a part of the object that the lvalue `place` names, or of what the place
    is found by."""
    done = summaries.memory_effects(call, function)
    if done.calls_unknown:
        return True
    where = summaries.provenance(function)
    for read in (place, *(access.place for access in find_loads_for(place))):
        base = place_base(read)
        if isinstance(base, Symbol):
            roots = frozenset({Root("object", base)})
        else:
            roots = frozenset(root for one in bases(base) for root in where.of(one))
        if where.meet(roots, frozenset(done.stores)):
            return True
    return bool({n.symbol for n in names(place)} & done.writes)


def may_move(summaries: Summaries, function: Function, calls: Iterable[Call], place: Expr) -> bool:
    """Whether one of the calls may change which object `place` names."""
    where = summaries.provenance(function)
    for call in calls:
        done = summaries.memory_effects(call, function)
        found = {n.symbol for n in names(place)}
        held = frozenset(Root("object", symbol) for symbol in found)
        if done.calls_unknown or found & done.writes or where.meet(held, frozenset(done.stores)):
            return True
        if any(may_change(summaries, function, call, access.place) for access in find_loads_for(place)):
            return True
    return False


def disturbs(summaries: Summaries, function: Function, calls: Iterable[Call], accesses: Iterable[PlaceAccess]) -> bool:
    """Whether one of the calls may change what is read beside it; what is read for its own arguments is read before."""
    read = [access for access in accesses if access.read]
    return any(
        access.within is not call and may_change(summaries, function, call, access.place)
        for call in calls
        for access in read
    )
