"""Tests one inside the other, as one: all guards of a region, and the user's own statements where one of them fails.

    if (switched on) {                                   a_at = row_starts(a);             lead
        a_at = row_starts(a);                            if (switched on && a_at != 0 && rows_clear(a_at)) {
        if (a_at != 0) {                                     a_flat = row_zero(a_at);
            a_flat = row_zero(a_at);             →           launch
            if (rows_clear(a_at)) launch                 } else
            else for (…) a_flat[a_at[i] + j] …               for (…) a[i][j] …
        } else for (…) a[i][j] …
    } else for (…) a[i][j] …

Invariant: what the steps made of a loop does the same as the user's own wherever it ran, so that his may run in its
place. What the lead declares is asked for behind the switch alone, and what a later test needs behind those before it.

Limits: between the tests stand declarations of the port's own, and nothing else.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.emit.host.outline.guarded.guards import guards_of
from warpsmith.emit.host.outline.guarded.once import branches
from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import Moving, uses
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, Block, CaptureStmt, DeclStmt, If, Stmt
from warpsmith.tree.types import INT
from warpsmith.tree.walk import same, walk

__all__ = ["Joined", "join_tests"]

Run = tuple[Stmt, ...]


class Joined(Struct, frozen=True):
    """One `if` with all tests, `lead`: what is declared before them, and `guards`: each test with what it needs."""

    choice: If
    lead: Run
    guards: tuple[GuardTest, ...]


def join_tests(stmt: If, runs: Runs) -> Joined:
    """Return one `if` with all tests of those one inside the other."""
    lead: Run = ()
    needs: dict[int, tuple[DeclStmt, ...]] = {}
    while True:
        ported, _ = branches(stmt)
        inner = ported[-1] if ported else None
        if not (isinstance(inner, If) and inner.reasons):
            break
        between = tuple(one for one in ported[:-1] if isinstance(one, DeclStmt) and runs.leaves(one))
        fallback = _fallback(stmt, inner, runs)
        if len(between) < len(ported) - 1 or fallback is None:
            break
        asked = _find_asked(between, inner)
        if stmt.reasons == (SWITCHED,):
            lead = (*lead, *asked)
        else:
            needs[len(stmt.reasons)] = asked
        rest = tuple(one for one in between if one not in asked)
        stmt = _joined(stmt, inner, (*rest, *branches(inner)[0]), fallback)
    guards = (replace(one, before=needs.get(n, ())) for n, one in enumerate(guards_of(stmt)))
    return Joined(stmt, lead, tuple(guards))


def _find_asked(between: tuple[DeclStmt, ...], inner: If) -> tuple[DeclStmt, ...]:
    """Return the declarations that the inner test needs, and those that these need."""
    named = uses(inner.condition)
    found: list[DeclStmt] = []
    for one in reversed(between):
        if any(named[d.symbol] for d in one.declarations):
            found.append(one)
            named += uses(one)
    return tuple(reversed(found))


def _joined(stmt: If, inner: If, ported: Run, fallback: Run) -> If:
    condition = stmt.condition
    for guard in guards_of(inner):
        assert guard.condition is not None
        condition = Binary(span=stmt.span, type=INT, op="&&", left=condition, right=guard.condition)
    then, other = Block(span=stmt.span, statements=ported), Block(span=stmt.span, statements=fallback)
    reasons = (*stmt.reasons, *inner.reasons)
    return If(span=stmt.span, condition=condition, then=then, other=other, reasons=reasons)


def _fallback(stmt: If, inner: If, runs: Runs) -> Run | None:
    """Return what runs where a test fails: the user's statements, with what the inner test's have for the device around
    them."""
    outer, other = branches(stmt)[1], branches(inner)[1]
    if any(isinstance(part, CaptureStmt) for one in other for part in walk(one)):
        # what the referee compares there would be lost
        return None
    own = [runs.leaves(one) for one in other]
    first = own.index(False) if False in own else len(own)
    last = len(own) - own[::-1].index(False) if False in own else len(own)
    around = (*other[:first], *other[last:])
    if any(own[first:last]) or not all(isinstance(one, Moving) for one in around):
        return None
    if stmt.reasons == (SWITCHED,):
        return None if any(map(runs.leaves, outer)) else (*other[:first], *outer, *other[last:])
    mine = [one for one in outer if runs.leaves(one)]
    alike = len(mine) == len(around) and all(same(a, b) for a, b in zip(mine, around, strict=True))
    return outer if alike else None
