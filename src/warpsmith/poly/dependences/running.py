"""The running value of a loop: what each iteration adds to it, as a function of the iteration alone.

    for (i = 1; i < n; i++) a[i] = a[i - 1] + b[i];        in place: the value before iteration i is a[i - 1]
    for (i = 0; i < n; i++) { s += a[i]; b[i] = s; }       inclusive
    for (i = 0; i < n; i++) { b[i] = s; s += a[i]; }       exclusive
    for (i …) { t = a[i]; a[i] = s; s += t; }              the same array: t is read before it is written

Invariant: `element` has the same value wherever, before the first write of its iteration, it is evaluated; the value
before iteration t is the first value combined with the elements of all iterations before t; each iteration has one.
Limits: the update stands at the top of the body, and what it adds is computed there; nothing leaves the body early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.reductions import offset_of
from warpsmith.poly.dependences.updates import AssociativeUpdate, form_of, has_effect, update_of
from warpsmith.poly.effects.library import is_pure
from warpsmith.poly.facts import Reduction
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

__all__ = ["Running", "running_value"]

_SCANNED = ("+", "*", "min", "max", "&", "|", "^")


class Running(Struct, frozen=True):
    """A running value: `statement` combines `symbol` by `op` with `element`. In place: `previous` is (like) the reads
    of the element before. `compares`: the text of a min or max compares, so that a NaN which is there stays; it calls
    fmin or fmax otherwise."""

    op: str
    symbol: Symbol
    type: Scalar
    statement: ExprStmt
    element: Expr
    previous: Index | None
    compares: bool


def running_value(loop: For, scan: Reduction) -> Running | Reason:
    """Return the running value that `scan` names, or why its elements cannot be computed apart from it."""
    for node in walk(loop.body):
        if isinstance(node, Break | Continue | Return | Switch | While | Verbatim | VerbatimExpr):
            return Reason("POR002", "an iteration may leave out the update of the running value", node.span)
    body = _statements(loop.body)
    found = _in_place(loop, body, scan) if isinstance(scan.variable.type, Array | Pointer) else _scalar(body, scan)
    if found is None:
        return Reason(
            "POR002", f"the update of {scan.variable.name} has no form that can be computed in parts", scan.span
        )
    if found.op not in _SCANNED or not _is_number(found.type):
        return Reason("POR002", f"a running value of this kind ({found.op}) stays on the host", scan.span)
    return _alone(loop, body, found)


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


def _alone(loop: For, body: Sequence[Stmt], found: Running) -> Running | Reason:
    """Return the running value with its element free of the body's temporaries, or why it is not free of the body."""
    place = next(k for k, stmt in enumerate(body) if stmt is found.statement)
    known = _definitions(body[:place])
    element, read_in = _resolve_value(found.element, known, place)
    written = written_symbols(loop.body)
    for node in walk(element):
        if isinstance(node, Name) and (node.symbol in written or node.symbol == found.symbol):
            text = (
                f"what is combined with {found.symbol.name} depends on {node.symbol.name}, which the iteration computes"
            )
            return Reason("POR002", text, found.statement.span)
        if has_effect(node) or (isinstance(node, Call) and not is_pure(node)):
            text = f"what is combined with {found.symbol.name} calls a function or changes something"
            return Reason("POR002", text, found.statement.span)
    early = _find_written_before(body, element, read_in)
    if early is not None:
        text = f"{early.name} is written before the iteration reads what it combines with {found.symbol.name}"
        return Reason("POR002", text, found.statement.span)
    return Running(found.op, found.symbol, found.type, found.statement, element, found.previous, found.compares)


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


def _find_written_before(body: Sequence[Stmt], element: Expr, read_in: frozenset[int]) -> Symbol | None:
    """Return an array that the element reads and that the body writes before it has read all of the element."""
    read = {root_symbol(n) for n in walk(element) if isinstance(n, Index)}
    if any(isinstance(n, Unary) and n.op == "*" for n in walk(element)):
        read |= {n.symbol for n in names(element)}
    for place, stmt in enumerate(body):
        for symbol in _find_stored(stmt):
            if symbol in read and any(place <= p for p in _readers(body, symbol, read_in)):
                return symbol
    return None


def _readers(body: Sequence[Stmt], symbol: Symbol, read_in: frozenset[int]) -> Iterator[int]:
    return (p for p in read_in if any(n.symbol == symbol for n in names(body[p])))


def _find_stored(stmt: Stmt) -> Iterator[Symbol]:
    """Yield what a statement writes elements of; all that a call names may be written by it."""
    for node in walk(stmt):
        target: Expr | None = None
        if isinstance(node, Assign):
            target = node.target
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
            target = node.operand
        elif isinstance(node, Call):
            passed = [a for a in node.arguments if isinstance(a.type, Array | Pointer)]
            yield from (n.symbol for a in passed for n in names(a) if isinstance(n.symbol.type, Array | Pointer))
        symbol = root_symbol(target) if target is not None else None
        if symbol is not None and not isinstance(peel(target) if target is not None else None, Name):
            yield symbol
