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

from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.linear import linear_update, linear_value
from warpsmith.poly.dependences.reductions import offset_of
from warpsmith.poly.dependences.sites import UpdateSite, find_sites
from warpsmith.poly.dependences.updates import AssociativeUpdate, form_of, has_effect, update_of
from warpsmith.poly.effects.library import is_pure
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Reduction
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
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
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, same, statements_of, walk, written_symbols

__all__ = ["Running", "neutral_number", "only_computes", "running_value"]

_SCANNED = ("+", "*", "min", "max", "&", "|", "^", "linear")


class Running(Struct, frozen=True):
    """A running value: `statement` (the first of its updates) combines `symbol` by `op` with `element`. In place:
    `previous` is (like) the reads of the element before. `compares`: the text of a min or max compares, so that a NaN
    which is there stays; it calls fmin or fmax otherwise. `factor`: the value is multiplied by it before `element` is
    added (op linear)."""

    op: str
    symbol: Symbol
    type: Scalar
    statement: Stmt
    element: Expr
    previous: Index | None
    compares: bool
    factor: Expr | None = None


def running_value(loop: For, scan: Reduction, summaries: Summaries) -> Running | Reason:
    """Return the running value that `scan` names, or why its elements cannot be computed apart from it."""
    body = _statements(loop.body)
    in_place = isinstance(scan.variable.type, Array | Pointer)
    sites = () if in_place else find_sites(loop, scan.variable)
    conditional = any(site.conditions or len(site.steps) > 1 for site in sites)
    for node in walk(loop.body):
        skips = isinstance(node, Break | Return | Switch | While | Verbatim | VerbatimExpr)
        if skips or (isinstance(node, Continue) and not conditional):
            return Reason("POR002", "an iteration may leave out the update of the running value", node.span)
    if conditional:
        return _under_conditions(loop, scan, sites, summaries)
    found = _in_place(loop, body, scan) if in_place else _scalar(body, scan)
    if found is None:
        return Reason(
            "POR002", f"the update of {scan.variable.name} has no form that can be computed in parts", scan.span
        )
    if found.op not in _SCANNED or not _is_number(found.type):
        return Reason("POR002", f"a running value of this kind ({found.op}) stays on the host", scan.span)
    place = next(k for k, stmt in enumerate(body) if stmt is found.statement)
    free = _Body(loop, found.symbol, summaries, scan.span)
    element = free.free(found.element, body, place)
    factor = None if found.factor is None else free.free(found.factor, body, place)
    if isinstance(element, Reason) or isinstance(factor, Reason):
        return element if isinstance(element, Reason) else cast(Reason, factor)
    return replace(found, element=element, factor=factor)


def _statements(body: Stmt) -> tuple[Stmt, ...]:
    parts = statements_of(body)
    while len(parts) == 1 and isinstance(parts[0], Block):
        parts = parts[0].statements
    return parts


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


def _in_place(loop: For, body: Sequence[Stmt], scan: Reduction) -> Running | None:
    """`a[i] = a[i - step] op e`."""
    for stmt in body:
        node = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        target = peel(node.target) if isinstance(node, Assign) and node.op == "=" else None
        if not isinstance(node, Assign) or not isinstance(target, Index) or not isinstance(stmt, ExprStmt):
            continue
        previous = [n for n in walk(node.value) if isinstance(n, Index) and root_symbol(n) == scan.variable]
        if root_symbol(target) != scan.variable or not previous or not isinstance(target.type, Scalar):
            continue
        before = previous[0]
        if not all(same(other, before) for other in previous):
            return None
        places = offset_of(target.index, loop.variable), offset_of(before.index, loop.variable)
        if places[0] is None or places[1] is None or places[0] - places[1] != loop.step:
            return None
        linear = linear_value(node.value, before) if scan.op == "linear" else None
        if linear is not None and isinstance(peel(target.base), Name):
            factor = linear.factor
            return Running(
                "linear", scan.variable, target.type, stmt, linear.summand, before, compares=True, factor=factor
            )
        form = form_of(node.value, before)
        element = None if form is None else _element(node.value, before, target.type)
        compares = _compares(node, before)
        if form is None or element is None or compares is None or not isinstance(peel(target.base), Name):
            return None
        return Running(form.op, scan.variable, target.type, stmt, element, before, compares)
    return None


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


# --- what it adds, as a function of the iteration


class _Definition(Struct, frozen=True):
    """What a temporary holds, and the statements of the body in which that was read."""

    value: Expr
    read_in: frozenset[int]


class _Body(Struct, frozen=True):
    """The body of a loop with the running value `symbol`, which is updated at `span`."""

    loop: For
    symbol: Symbol
    summaries: Summaries
    span: Span

    def free(self, expr: Expr, path: Sequence[Stmt], place: int) -> Expr | Reason:
        """Return what an expression of statement `place` of a path through the body is as a function of the iteration
        alone, free of the body's temporaries, or why it is none."""
        element, read_in = _resolve_value(expr, _definitions(path[:place]), place)
        written = written_symbols(self.loop.body)
        name = self.symbol.name
        for node in walk(element):
            if isinstance(node, Name) and (node.symbol in written or node.symbol == self.symbol):
                other = node.symbol.name
                text = f"what is combined with {name} depends on {other}, which the iteration computes"
                return Reason("POR002", text, self.span)
            if has_effect(node) or (isinstance(node, Call) and not only_computes(node, self.summaries)):
                text = f"what is combined with {name} calls a function or changes something"
                return Reason("POR002", text, self.span)
        early = _find_written_before(path, element, read_in, self.summaries)
        if early is not None:
            text = f"{early.name} is written before the iteration reads what it combines with {name}"
            return Reason("POR002", text, self.span)
        return element


