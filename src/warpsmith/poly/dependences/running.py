"""The running value of a loop: what each iteration adds to it, as a function of the iteration alone.

    for (i = 1; i < n; i++) a[i] = a[i - 1] + b[i];        in place: the value before iteration i is a[i - 1]
    for (i = 0; i < n; i++) { s += a[i]; b[i] = s; }       inclusive
    for (i = 0; i < n; i++) { b[i] = s; s += a[i]; }       exclusive
    for (i …) { t = a[i]; a[i] = s; s += t; }              the same array: t is read before it is written
    for (i …) if (a[i] > 0) b[k++] = a[i];                 under a condition: adds a[i] > 0 ? 1 : 0

Invariant: `element` has the same value wherever, before the first write of its iteration, it is evaluated; the value
before iteration t is the first value combined with the elements of all iterations before t; each iteration has one.
Limits: the update stands at the top of the body, and what it adds is computed there; then nothing leaves the body
early. Updates by + may stand under conditions too, which the body computes on the way to them (sites.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.in_place import OwnElement, body_statements, find_in_place, hide_own, show_own
from warpsmith.poly.dependences.iteration_values import IterationBody
from warpsmith.poly.dependences.latest import find_latest, own_value
from warpsmith.poly.dependences.linear import linear_update, linear_value
from warpsmith.poly.dependences.sites import UpdateSite, find_sites
from warpsmith.poly.dependences.updates import AssociativeUpdate, form_of, update_of
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Reduction
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    Name,
    Node,
    Return,
    Stmt,
    Switch,
    Unary,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type, common_type, is_float, is_integer
from warpsmith.tree.walk import names, peel, root_symbol, same, walk

__all__ = ["Running", "neutral_number", "running_value", "running_values"]

_SCANNED = ("+", "*", "min", "max", "&", "|", "^", "linear", "latest")


class Running(Struct, frozen=True):
    """A running value: `statement` (the first of its updates) combines `symbol` by `op` with `element`. In place:
    `previous` is (like) the reads of the element before. `compares`: the text of a min or max compares, so that a NaN
    which is there stays; it calls fmin or fmax otherwise. `factor`: the value is multiplied by it before `element` is
    added (op linear). `source`, `group`: where the value comes from (op latest), see latest.py."""

    op: str
    symbol: Symbol
    type: Scalar
    statement: Stmt
    element: Expr
    previous: Index | None
    compares: bool
    factor: Expr | None = None
    source: Expr | None = None
    group: tuple[Symbol, ...] = ()


def running_values(loop: For, found: Iterable[Reduction], summaries: Summaries) -> tuple[Running, ...] | Reason:
    """Return all running values of a loop, or why they cannot be computed together."""
    values: list[Running] = []
    found = tuple(found)
    latest = frozenset(one.variable for one in found if one.op == "latest")
    for one in found:
        if one.companions:
            text = f"the place of an extreme ({one.variable.name}) is not computed beside a running value"
            return Reason("POR002", text, loop.header)
        value = running_value(loop, one, summaries, latest)
        if isinstance(value, Reason):
            return value
        values.append(value)
    in_place = [running for running in values if running.previous is not None]
    if len(values) > 1 and in_place:
        text = "a running value in an array is ported where it is the loop's only one"
        return Reason("POR002", text, in_place[0].statement.span)
    return tuple(values)


def running_value(
    loop: For, scan: Reduction, summaries: Summaries, latest: Set[Symbol] = frozenset()
) -> Running | Reason:
    """Return the running value that `scan` names, or why its elements cannot be computed apart from it; `latest`: all
    latest values of the loop."""
    body = body_statements(loop)
    for node in walk(loop.body):
        if isinstance(node, Call) and summaries.may_fail_assertion(node):
            # what the values are made of is evaluated before the body is run
            return Reason("POR002", "an assertion stands in the loop of a running value", node.span)
    in_place = isinstance(scan.variable.type, Array | Pointer)
    if scan.op == "latest" and not in_place:
        return _latest(loop, scan, summaries, latest)
    sites = () if in_place else find_sites(loop, scan.variable)
    conditional = any(site.conditions or len(site.steps) > 1 for site in sites)
    for node in walk(loop.body):
        skips = isinstance(node, Break | Return | Switch | While | Verbatim | VerbatimExpr)
        if skips or (isinstance(node, Continue) and not conditional):
            return Reason("POR002", "an iteration may leave out the update of the running value", node.span)
    if conditional:
        return _under_conditions(loop, scan, sites, summaries)
    place = next((p for p in find_in_place(loop) if p.symbol == scan.variable), None) if in_place else None
    found = _scalar(body, scan) if not in_place else None if place is None else _in_place(loop, place, scan.op)
    if found is None:
        return Reason(
            "POR002", f"the update of {scan.variable.name} has no form that can be computed in parts", scan.span
        )
    if found.op not in _SCANNED or not _is_number(found.type):
        return Reason("POR002", f"a running value of this kind ({found.op}) stays on the host", scan.span)
    at = next(k for k, stmt in enumerate(body) if stmt is found.statement)
    free = IterationBody(loop, found.symbol, summaries, scan.span, None if place is None else place.target)
    element = free.free(found.element, body, at)
    factor = None if found.factor is None else free.free(found.factor, body, at)
    if isinstance(element, Reason) or isinstance(factor, Reason):
        return element if isinstance(element, Reason) else cast(Reason, factor)
    return replace(found, element=element, factor=factor)


def _is_number(type: Type) -> bool:
    plain = isinstance(type, Scalar) and not type.volatile and type.kind != "bool" and type.bits <= 64
    return plain and (is_float(type) or is_integer(type))


# --- the update


def _scalar(body: Sequence[Stmt], scan: Reduction) -> Running | None:
    for stmt in body if scan.op == "linear" else ():
        made = linear_update(stmt)
        target = None if made is None else peel(made[0].target)
        if made is None or not isinstance(target, Name) or target.symbol != scan.variable:
            continue
        type = target.type
        if isinstance(type, Scalar):
            return Running(
                "linear", target.symbol, type, stmt, made[1].summand, None, compares=True, factor=made[1].factor
            )
    for stmt in body:
        node = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        update = update_of(node) if node is not None else None
        if update is None or update.symbol != scan.variable or not isinstance(stmt, ExprStmt):
            continue
        element = _find_added(update)
        type = update.target.type
        if element is None or update.constant or not isinstance(type, Scalar):
            return None
        compares = _compares(update.node, update.target)
        return None if compares is None else Running(update.op, update.symbol, type, stmt, element, None, compares)
    return None


def _in_place(loop: For, place: OwnElement, op: str) -> Running | None:
    """`a[i] = a[i - step] op e`."""
    type, node = place.target.type, peel(place.statement.expr)
    if place.distance != loop.step or not isinstance(type, Scalar):
        return None
    value = hide_own(place.value, place.target)
    found = Running(op, place.symbol, type, place.statement, value, place.before, compares=True)
    if op == "latest":
        made = own_value(place.statement, value, place.symbol)
        typed = value if value.type == type else Cast(span=value.span, type=type, operand=value)
        found = replace(found, element=typed, source=made.source, group=made.group)
    elif op == "linear":
        linear = linear_value(value, place.before)
        if linear is None:
            return None
        found = replace(found, element=linear.summand, factor=linear.factor)
    else:
        form = form_of(value, place.before)
        element = None if form is None else _element(value, place.before, type)
        compares = _compares(node, place.before)
        if form is None or element is None or compares is None:
            return None
        found = replace(found, op=form.op, element=element, compares=compares)
    shown = None if found.factor is None else show_own(found.factor, place.target)
    return replace(found, element=show_own(found.element, place.target), factor=shown)


def _latest(loop: For, scan: Reduction, summaries: Summaries, latest: Set[Symbol]) -> Running | Reason:
    found, type = find_latest(loop, latest | {scan.variable}, summaries).get(scan.variable), scan.variable.type
    if found is None or not isinstance(type, Scalar):
        text = f"what {scan.variable.name} is set to depends on values that the iterations pass on"
        return Reason("POR002", text, scan.span)
    return Running(
        "latest", scan.variable, type, found.statement, found.value, None, compares=True, source=found.source,
        group=found.group,
    )  # fmt: skip


def _compares(node: Node, mine: Expr) -> bool | None:
    """Whether a min or max compares and keeps the old value where the comparison is false; None: a floating-point one
    that keeps the new value then, so that a NaN would start the running value anew."""
    value = peel(node.value) if isinstance(node, Assign) else None
    if isinstance(value, Call):
        return False
    if isinstance(value, Conditional) and is_float(value.type) and same(peel(value.then), peel(mine)):
        return None
    return True


def _find_added(update: AssociativeUpdate) -> Expr | None:
    node, type = update.node, update.target.type
    match node:
        case Assign(op="=", value=value):
            return _element(value, peel(update.target), type)
        case Assign(op="-=", value=value):
            return _negative(value, type)
        case Assign(value=value):
            return value
        case Unary(op=op):
            one = Literal(span=node.span, type=_INT, text="1", value=1)
            return one if "++" in op else _negative(one, type)
        case _:
            return None


_INT = Scalar("int", 32, "signed")


def _element(value: Expr, mine: Expr, type: Type) -> Expr | None:
    """Return what `value` combines with `mine` by one operation; None for `mine` itself and for conditions."""
    value = peel(value)
    match value:
        case Cast(operand=operand):
            return _element(operand, mine, type)
        case Binary(op=op, left=left, right=right):
            inner, rest = (left, right) if _holds(left, mine) else (right, left)
            added = _negative(rest, type) if op == "-" else rest
            if same(peel(inner), mine):
                return added
            first = _element(inner, mine, type)
            if first is None:
                return None
            joined = _wide(first, type)
            return Binary(span=value.span, type=common_type(joined.type, rest.type), op=op, left=joined, right=rest)
        case Conditional(then=then, other=other):
            arms = [arm for arm in (then, other) if not same(peel(arm), mine)]
            return arms[0] if len(arms) == 1 and not _holds(arms[0], mine) else None
        case Call(arguments=arguments):
            rest_ = [argument for argument in arguments if not same(peel(argument), mine)]
            return rest_[0] if len(rest_) == 1 else None
        case _:
            return None


def _holds(expr: Expr, mine: Expr) -> bool:
    root = root_symbol(mine)
    return any(n.symbol == root for n in names(expr))


def _wide(expr: Expr, type: Type) -> Expr:
    """Return `expr` in the type in which it would be combined with a value of `type`."""
    wanted = common_type(expr.type, type)
    return expr if wanted == expr.type else Cast(span=expr.span, type=wanted, operand=expr)


def _negative(expr: Expr, type: Type) -> Expr:
    inner = _wide(expr, type)
    return Unary(span=expr.span, type=inner.type, op="-", operand=inner)


# --- under conditions


def _under_conditions(
    loop: For, scan: Reduction, sites: Sequence[UpdateSite], summaries: Summaries
) -> Running | Reason:
    """Return the running value whose updates stand in `sites`: c ? e : 0 for each of them, added up."""
    symbol, type = scan.variable, scan.variable.type
    if not isinstance(type, Scalar) or not _is_number(type):
        return Reason("POR002", f"a running value of this type ({symbol.name}) stays on the host", scan.span)
    body = IterationBody(loop, symbol, summaries, scan.span)
    total: Expr | None = None
    for site in sites:
        added = _added_in(site, body, type)
        if isinstance(added, Reason):
            return added
        total = added if total is None else _plus(total, added)
    assert total is not None, "a running value has an update"
    return Running("+", symbol, type, sites[0].path[sites[0].steps[0].place], total, None, compares=True)


def _added_in(site: UpdateSite, body: IterationBody, type: Scalar) -> Expr | Reason:
    """Return what a site adds, as a function of the iteration."""
    total: Expr | None = None
    for step in site.steps:
        amount = _find_added(step.update)
        if amount is None or step.update.passed:
            return Reason(
                "POR002", f"the update of {body.symbol.name} has no form that can be computed in parts", body.span
            )
        free = body.free(amount, site.path, step.place)
        if isinstance(free, Reason):
            return free
        total = free if total is None else _plus(total, free)
    condition: Expr | None = None
    for place, tested, holds in site.conditions:
        free = body.free(tested, site.path, place)
        if isinstance(free, Reason):
            return free
        free = free if holds else Unary(span=free.span, type=_INT, op="!", operand=free)
        condition = free if condition is None else _both(condition, free)
    assert total is not None, "a site has a step"
    if condition is None:
        return total
    nothing = neutral_number("+", type, total.span)
    result = common_type(total.type, nothing.type)
    return Conditional(span=total.span, type=result, condition=condition, then=total, other=nothing)


def _plus(left: Expr, right: Expr) -> Expr:
    return Binary(span=left.span, type=common_type(left.type, right.type), op="+", left=left, right=right)


def _both(left: Expr, right: Expr) -> Expr:
    return Binary(span=left.span, type=_INT, op="&&", left=left, right=right)


def neutral_number(op: str, type: Scalar, span: Span) -> Expr:
    """Return the number that changes nothing when it is combined by + * or ^ (-0.0 keeps a zero's sign)."""
    value = 1 if op == "*" else 0
    if not is_float(type):
        return Literal(span=span, type=_INT, text=str(value), value=value)
    text = f"{value}.0{'f' if type.bits == 32 else ''}"
    literal = Literal(span=span, type=type, text=text, value=float(value))
    return Unary(span=span, type=type, op="-", operand=literal) if op == "+" else literal
