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
place. What the lead declares is asked for behind the switch alone.

Limits: between the tests stand declarations of the port's own, and nothing else.
"""

from __future__ import annotations

from warpsmith.emit.host.outline.guards import guards_of
from warpsmith.emit.host.outline.once import branches
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.statements import Moving, uses
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, Block, CaptureStmt, DeclStmt, If, Stmt
from warpsmith.tree.types import INT
from warpsmith.tree.walk import same, walk

__all__ = ["join_tests"]

Run = tuple[Stmt, ...]


def join_tests(stmt: If, runs: Runs) -> tuple[Run, If]:
    """Return what is declared before the tests, and one `if` with all of them."""
    lead: Run = ()
    while True:
        ported, _ = branches(stmt)
        inner = ported[-1] if ported else None
        if not (isinstance(inner, If) and inner.reasons):
            return lead, stmt
        between = ported[:-1]
        asked = _asked(between, inner)
        fallback = _fallback(stmt, inner, runs)
        plain = all(isinstance(one, DeclStmt) and runs.leaves(one) for one in between)
        if not plain or fallback is None or (asked and stmt.reasons != (SWITCHED,)):
            return lead, stmt
        lead = (*lead, *between[:asked])
        stmt = _joined(stmt, inner, (*between[asked:], *branches(inner)[0]), fallback)


def _asked(between: Run, inner: If) -> int:
    """Return how many declarations there are up to the last one that the inner test needs."""
    named = uses(inner.condition)
    needed = (n for n, one in enumerate(between, 1) if isinstance(one, DeclStmt)
              if any(named[d.symbol] for d in one.declarations))  # fmt: skip
    return max(needed, default=0)


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