def only_computes(call: Call, summaries: Summaries) -> bool:
    """Whether a call only reads what its arguments point to, and returns a value."""
    symbol = direct_call(call)
    known = summaries.summary(symbol) if symbol is not None and symbol in summaries.definitions else None
    if symbol is None or known is None:
        return is_pure(call)
    changes = known.writes or known.stores or known.io or known.allocates or known.calls_unknown
    own = summaries.parameters(symbol)
    return not changes and not known.reads and all(r.kind == "entry" and r.symbol in own for r in known.loads)


def _under_conditions(
    loop: For, scan: Reduction, sites: Sequence[UpdateSite], summaries: Summaries
) -> Running | Reason:
    """Return the running value whose updates stand in `sites`: c ? e : 0 for each of them, added up."""
    symbol, type = scan.variable, scan.variable.type
    if not isinstance(type, Scalar) or not _is_number(type):
        return Reason("POR002", f"a running value of this type ({symbol.name}) stays on the host", scan.span)
    body = _Body(loop, symbol, summaries, scan.span)
    total: Expr | None = None
    for site in sites:
        added = _added_in(site, body, type)
        if isinstance(added, Reason):
            return added
        total = added if total is None else _plus(total, added)
    assert total is not None, "a running value has an update"
    return Running("+", symbol, type, sites[0].path[sites[0].steps[0].place], total, None, compares=True)


def _added_in(site: UpdateSite, body: _Body, type: Scalar) -> Expr | Reason:
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


def _definitions(statements: Sequence[Stmt]) -> dict[Symbol, _Definition]:
    """Return what straight-line statements have given scalars."""
    known: dict[Symbol, _Definition] = {}
    for place, stmt in enumerate(statements):
        made = list(_find_given(stmt))
        for gone in written_symbols(stmt):
            known = {s: d for s, d in known.items() if s != gone and all(n.symbol != gone for n in names(d.value))}
        for symbol, value in made:
            resolved, read_in = _resolve_value(value, known, place)
            pure = not any(has_effect(n) for n in walk(value)) and all(n.symbol != symbol for n in names(resolved))
            if isinstance(symbol.type, Scalar) and pure:
                typed = resolved.type == symbol.type
                cast = resolved if typed else Cast(span=value.span, type=symbol.type, operand=resolved)
                known[symbol] = _Definition(cast, read_in)
    return known


def _find_given(stmt: Stmt) -> Iterator[tuple[Symbol, Expr]]:
    if isinstance(stmt, DeclStmt):
        yield from ((d.symbol, d.init) for d in stmt.declarations if d.init is not None)
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(inner.target) if isinstance(inner, Assign) and inner.op == "=" else None
    if isinstance(inner, Assign) and isinstance(target, Name):
        yield target.symbol, inner.value


def _resolve_value(expr: Expr, known: dict[Symbol, _Definition], place: int) -> tuple[Expr, frozenset[int]]:
    read_in = {place}

    def change(node: Node) -> Node:
        if not isinstance(node, Name) or node.symbol not in known:
            return node
        read_in.update(known[node.symbol].read_in)
        return known[node.symbol].value

    return rebuild(expr, change), frozenset(read_in)


def _find_written_before(
    body: Sequence[Stmt], element: Expr, read_in: frozenset[int], summaries: Summaries
) -> Symbol | None:
    """Return an array that the element reads and that the body writes before it has read all of the element."""
    read = {root_symbol(n) for n in walk(element) if isinstance(n, Index)}
    calls = (n for n in walk(element) if isinstance(n, Call))
    read |= {n.symbol for call in calls for n in names(call) if isinstance(n.symbol.type, Array | Pointer)}
    if any(isinstance(n, Unary) and n.op == "*" for n in walk(element)):
        read |= {n.symbol for n in names(element)}
    for place, stmt in enumerate(body):
        for symbol in _find_stored(stmt, summaries):
            if symbol in read and any(place <= p for p in _readers(body, symbol, read_in)):
                return symbol
    return None


def _readers(body: Sequence[Stmt], symbol: Symbol, read_in: frozenset[int]) -> Iterator[int]:
    return (p for p in read_in if any(n.symbol == symbol for n in names(body[p])))


def _find_stored(stmt: Stmt, summaries: Summaries) -> Iterator[Symbol]:
    """Yield what a statement writes elements of; all that a call names may be written by it, if it is not known to
    write nothing."""
    for node in walk(stmt):
        target: Expr | None = None
        if isinstance(node, Assign):
            target = node.target
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
            target = node.operand
        elif isinstance(node, Call) and not only_computes(node, summaries):
            passed = [a for a in node.arguments if isinstance(a.type, Array | Pointer)]
            yield from (n.symbol for a in passed for n in names(a) if isinstance(n.symbol.type, Array | Pointer))
        symbol = root_symbol(target) if target is not None else None
        if symbol is not None and not isinstance(peel(target) if target is not None else None, Name):
            yield symbol
