"""The ways on which a walk comes to one place of a program: around a loop, out of it, along either arm of a branch.

    for (…) { …; if (done) break; … }      behind it: where an iteration ends, and where it is left
    t = p; p = q; q = t;                   two ways differ in what p and q lead to as well

Invariant: on each way that the program may take, the copies are as right, and pointers lead where, what is known of all
ways says.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from warpsmith.poly.mapped.copies import CopyPair, join_copies
from warpsmith.poly.mapped.objects import MappedObject, Objects
from warpsmith.tree.nodes import Break, Continue, For, Node, Return, Stmt, Switch, While
from warpsmith.tree.walk import children

__all__ = ["Jumps", "Way", "jumps_out", "meet"]

State = dict[MappedObject, CopyPair]


class Way(Struct):
    """One way to a place: what is known of the copies, and where pointers lead."""

    state: State
    objects: Objects


class Jumps(Struct):
    """The ways out of a loop (`loop`) or switch that is under way, by `break`, and to the next iteration."""

    loop: bool
    broken: list[Way] = field(default_factory=list)
    continued: list[Way] = field(default_factory=list)


def meet(ways: Sequence[Way]) -> tuple[Way, tuple[MappedObject, ...]]:
    """Return what holds on all of these ways, and the objects that are on the device on some of them only."""
    joined, apart = dict(ways[0].state), dict[MappedObject, None]()
    for way in ways[1:]:
        for place in sorted(joined.keys() | way.state.keys(), key=lambda place: place.key):
            one, other = joined.get(place, CopyPair()), way.state.get(place, CopyPair())
            found = join_copies(one, other)
            if found is None:
                apart[place] = None
                found = one if one.count else other
            joined[place] = found
    objects = ways[0].objects if len(ways) == 1 else Objects().join(way.objects for way in ways)
    return Way(joined, objects), tuple(apart)


def jumps_out(stmt: Stmt) -> bool:
    """Whether a statement may go on behind a loop or switch around it, at its next iteration, or behind the call."""
    return _jumps(stmt, frozenset({Break, Continue, Return}))


def _jumps(node: Node, kinds: frozenset[type[Node]]) -> bool:
    if type(node) in kinds:
        return True
    if isinstance(node, For | While):
        kinds = frozenset({Return})
    elif isinstance(node, Switch):
        kinds -= {Break}
    return any(_jumps(child, kinds) for child in children(node))
