"""The least and the greatest element that references to one array touch, as host expressions.

    for (i = 0; i < n; i++) for (j = i; j < m; j++) … A[i*N + j] …
    touched = { (i, j) }   lexicographic min and max by isl   (0, 0), (row, m - 1)   row*N + m - 1

Subscripts are delinearized first, so the greatest pair in lexicographic order is the greatest element. Each view of the
array (`a[k]`, k < n*n, beside `a[i*n + j]`) has ends of its own, of which the outermost count. The answer is a case
distinction over the parameters; where nothing is touched both bounds are 0, and the section is empty.

Limits: what cannot be delinearized, or is bounded by no parameter, has no bounds (a Reason says which).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.isl.formula import TRUE, atoms_of, both
from warpsmith.poly.isl.host import (
    HostError,
    condition_expr,
    floored_expr,
    integer,
    operation,
    polynomial_expr,
    product,
)
from warpsmith.poly.isl.polynomial import Polynomial, constant
from warpsmith.poly.isl.space import Floored, Set, find_undecided, gist, image, is_bounded, make_map, pieces
from warpsmith.poly.regions.region import Access, Statement
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import View, layouts
from warpsmith.tree.nodes import Conditional, Expr, Literal
from warpsmith.tree.printing.printer import quote_expression
from warpsmith.tree.types import LONG_LONG
from warpsmith.tree.walk import same

__all__ = ["LinearBounds", "linear_bounds"]

_FEW_PIECES = 8


class LinearBounds(Struct, frozen=True):
    """Elements [lower, upper) hold everything that was asked for; both are `long long`, 0 where nothing is touched.

    `joined`: they are the outermost ends of several views."""

    lower: Expr
    upper: Expr
    joined: bool = False


def linear_bounds(state: State, references: Sequence[tuple[Statement, Access]], span: Span) -> LinearBounds | Reason:
    """Return the elements that the references touch over one execution of the region's scope.

    `state` is what `build_region` returned with the region; guards that delinearizing needs are added to
    `state.assumptions`. All references have one base and place. Counters of loops around the scope are parameters.
    Raises OutOfBudgetError.
    """
    known = [(s, a.of_whole_elements()) for s, a in references]
    first = references[0][1]
    unknown = next((a for _, a in references if not a.known), None)
    if unknown is not None:
        return _failure(unknown, "is not known")
    views = layouts(state, known, guards=True)
    if views is None:
        return _failure(first, "is not affine")
    if len(views) > 1:
        _assume_sizes(state, views)
    ends: list[LinearBounds] = []
    for view in views:
        found = _of_view(state, view, span)
        if isinstance(found, Reason):
            return found
        ends.append(found)
    return reduce(_join_bounds, ends)


def _of_view(state: State, view: View, span: Span) -> LinearBounds | Reason:
    """Return the elements that the references of one view touch."""
    first = view.references[0][1]
    whole = _whole(state, view)
    if not is_bounded(whole):
        return _failure(first, "is not bounded by anything that is known before the loop")
    try:
        ends = _ends(state, whole, view.strides, span)
        if ends is None and _decide(state, whole, view.references):
            ends = _ends(state, _whole(state, view), view.strides, span)
    except HostError as error:
        return _failure(first, f"depends on {error}, which the host cannot name")
    return ends if ends is not None else _failure(first, "has no simple bounds")


def _assume_sizes(state: State, views: Sequence[View]) -> None:
    """Assume that the sizes whose products are strides or bounds are positive: then `n*n` elements in one view are the
    `n` rows of another, and one expression says where both end."""
    bound = {n for view in views for statement, _ in view.references for n in atoms_of(statement.domain)}
    products = [state.vocabulary[n].parts for n in sorted(bound) if state.vocabulary[n].parts]
    for name in dict.fromkeys(part for parts in products for part in parts):
        if state.vocabulary[name].kind == "parameter":
            state.assume_positive(name)


def _join_bounds(one: LinearBounds, other: LinearBounds) -> LinearBounds:
    """Return what holds both: an empty one, whose ends are equal, adds nothing."""
    if same(one.lower, other.lower) and same(one.upper, other.upper):
        return one
    lower = _either(one, other, "<", one.lower, other.lower)
    return LinearBounds(lower, _either(one, other, ">", one.upper, other.upper), joined=True)


def _either(one: LinearBounds, other: LinearBounds, op: str, left: Expr, right: Expr) -> Expr:
    """Return that of two ends which is less (greater), or the one whose section is not empty."""
    if same(left, right):
        return left
    span = left.span
    chosen = operation(op, left, right)
    if not (_is_zero(one.lower) and _is_zero(other.lower)):
        # the other one is empty, or both have elements and this end is further out
        further = operation("&&", operation("<", one.lower, one.upper), chosen)
        chosen = operation("||", operation(">=", other.lower, other.upper), further)
    return Conditional(span=span, type=LONG_LONG, condition=chosen, then=left, other=right)


def _ends(state: State, whole: Set, strides: Sequence[Polynomial], span: Span) -> LinearBounds | None:
    """Return both ends. Many references of one loop touch much the same: the extremes of fewer pieces are found ten
    times as fast; but of a few pieces, each with its own stride, they may be simpler."""
    fewer = whole.coalesce()
    return _both_ends(state, fewer, strides, span) or (
        _both_ends(state, whole, strides, span) if whole.n_basic_set() <= _FEW_PIECES else None
    )


def _both_ends(state: State, whole: Set, strides: Sequence[Polynomial], span: Span) -> LinearBounds | None:
    lower = _extreme(state, whole, strides, span, greatest=False)
    upper = None if lower is None else _extreme(state, whole, strides, span, greatest=True)
    return None if lower is None or upper is None else LinearBounds(lower, upper)


def _whole(state: State, view: View) -> Set:
    """Return the subscripts of all references."""
    pairs = zip(view.references, view.subscripts, strict=True)
    touched = [_touch(state, statement, values) for (statement, _), values in pairs]
    return reduce(lambda a, b: a.union(b), touched)


def _decide(state: State, whole: Set, references: Sequence[tuple[Statement, Access]]) -> bool:
    """Assume away the few parameters (a single column, of which every other element is touched) whose bounds cannot be
    said without quotients."""
    way = find_undecided(whole, greatest=False).union(find_undecided(whole, greatest=True))
    return not way.is_empty() and state.exclude(way, references[0][0].domain)


def _failure(access: Access, why: str) -> Reason:
    shown = quote_expression(access.expr)
    return Reason("POR005", f"which part of {access.base.name} {shown} touches {why}", access.expr.span)


def _touch(state: State, statement: Statement, values: Sequence[Polynomial]) -> Set:
    """Return the subscripts of one reference as a set over the parameters. A counter that may be anything of its type
    bounds nothing: the memory does not reach as far as the type does."""
    formula = both((statement.domain, state.context, state.computed))
    loose = {c for c in statement.counters if not _has_limits(state, c)}
    formula = both((formula, state.ranges(atoms_of(formula) - loose)))
    return image(make_map(state.vocabulary, statement.counters, values, formula))


def _has_limits(state: State, counter: str) -> bool:
    """Whether both ends of a counter are values that are known."""
    ends = state.limits.get(counter, (None, None))
    return all(end is not None and not state.vocabulary.images(end.atoms()) for end in ends)


def _extreme(state: State, touched: Set, strides: Sequence[Polynomial], span: Span, *, greatest: bool) -> Expr | None:
    """Return the least element, or one past the greatest, as nested conditionals; 0 where the set is empty."""
    found = pieces(touched, greatest=greatest)
    if found is None:
        return None
    result: Expr = integer(0, span)
    for where, digits in reversed(found):
        value = _linear(state, digits, strides, span, 1 if greatest else 0)
        known = both((state.ranges(atoms_of(where)), state.context, state.computed))
        condition = gist(state.vocabulary, where, known)
        if condition == TRUE or (_is_zero(value) and _is_zero(result)):
            result = value
            continue
        test = condition_expr(state.vocabulary, condition, span)
        result = Conditional(span=span, type=LONG_LONG, condition=test, then=value, other=result)
    return result


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value == 0


def _linear(state: State, digits: Sequence[Floored], strides: Sequence[Polynomial], span: Span, extra: int) -> Expr:
    """Return the sum of digit * stride, plus a number."""
    if all(not d.floors and d.divisor == 1 for d in digits):
        total = constant(extra)
        for digit, stride in zip(digits, strides, strict=True):
            total = total + digit.polynomial * stride
        return polynomial_expr(state.vocabulary, state.vocabulary.multiply_out(total), span)
    terms = [
        product(floored_expr(state.vocabulary, digit, span), polynomial_expr(state.vocabulary, stride, span))
        for digit, stride in zip(digits, strides, strict=True)
    ]
    terms = [term for term in (*terms, integer(extra, span)) if not _is_zero(term)]
    return reduce(partial(operation, "+"), terms) if terms else integer(0, span)
