"""Statements that set an iteration's own element of an array which the loop reads one iteration later.

    a[i] = a[i - 1] + b[i];                own element a[i], before it a[i - 1]
    a[i] += a[i - 1] * b[i];               reads its own element as well: a[i] as it was before the loop
    t = c[i - 1]; c[i] = c[i] * d[i];      the element before is read beside the statement

Invariant: by its name the loop touches the array at these two places only, and writes it in this one statement. Where
nothing else reaches the array, no iteration touches what another one writes but for the element before, and the own
element has its value from before the loop until the statement.
Limits: arrays of one dimension; subscripts i + c with a number c; what reaches the array in another way (judge.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.effects.library import is_plain
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Expr,
    ExprStmt,
    For,
    Index,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
)
from warpsmith.tree.types import Scalar, Symbol, common_type
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, same, statements_of, walk

__all__ = ["OwnElement", "body_statements", "find_in_place", "hide_own", "offset_of", "show_own"]

_OPERATIONS = ("+=", "-=", "*=", "&=", "|=", "^=")


class OwnElement(Struct, frozen=True):
    """`statement` sets `target`, the iteration's own element of `symbol`, to `value` (`a[i] += x` to `a[i] + x`);
    `before` is (like) the reads of the element before, which lies `distance` elements back; `uses` are all elements
    of the array that the loop names. `beside`: some of them stand outside the statement, or are the own one's reads."""

    symbol: Symbol
    statement: ExprStmt
    target: Index
    value: Expr
    before: Index
    distance: int
    uses: tuple[Index, ...]
    beside: bool


def find_in_place(loop: For) -> Iterator[OwnElement]:
    """Yield the statements of a loop that set own elements, at most one for an array."""
    for stmt in body_statements(loop):
        node = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        target = peel(node.target) if isinstance(node, Assign) else None
        if not isinstance(stmt, ExprStmt) or not isinstance(node, Assign) or not isinstance(target, Index):
            continue
        found = _in_place(loop, stmt, node, target)
        if found is not None:
            yield found


def body_statements(loop: For) -> tuple[Stmt, ...]:
    """Return the statements of the body, without blocks that are all of it."""
    parts = statements_of(loop.body)
    while len(parts) == 1 and isinstance(parts[0], Block):
        parts = parts[0].statements
    return parts


def _in_place(loop: For, stmt: ExprStmt, node: Assign, target: Index) -> OwnElement | None:
    base = peel(target.base)
    type, at = target.type, offset_of(target.index, loop.variable)
    if not isinstance(base, Name) or not isinstance(type, Scalar) or type.volatile or at is None:
        return None
    uses = _find_uses(loop, base.symbol)
    if uses is None or not _is_written_once(loop, base.symbol, node):
        return None
    others = [use for use in uses if not same(use, target)]
    if not others or not all(same(use, others[0]) for use in others):
        return None
    back = offset_of(others[0].index, loop.variable)
    if back is None or (at - back) * loop.step <= 0:
        return None
    inside = {id(use) for use in walk(stmt)}
    beside = any(id(use) not in inside or (use is not target and same(use, target)) for use in uses)
    value = _value(node, target)
    return None if value is None else OwnElement(
        base.symbol, stmt, target, value, others[0], at - back, uses, beside or node.op != "="
    )  # fmt: skip


def _find_uses(loop: For, symbol: Symbol) -> tuple[Index, ...] | None:
    """Return the elements of an array that the loop names; None where it names the array in another way."""
    uses = [n for n in walk(loop.body) if isinstance(n, Index) and isinstance(peel(n.base), Name)]
    mine = tuple(use for use in uses if root_symbol(use) == symbol)
    if sum(n.symbol == symbol for n in names(loop)) != len(mine):
        return None
    for node in walk(loop):
        passed = isinstance(node, Call) and not is_plain(node) and any(n.symbol == symbol for n in names(node))
        if passed or (isinstance(node, Unary) and node.op == "&" and root_symbol(node.operand) == symbol):
            return None
    return mine


def _is_written_once(loop: For, symbol: Symbol, assignment: Assign) -> bool:
    for node in walk(loop):
        target: Expr | None = None
        if isinstance(node, Assign) and node is not assignment:
            target = node.target
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
            target = node.operand
        if target is not None and root_symbol(target) == symbol:
            return False
    return True


def _value(node: Assign, target: Index) -> Expr | None:
    """Return what an assignment sets its target to."""
    if node.op == "=":
        return node.value
    if node.op not in _OPERATIONS:
        return None
    type = common_type(target.type, node.value.type)
    return Binary(span=node.span, type=type, op=node.op[:-1], left=target, right=node.value)


# --- the own element, as a value of its own


def hide_own(expr: Expr, target: Index) -> Expr:
    """Return an expression with a variable, which nothing else names, in place of the own element."""
    own = Name(span=target.span, type=target.type, symbol=_own_symbol(target))
    return rebuild(expr, lambda node: own if isinstance(node, Index) and same(node, target) else node)


def show_own(expr: Expr, target: Index) -> Expr:
    """Return what `hide_own` was given."""
    symbol = _own_symbol(target)

    def change(node: Node) -> Node:
        return target if isinstance(node, Name) and node.symbol == symbol else node

    return rebuild(expr, change)


def _own_symbol(target: Index) -> Symbol:
    return Symbol("own", f"{target.span.start}:own", target.type, "local", target.span)


def offset_of(index: Expr, counter: Symbol) -> int | None:
    """Return c of `i + c`, None for any other subscript."""
    index = peel(index)
    while isinstance(index, Cast):
        index = peel(index.operand)
    if isinstance(index, Name):
        return 0 if index.symbol == counter else None
    if not (isinstance(index, Binary) and index.op in ("+", "-")):
        return None
    left, right = peel(index.left), peel(index.right)
    if (
        isinstance(left, Name)
        and left.symbol == counter
        and isinstance(right, Literal)
        and isinstance(right.value, int)
    ):
        return right.value if index.op == "+" else -right.value
    return None
