"""Members of the structs in an array, as a loop uses them: `p[i].pos.x`, `(p + i)->m`, `p->m`, `xyz[i][2]`.

    p[i].pos.x      element i, member pos.x         an array of structs
    g[i][j].x       element i, j, member x          an array of rows of structs
    p[i].v[2]       element i, member v.2           a member that is an array, subscripted by a number
    xyz[i][2]       element i, member 2             rows of few elements are structs as well

Invariant: what is found is all that the loop names of the array; two different members of a struct are different
memory (no unions on the way, numbers within their extents).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.linear import number
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    DeclStmt,
    Expr,
    Index,
    Literal,
    Loop,
    Member,
    Name,
    Node,
    Pragma,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import children, peel

__all__ = ["MemberPath", "MemberUse", "find_member_uses", "member_name", "rows_of_structs"]

MemberPath = tuple[str | int, ...]

_MOST_COLUMNS = 16


class MemberUse(Struct, frozen=True, eq=False):
    """A number in an element of an array: the `node` that names it, the element's subscripts (`index`, the outermost
    first), and which member it is."""

    node: Expr
    index: tuple[Expr, ...]
    path: MemberPath
    type: Scalar


def rows_of_structs(type: Type) -> tuple[Array, ...] | None:
    """Return the rows between a variable and its structs (none for a plain array of structs, or a pointer to some);
    None where it is no array of structs. A row of few numbers is a struct."""
    inner, rows = _element(type), list[Array]()
    while isinstance(inner, Array) and not isinstance(inner.of, Scalar):
        rows.append(inner)
        inner = inner.of
    if isinstance(inner, Record):
        return tuple(rows) if inner.fields and not inner.union and not inner.lanes else None
    columns = inner.count if isinstance(inner, Array) and isinstance(inner.of, Scalar) else None
    return tuple(rows) if columns is not None and 2 <= columns <= _MOST_COLUMNS else None


def member_name(path: MemberPath) -> str:
    """Return a word for a member: `pos_x` for pos.x, `2` for the third column."""
    return "_".join(str(step) for step in path)


def find_member_uses(loop: Loop, symbol: Symbol) -> tuple[MemberUse, ...] | Reason:
    """Return all uses of the array in the loop, those in subscripts of others too, or which of them is none of one
    number in an element."""
    found: list[MemberUse] = []
    rank = len(rows_of_structs(symbol.type) or ()) + 1
    pending: list[tuple[Node, Node]] = [(loop, loop)]
    while pending:
        node, parent = pending.pop()
        wrong = _find_wrong(node, parent, symbol)
        if wrong is not None:
            return wrong
        use = _read_use(node, symbol, rank) if isinstance(node, Index | Member) else None
        if use is not None:
            found.append(use)
            pending += [(index, node) for index in reversed(use.index)]
            continue
        pending += [(child, node) for child in reversed(list(children(node)))]
    return tuple(found)


def _element(type: Type) -> Type | None:
    if isinstance(type, Pointer) and not type.reference:
        return type.to
    return type.of if isinstance(type, Array) else None


def _find_wrong(node: Node, parent: Node, symbol: Symbol) -> Reason | None:
    """Return why a node of the loop is in the way, or None; `parent`: what it is a part of."""
    if isinstance(node, Verbatim | VerbatimExpr):
        return _refuse("the loop has text that is not modelled", node)
    if isinstance(node, Pragma) and symbol.name in identifiers(node.text):
        return _refuse(f"a pragma speaks of {symbol.name}", node)
    if isinstance(node, Unary) and node.op == "&" and _leads_to(node.operand, symbol):
        return _refuse(f"the address of a part of {symbol.name} is taken", node)
    init = node.init if isinstance(node, VarDecl) and _is_reference(node.symbol.type) else None
    if init is not None and _leads_to(init, symbol):
        return _refuse(f"a reference to a part of {symbol.name} is made", node)
    if isinstance(node, Call) and any(_leads_to(argument, symbol) for argument in _find_referred(node)):
        return _refuse(f"a function is given a reference to a part of {symbol.name}", node)
    if isinstance(node, Name) and node.symbol == symbol:
        shown = parent if isinstance(parent, Expr) and not isinstance(parent, Name) else node
        what = _say_use(parent, symbol)
        help = f"use numbers in the elements of {symbol.name}, one at a time"
        return Reason("STP002", f"{what}: {_show(shown)}", node.span, legal_if=(help,))
    return None


def _find_referred(call: Call) -> Iterator[Expr]:
    """Yield the arguments of a call that are handed over by reference, or may be."""
    type = peel(call.function).type
    type = type.to if isinstance(type, Pointer) else type
    known = type.parameters if isinstance(type, FunctionType) else ()
    for position, argument in enumerate(call.arguments):
        if position < len(known) and _is_reference(known[position]):
            yield argument


def _is_reference(type: Type) -> bool:
    return isinstance(type, Pointer) and type.reference


def _say_use(parent: Node, symbol: Symbol) -> str:
    if isinstance(parent, Call):
        return f"{symbol.name} is handed to a function"
    if isinstance(parent, Index | Member):
        return f"{symbol.name} is used otherwise than by single members"
    assigned = isinstance(parent, Assign | DeclStmt | VarDecl)
    return f"{symbol.name} itself is {'assigned' if assigned else 'used'}"


def _show(node: Node) -> str:
    text = show_expression(node) if isinstance(node, Expr) else " ".join(node.span.text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _leads_to(place: Expr, symbol: Symbol) -> bool:
    """Whether an lvalue is a part of the array."""
    place = peel(place)
    while isinstance(place, Index | Member) or (isinstance(place, Unary) and place.op == "*"):
        place = peel(place.operand if isinstance(place, Unary) else place.base)
    if isinstance(place, Binary):
        return _leads_to(place.left, symbol) or _leads_to(place.right, symbol)
    return isinstance(place, Name) and place.symbol == symbol


def _read_use(node: Index | Member, symbol: Symbol, rank: int) -> MemberUse | None:
    """Return the number in an element that a node names, or None."""
    if not _is_number(node.type):
        return None
    path: list[str | int] = []
    place: Expr = node
    while True:
        index = _index_of(place, symbol, rank)
        if index is not None:
            break
        if isinstance(place, Member):
            held = place.base.type
            held = held.to if place.arrow and isinstance(held, Pointer) else held
            if not isinstance(held, Record) or held.union or place.field not in {f.name for f in held.fields}:
                return None
            path.insert(0, place.field)
            if place.arrow:
                index = _start(place.base, symbol) if rank == 1 else None
                break
            place = peel(place.base)
        elif isinstance(place, Index):
            row, column = peel(place.base).type, _number(place.index)
            if not isinstance(row, Array) or row.count is None or column is None or not 0 <= column < row.count:
                return None
            path.insert(0, column)
            place = peel(place.base)
        else:
            return None
    if index is None or not path:
        return None
    assert isinstance(node.type, Scalar)
    return MemberUse(node, index, tuple(path), node.type)


def _index_of(place: Expr, symbol: Symbol, rank: int) -> tuple[Expr, ...] | None:
    """Return which element `p[i]`, `*p`, `*(p + i)` or `g[i][j]` is."""
    if rank == 1 and isinstance(place, Unary) and place.op == "*":
        return _start(place.operand, symbol)
    found: list[Expr] = []
    while isinstance(place, Index):
        found.insert(0, place.index)
        place = peel(place.base)
    return tuple(found) if _is(place, symbol) and len(found) == rank else None


def _start(pointer: Expr, symbol: Symbol) -> tuple[Expr, ...] | None:
    """Return to which element `p` or `p + i` points."""
    pointer = peel(pointer)
    if _is(pointer, symbol):
        return (number(0, pointer.span),)
    if isinstance(pointer, Binary) and pointer.op == "+" and _is(pointer.left, symbol):
        return (pointer.right,)
    return None


def _is(expr: Expr, symbol: Symbol) -> bool:
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == symbol


def _number(index: Expr) -> int | None:
    index = peel(index)
    return index.value if isinstance(index, Literal) and isinstance(index.value, int) else None


def _is_number(type: Type | None) -> bool:
    return isinstance(type, Scalar) and type.kind not in ("void", "complex") and not type.volatile


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.span)
