"""Loops that do something only where a condition holds: what is done, and where it is done first or last.

for (i = 0; i < n; i++) {                 temporaries   int v = x[i];
    int v = x[i];                         condition     v > 3
    if (v > 3) {                          run           last = v;
        last = v;
    }
}

long long i_last = -1;                    the last iteration in which the condition holds: a maximum, which may be
for (i = 0; i < n; i++) {                 found in any order
    int v = x[i];
    if (v > 3 && i > i_last)
        i_last = i;
}
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.shape import compares_plainly, statements
from warpsmith.loops.analysis.substitute import copy_tree, with_symbols
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.dependences.iteration_values import only_computes
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["ChosenForm", "can_number", "find_chosen", "write_chosen"]


class ChosenForm(Struct, frozen=True):
    """The body of a loop: declarations of temporaries, and statements that run where a condition holds."""

    temporaries: tuple[DeclStmt, ...]
    condition: Expr
    run: tuple[Stmt, ...]


def find_chosen(loop: For, summaries: Summaries) -> ChosenForm | Reason:
    """Return the parts of a loop's body, or why it has none; temporaries and condition have no effect."""
    body = statements(loop.body)
    temporaries = tuple(stmt for stmt in body if isinstance(stmt, DeclStmt))
    rest = body[len(temporaries) :]
    first = rest[0] if rest else None
    if any(isinstance(stmt, DeclStmt) for stmt in rest) or not isinstance(first, If) or first.other is not None:
        return Reason("STP002", "the loop's body is not temporaries and one `if`", loop.header)
    condition, run = first.condition, statements(first.then)
    if len(run) == 1 and isinstance(run[0], Continue) and len(rest) > 1:
        condition, run = Unary(span=condition.span, type=INT, op="!", operand=condition), rest[1:]
    elif len(rest) > 1:
        return Reason("STP002", "the loop does more than what stands under its condition", rest[1].span)
    while len(run) == 1 and isinstance(inner := run[0], If) and inner.other is None:
        condition = Binary(span=condition.span, type=INT, op="&&", left=condition, right=inner.condition)
        run = statements(inner.then)
    values = [d.init for stmt in temporaries for d in stmt.declarations if d.init is not None]
    for expr in (condition, *values):
        if any(has_effect(n) or (isinstance(n, Call) and not only_computes(n, summaries)) for n in walk(expr)):
            return Reason("STP002", "the condition calls a function or changes something", expr.span)
    plain = all(isinstance(d.symbol.type, Scalar) for stmt in temporaries for d in stmt.declarations)
    if not plain or any(stmt.types for stmt in temporaries):
        return Reason("STP002", "a temporary of the loop is no number", loop.header)
    return ChosenForm(temporaries, condition, run)


def write_chosen(loop: For, chosen: ChosenForm, fresh: Fresh, *, last: bool) -> tuple[Stmt, ...]:
    """Return statements that find the last (or first) iteration in which the condition holds, and do there what the
    loop does. A counter from outside the loop is then that of the first one, which ends the loop, or what the loop
    leaves in it."""
    at = fresh.variable(f"{loop.variable.name}_{'last' if last else 'first'}", LONG_LONG, loop.variable)
    place, behind = before(loop.span), after(loop.span)
    none = _none(loop, last=last)
    declared = DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=at, init=none),))
    up = last == (loop.step > 0)
    own = _wide(use(loop.variable, loop.span))
    better = Binary(span=loop.span, type=INT, op=">" if up else "<", left=own, right=use(at, loop.span))
    test = Binary(span=loop.span, type=INT, op="&&", left=chosen.condition, right=better)
    value = _wide(use(loop.variable, loop.span))
    kept = Assign(span=loop.span, type=LONG_LONG, op="=", target=use(at, loop.span), value=value)
    choice = If(span=loop.span, condition=test, then=ExprStmt(span=loop.span, expr=kept), other=None)
    body: Stmt = Block(span=loop.body.span, statements=(*chosen.temporaries, choice)) if chosen.temporaries else choice
    found = Binary(span=behind, type=INT, op="!=", left=use(at, behind), right=copy_tree(none))
    stays = loop.declares or last
    done = Block(span=behind, statements=_at(loop, chosen, at, (fresh, stays)))
    return declared, replace(loop, body=body), If(span=behind, condition=found, then=done, other=None)


def can_number(loop: For, *, last: bool) -> bool:
    """Whether the iterations of a loop, and one number beside them, are plain numbers of 64 bits."""
    counter, lower = loop.variable.type, Linear.of(loop.lower)
    if loop.relation == "!=" or not compares_plainly(loop) or not isinstance(counter, Scalar):
        return False
    if counter.bits < LONG_LONG.bits:
        return True
    from_number = lower is not None and lower.number is not None
    return from_number and loop.step > 0 if last else loop.relation in ("<", ">")


def _at(loop: For, chosen: ChosenForm, at: Symbol, how: tuple[Fresh, bool]) -> tuple[Stmt, ...]:
    """Return what the loop does in iteration `at`; with a counter of its own, where the loop's must stay."""
    fresh, stays = how
    span = after(loop.span)
    counter = loop.variable
    inside = Block(span=span, statements=(*_needed(chosen), *chosen.run))
    value = use(at, span)
    if not stays:
        set_ = Assign(span=span, type=counter.type, op="=", target=use(counter, span), value=value)
        copy = copy_tree(inside, fresh)
        return (ExprStmt(span=span, expr=set_), *copy.statements)
    if not _may_use(inside, {counter}):
        return copy_tree(inside, fresh).statements
    again = fresh.again(counter)
    copy = with_symbols(copy_tree(inside, fresh), {counter: again})
    declared = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=again, init=value),))
    return (declared, *copy.statements)


def _needed(chosen: ChosenForm) -> tuple[DeclStmt, ...]:
    """Return the temporaries that are used where the condition holds; what computes the others has no effect."""
    needed: list[DeclStmt] = []
    for stmt in reversed(chosen.temporaries):
        symbols = {declared.symbol for declared in stmt.declarations}
        if any(_may_use(user, symbols) for user in (*needed, *chosen.run)):
            needed.insert(0, stmt)
    return tuple(needed)


def _may_use(node: Node, symbols: set[Symbol]) -> bool:
    """Whether a statement names one of the variables, or may do so in text that is not parsed."""
    return any(
        isinstance(part, Verbatim | VerbatimExpr) or (isinstance(part, Name) and part.symbol in symbols)
        for part in walk(node)
    )


def _none(loop: For, *, last: bool) -> Expr:
    """Return a number that no iteration has, before the first one or behind the last one."""
    if not last:
        over = 0 if loop.relation in ("<", ">") else 1
        return _shift(copy_tree(loop.bound), over if loop.step > 0 else -over)
    return _shift(copy_tree(loop.lower), -1 if loop.step > 0 else 1)


def _shift(expr: Expr, by: int) -> Expr:
    known = Linear.of(expr)
    if known is not None and known.number is not None:
        return number(known.number + by, expr.span)
    wide = _wide(expr)
    if not by:
        return wide
    return Binary(span=expr.span, type=LONG_LONG, op="+" if by > 0 else "-", left=wide, right=number(1, expr.span))


def _wide(expr: Expr) -> Expr:
    type = expr.type
    small = isinstance(type, Scalar) and (type.bits < LONG_LONG.bits or type == LONG_LONG)
    return expr if small else Cast(span=expr.span, type=LONG_LONG, operand=expr)
