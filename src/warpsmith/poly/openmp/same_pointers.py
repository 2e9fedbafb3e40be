"""Pointers that are one in every round of a loop around a shared loop but the first: the buffers of a swap gone wrong.

    for (t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (i …) new[i] = old[i - 1] + old[i + 1];      from t = 1 on, new and old are one array
        old = new;                                       … and new = spare was forgotten
    }

Invariant: where a shared loop is entered in a round that is not the first, the two pointers hold one address: the
assignment is among the statements of the body itself, and nothing from there to the shared loop writes either.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.effects.origin import Origin, changed_variables
from warpsmith.poly.isl.formula import Formula, at_least
from warpsmith.poly.isl.polynomial import atom, constant
from warpsmith.poly.pointers.control import leaves
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Assign, ExprStmt, For, Loop, Name, Stmt
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import names, peel, statements_of, walk

__all__ = ["SamePointers", "find_same_pointers", "in_later_rounds"]


class SamePointers(Struct, frozen=True):
    """From the second round of `loop` on, `pointer` holds what `value`, another pointer, does."""

    pointer: Symbol
    value: Name
    loop: For

    @property
    def text(self) -> str:
        """The pair in words."""
        names = f"{self.pointer.name} and {self.value.symbol.name}"
        return f"{names} hold one address from the second round of {self.loop.variable.name} on"


def find_same_pointers(origin: Origin, loop: For, around: tuple[Loop, ...]) -> Iterator[SamePointers]:
    """Yield the pairs of pointers that a shared loop names and that are one in later rounds of a loop around it."""
    named = {n.symbol for n in names(loop) if isinstance(n.symbol.type, Pointer)}
    for outer in (one for one in around if isinstance(one, For)):
        body = statements_of(outer.body)
        inside = next((k for k, stmt in enumerate(body) if any(n is loop for n in walk(stmt))), None)
        if inside is None or leaves(outer.body):
            continue
        for place in range(inside + 1, len(body)):
            pair = _assigned(body[place], named)
            if pair is None:
                continue
            between = (*body[place + 1 :], *body[: inside + 1])
            if not any(_changes(origin, stmt, pair) for stmt in between):
                yield SamePointers(pair[0].symbol, pair[1], outer)


def in_later_rounds(state: State, same: SamePointers) -> Formula | None:
    """Return the formula that the loop around is in a round after its first; None where its first has no name."""
    counter = next((name for loop, name in state.outer if loop is same.loop), None)
    first = state.affine.exact(same.loop.lower)
    if counter is None or first is None or same.loop.step == 0:
        return None
    moved = atom(counter) - first
    return at_least(moved if same.loop.step > 0 else -moved, constant(abs(same.loop.step)))


def _assigned(stmt: Stmt, named: set[Symbol]) -> tuple[Name, Name] | None:
    """Return the pointers of `p = q`, both among those that are named."""
    whole = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    if not isinstance(whole, Assign) or whole.op != "=":
        return None
    left, right = peel(whole.target), peel(whole.value)
    if not isinstance(left, Name) or not isinstance(right, Name) or left.symbol == right.symbol:
        return None
    return (left, right) if {left.symbol, right.symbol} <= named else None


def _changes(origin: Origin, stmt: Stmt, pair: tuple[Name, Name]) -> bool:
    done = origin.effects(stmt)
    changed = changed_variables(stmt, done) | done.direct_writes
    return done.calls_unknown or any(name.symbol in changed for name in pair)
