"""Guards: conditions that host code tests once, where an offload region is entered; otherwise the original code runs.

    { scope }   →   if (g1 && g2) { scope, ported } else { scope as the user wrote it }

Invariant: a guard's value at the scope's entry is what it would be at the fragment, so it reads only variables that
are declared before the scope and that nothing inside the scope can write. Guards may take addresses of elements; they
never read memory through them. Limits: a scope with a static local, a label or a jump is never written twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.base.source import Span
from warpsmith.loops.fresh import declared_symbols
from warpsmith.poly.effects.effects import effects, find_escaped
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.allocations import asks_allocations
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Call,
    DeclStmt,
    Expr,
    Function,
    If,
    Index,
    Member,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, Array
from warpsmith.tree.walk import names, peel, same, walk

__all__ = ["can_version", "reads_no_memory", "stable", "usable", "version", "write_guards", "write_reasons"]


def usable(
    program: Program,
    function: Function,
    condition: Expr,
    scope: tuple[Stmt, ...],
    summaries: Summaries | None = None,
) -> bool:
    """Whether host code may evaluate `condition` once, just before `scope`, in place of anywhere inside it."""
    return reads_no_memory(condition) and stable(program, function, condition, scope, summaries)


def stable(
    program: Program, function: Function, expr: Expr, scope: tuple[Stmt, ...], summaries: Summaries | None = None
) -> bool:
    """Whether every variable that `expr` names is declared before `scope` and certainly unchanged while it runs."""
    named = {n.symbol for n in names(expr)}
    if named & {symbol for statement in scope for symbol in declared_symbols(statement)}:
        return False
    everything = [effects(program, statement, function, summaries) for statement in scope]
    if named & {symbol for e in everything for symbol in e.direct_writes}:
        return False
    movable = {s for s in named if not isinstance(s.type, Array) and s.storage not in ("function", "enumerator")}
    if any(e.calls_unknown for e in everything) and any(s.storage in ("global", "static") for s in movable):
        return False
    return not movable & find_escaped(program, function, summaries)


def can_version(scope: Sequence[Stmt]) -> bool:
    """Whether `scope` may stand twice in the function."""
    for statement in scope:
        for part in walk(statement):
            if isinstance(part, Verbatim) and part.control:
                return False
            if isinstance(part, DeclStmt) and any(d.symbol.storage == "static local" for d in part.declarations):
                return False
    return True


def version(original: tuple[Stmt, ...], ported: tuple[Stmt, ...], guards: Sequence[Assumption]) -> tuple[Stmt, ...]:
    """Return the statements that run `ported` where every guard holds and `original` otherwise.

    What the user granted is not tested. The result is `ported` itself where there is nothing to test.
    """
    condition = write_guards(guards)
    if condition is None:
        return ported
    span = statement_spans(original)
    branches = _block(ported, span), _block(original, span)
    reasons = write_reasons(guards)
    return (If(span=span, condition=condition, then=branches[0], other=branches[1], reasons=reasons),)


def write_guards(guards: Sequence[Assumption]) -> Expr | None:
    """Return the condition under which every guard holds; None where there is nothing to test."""
    condition: Expr | None = None
    for _, more in _tests(guards):
        condition = more if condition is None else Binary(span=more.span, type=INT, op="&&", left=condition, right=more)
    return condition


def write_reasons(guards: Sequence[Assumption]) -> tuple[str, ...]:
    """Return what each part of the condition of guards makes sure of, in words."""
    return tuple(guard.text for guard, _ in _tests(guards))


def _tests(guards: Sequence[Assumption]) -> Iterator[tuple[Assumption, Expr]]:
    """Yield the guards that are tested, each condition once."""
    conditions: list[Expr] = []
    for guard in guards:
        if guard.kind != "guarded" or guard.condition is None:
            continue
        condition = simplify(guard.condition)
        if not any(same(condition, known) for known in conditions):
            conditions.append(condition)
            yield guard, condition


def _block(statements: tuple[Stmt, ...], span: Span) -> Block:
    return Block(span=span, statements=statements)


def reads_no_memory(condition: Expr) -> bool:
    """Whether the condition dereferences nothing: an element may only be named to take its address."""
    addressed = {place for p in walk(condition) if isinstance(p, Unary) and p.op == "&" for place in _places(p.operand)}
    for part in walk(condition):
        if isinstance(part, VerbatimExpr) or (isinstance(part, Call) and not asks_allocations(part)):
            return False
        if isinstance(part, Member) and part.arrow and id(part) not in addressed:
            return False
        if isinstance(part, Unary) and part.op == "*" and id(part) not in addressed:
            return False
        if isinstance(part, Index) and id(part) not in addressed and not _is_row(part):
            return False
    return True


def _places(place: Expr) -> Iterator[int]:
    """Yield the parts of an lvalue that are not read where only its address is taken: `s->v[1]` and `s->v`, not `s`."""
    while True:
        place = peel(place)
        yield id(place)
        of_array = isinstance(place, Index) and isinstance(peel(place.base).type, Array)
        if not isinstance(place, Index | Member) or not (of_array or (isinstance(place, Member) and not place.arrow)):
            return
        place = place.base


def _is_row(index: Index) -> bool:
    """Whether the value of `a[i]` is an array, so that naming it reads nothing."""
    return isinstance(index.type, Array)
