"""Headers for loops over other ranges: new bounds as C expressions that cannot overflow.

    i in [j + 1, n)      for (i = j + 1; i < n; i++)         down: for (i = n - 1; i >= j + 1; i--)

Invariant: the header that `over` makes takes exactly the values of the range, in the direction of the old loop, for
every value of the variables that the facts and the variables' types allow. A sum is computed in the variables' own type
where it provably fits there, else in long long; where that could overflow as well there is no header.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpsmith.base.source import Span
from warpsmith.loops.analysis.shape import CounterRange
from warpsmith.loops.linear import Linear, follows
from warpsmith.tree.nodes import Cast, Expr, For, Name, Node, Relation, replace
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Type, common_type, integer_range, is_integer
from warpsmith.tree.walk import rebuild

__all__ = ["fits", "form_expr", "over", "typed_facts"]


def typed_facts(forms: Iterable[Linear]) -> tuple[Linear, ...]:
    """Return what the types of the variables in `forms` tell: each lies in its range."""
    symbols = sorted({symbol for form in forms for symbol in form.symbols}, key=lambda s: s.key)
    rows: list[Linear] = []
    for symbol in symbols:
        if isinstance(symbol.type, Scalar) and is_integer(symbol.type):
            low, high = integer_range(symbol.type)
            value = Linear(((symbol, 1),))
            rows += [value.shift(-low), value.scale(-1).shift(high)]
    return tuple(rows)


def fits(form: Linear, type: Type, facts: Sequence[Linear]) -> bool:
    """Whether the value of `form` is always one of `type`, where `facts` are >= 0."""
    if not isinstance(type, Scalar) or not is_integer(type):
        return False
    low, high = integer_range(type)
    known = (*facts, *typed_facts((form, *facts)))
    return follows(form.shift(-low), known) and follows(form.scale(-1).shift(high), known)


def form_expr(form: Linear, facts: Sequence[Linear], span: Span) -> Expr | None:
    """Return `form` as an expression that does not overflow, or None where that cannot be shown."""
    made = form.expr(span)
    if not form.terms or isinstance(made, Name):
        return made
    arithmetic = common_type(made.type, INT)
    signed = isinstance(arithmetic, Scalar) and arithmetic.kind == "signed"
    # Every partial sum has to fit, not the whole alone.
    if signed and all(fits(part, arithmetic, facts) for part in _partial_sums(form)):
        return made
    narrow = all(isinstance(s.type, Scalar) and s.type.bits <= INT.bits for s in form.symbols)
    small = sum(abs(factor) for _, factor in form.terms) < 2**24 and abs(form.constant) < 2**56
    return _wide(made) if narrow and small else None


def _partial_sums(form: Linear) -> Iterable[Linear]:
    """Yield the values of the subexpressions of `form.expr`."""
    total = Linear()
    for symbol, factor in sorted(form.terms, key=lambda term: term[1] < 0):
        piece = Linear(((symbol, factor),))
        yield piece.scale(1 if factor > 0 or not total.terms else -1)
        total = total.plus(piece)
        yield total
    yield form


def _wide(expr: Expr) -> Expr:
    """Return the sum `expr` computed in long long."""

    def change(node: Node) -> Node:
        if isinstance(node, Name):
            return Cast(span=node.span, type=LONG_LONG, operand=node)
        return replace(node, type=LONG_LONG) if hasattr(node, "operand") or hasattr(node, "left") else node

    return rebuild(expr, change)


def over(loop: For, own: CounterRange, wanted: CounterRange, facts: Sequence[Linear]) -> For | None:
    """Return `loop`, whose counter runs over `own`, with the header for `wanted`; None where it cannot be written.

    `facts` hold where the header is evaluated. The user's bounds are kept where they are the same.
    """
    up = loop.step > 0
    start, end = (wanted.low, wanted.past) if up else (wanted.past.shift(-1), wanted.low)
    old_start, old_end = (own.low, own.past) if up else (own.past.shift(-1), own.low)
    lower: Expr | None = loop.lower
    if start != old_start:
        lower = start.expr(loop.lower.span) if fits(start, loop.variable.type, facts) else None
        lower = lower if lower is None else form_expr(start, facts, loop.lower.span)
    if lower is None:
        return None
    if end == old_end:
        return loop if lower is loop.lower else replace(loop, lower=lower)
    relation, bound = _bound_counter(end, facts, loop)
    return None if bound is None else replace(loop, lower=lower, relation=relation, bound=bound)


def _bound_counter(end: Linear, facts: Sequence[Linear], loop: For) -> tuple[Relation, Expr | None]:
    """Return the condition that keeps the counter below `end` (not below it, for a loop that counts down)."""
    open_: tuple[Relation, Linear] = ("<", end) if loop.step > 0 else (">", end.shift(-1))
    closed: tuple[Relation, Linear] = ("<=", end.shift(-1)) if loop.step > 0 else (">=", end)
    if loop.step > 0:
        ways = [closed, open_] if end.terms and end.constant == 1 else [open_, closed]
    else:
        ways = [open_, closed] if end.terms and end.constant == 1 else [closed, open_]
    for relation, form in ways:
        if form.number is not None and form.number < 0 and not _is_signed(loop.variable.type):
            continue
        made = form_expr(form, facts, loop.bound.span)
        if made is not None and _compares(loop.variable.type, made.type, form, facts):
            return relation, made
    return ways[0][0], None


def _compares(counter: Type, bound: Type, form: Linear, facts: Sequence[Linear]) -> bool:
    """Whether the comparison of the counter with the bound is one of integers, whatever C converts."""
    shared = common_type(counter, bound)
    if not isinstance(shared, Scalar):
        return False
    return shared.kind == "signed" or (not _is_signed(counter) and fits(form, shared, facts))


def _is_signed(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "signed"
