"""The accesses of evaluating an expression, in evaluation order, seen from its text alone.

    a[i] = s.x + *p++      read s.x, read p, write p, load through p, read i, store through a

Invariant: every read, write and call that the expression may do stands in the list; of two that C orders, the first
stands first. `certain` is false for what only one arm of ?:, && or || does.

A pointer is named by its base: the variable at the bottom of the pointer expression (`p + 3`, `&x`, `a`). `deep` says
that the pointer itself was loaded from memory that the base reaches (`p->data[i]`, `m[i][j]` with `double **m`): then
the base alone does not tell which object is meant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    DeviceNode,
    Expr,
    For,
    Index,
    InitList,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.nodes import Literal as LiteralNode
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Symbol, Type, lengths
from warpsmith.tree.walk import children, peel

__all__ = [
    "Base",
    "MemoryAccess",
    "MemoryAccessKind",
    "accesses",
    "bases",
    "direct_call",
    "is_pointer",
    "node_accesses",
    "own_accesses",
]

_EXPRESSIONS = (
    LiteralNode, Name, Unary, Binary, Assign, Conditional, Call, Index, Member, Cast, SizeOf, InitList, MacroUse,
    VerbatimExpr,
)  # fmt: skip

MemoryAccessKind = Literal["read", "write", "load", "store", "call", "opaque"]


class Base(Struct, frozen=True):
    """Where a pointer comes from: `symbol` None where no variable tells. `address`: of the variable itself (`&x`, an
    array's name), not the variable's value. `call`: the pointer is what this call returned."""

    symbol: Symbol | None
    deep: bool = False
    address: bool = False
    call: Call | None = None


class MemoryAccess(Struct, frozen=True):
    """One thing done. read, write: `symbol`, member `path` (() is all of it); load, store: through `base`;
    call, opaque: the node says it."""

    kind: MemoryAccessKind
    node: Node
    symbol: Symbol | None = None
    path: tuple[str, ...] = ()
    base: Base | None = None
    certain: bool = True
    whole: bool = True


class _Place(Struct, frozen=True):
    """An lvalue: a variable (a part of it) or memory behind `bases`; `before` is what finding it touches. With neither
    it is what a call returned (a part of it), which is no memory that anything else may touch.

    `whole`: the part is the one that the path names, not an element of an array in it."""

    before: tuple[MemoryAccess, ...]
    symbol: Symbol | None = None
    path: tuple[str, ...] = ()
    bases: tuple[Base, ...] = ()
    whole: bool = True


def is_pointer(expr: Expr) -> bool:
    """Whether the value of `expr` is an address (an array's name included)."""
    return isinstance(expr.type, Pointer | Array | FunctionType)


def direct_call(call: Call) -> Symbol | None:
    """Return the function that a direct call names, or None for a call through a pointer."""
    function = peel(call.function)
    while isinstance(function, Unary) and function.op in ("*", "&"):
        function = peel(function.operand)
    return function.symbol if isinstance(function, Name) and function.symbol.storage == "function" else None


# nodes never change, and rewritten programs share most of theirs: what one touches is remembered here and below
@functools.lru_cache(maxsize=8192)
def accesses(expr: Expr) -> tuple[MemoryAccess, ...]:
    """Return what evaluating `expr` for its value touches, in order."""
    return tuple(_value(expr))


def node_accesses(node: Node) -> Iterator[MemoryAccess]:
    """Yield what executing `node` may touch, calls as such; the statements' order is not given."""
    if isinstance(node, _EXPRESSIONS):
        yield from _value(node)
        return
    # a step changes one statement of a function: the others are remembered
    for statement in node.statements if isinstance(node, Block) else (node,):
        yield from _accesses_below(statement)


@functools.lru_cache(maxsize=8192)
def _accesses_below(statement: Node) -> tuple[MemoryAccess, ...]:
    found: list[MemoryAccess] = []
    stack: list[Node] = [statement]
    while stack:
        current = stack.pop()
        found += own_accesses(current)
        stack += [child for child in children(current) if not isinstance(child, _EXPRESSIONS)]
    return tuple(found)


def own_accesses(node: Node) -> Iterator[MemoryAccess]:
    """Yield what a statement touches itself, the statements in it left out. A loop's counter counts as written."""
    return iter(_remembered_accesses(node))


@functools.lru_cache(maxsize=8192)
def _remembered_accesses(node: Node) -> tuple[MemoryAccess, ...]:
    return tuple(_own_accesses(node))


def _own_accesses(node: Node) -> Iterator[MemoryAccess]:
    for child in children(node):
        if isinstance(child, _EXPRESSIONS):
            yield from _value(child)
    match node:
        case For():
            yield MemoryAccess("write", node, node.variable)
            yield MemoryAccess("read", node, node.variable)
        case VarDecl():
            yield from _lengths(node.symbol.type)
            if node.init is not None:
                yield MemoryAccess("write", node, node.symbol)
        case Verbatim() | DeviceNode():
            yield MemoryAccess("opaque", node)
        case _:
            pass


def _lengths(type: Type) -> Iterator[MemoryAccess]:
    """Yield what the sizes of a variable-length array read."""
    for length in lengths(type):
        yield from _value(length)


def bases(expr: Expr) -> tuple[Base, ...]:
    """Return the variables that the address `expr` may be made from; nothing for a null pointer."""
    expr = peel(expr)
    match expr:
        case Name():
            return (Base(expr.symbol, address=isinstance(expr.symbol.type, Array | FunctionType)),)
        case Cast():
            return bases(expr.operand) if _carries_address(expr.operand) else _no_base(expr.operand)
        case Binary():
            sides = (expr.right,) if expr.op == "," else (expr.left, expr.right)
            return tuple(base for side in sides if is_pointer(side) for base in bases(side))
        case Conditional():
            return (*bases(expr.then), *bases(expr.other))
        case Assign():
            return (*(bases(expr.value) if expr.op == "=" else ()), *bases(expr.target))
        case Index() | Member() | Unary():
            return _bases_of_place(expr)
        case LiteralNode():
            return _no_base(expr) if expr.value is not None else ()
        case Call():
            return (Base(None, call=expr),)
        case InitList() | MacroUse() | SizeOf() | VerbatimExpr():
            return (Base(None),)


def _no_base(expr: Expr) -> tuple[Base, ...]:
    """A number as an address: none for 0, not known otherwise."""
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    return () if isinstance(expr, LiteralNode) and expr.value == 0 else (Base(None),)


def _carries_address(expr: Expr) -> bool:
    return is_pointer(expr) or isinstance(peel(expr), MacroUse | VerbatimExpr)


def _bases_of_address(operand: Expr) -> tuple[Base, ...]:
    place = _place(operand)
    if place.symbol is None and not place.bases:
        return (Base(None),)
    if place.symbol is not None:
        return (Base(place.symbol, address=True),)
    return place.bases


def _bases_of_place(expr: Index | Member | Unary) -> tuple[Base, ...]:
    """The address is a part of an object (an inner array), or was loaded from one (then it is deep)."""
    if isinstance(expr, Unary) and expr.op == "&":
        return _bases_of_address(expr.operand)
    if isinstance(expr, Unary) and expr.op != "*":
        return bases(expr.operand)
    place = _place(expr)
    if place.symbol is None and not place.bases:
        return (Base(None),)
    if isinstance(expr.type, Array):
        return (Base(place.symbol, address=True),) if place.symbol is not None else place.bases
    if place.symbol is not None:
        return (Base(place.symbol, deep=True),)
    return tuple(Base(base.symbol, deep=True) for base in place.bases)


def _place(expr: Expr) -> _Place:
    """Return where the lvalue `expr` is."""
    expr = peel(expr)
    match expr:
        case Name():
            return _Place((), symbol=expr.symbol)
        case Index():
            return _element(expr.base, expr.index)
        case Unary(op="*"):
            return _element(expr.operand, None)
        case Member(arrow=True):
            return _Place(tuple(_value(expr.base)), bases=bases(expr.base) or (Base(None),))
        case Member():
            inner = _place(expr.base)
            if inner.symbol is None or not inner.whole:
                return inner
            return _Place(inner.before, symbol=inner.symbol, path=(*inner.path, expr.field))
        case Call() if isinstance(expr.type, Record):
            return _Place(tuple(_value(expr)))
        case _:
            return _Place(tuple(_value(expr)), bases=(Base(None),))


def _element(base: Expr, index: Expr | None) -> _Place:
    subscript = tuple(_value(index)) if index is not None else ()
    base = peel(base)
    if isinstance(base.type, Array) and isinstance(base, Name | Index | Member | Unary):
        inner = _place(base)
        if inner.symbol is not None and isinstance(inner.symbol.type, Array):
            return _Place((*inner.before, *subscript), bases=(Base(inner.symbol, address=True),))
        return _Place((*inner.before, *subscript), inner.symbol, inner.path, inner.bases, whole=False)
    swapped = index is not None and not is_pointer(base) and is_pointer(index)
    pointer = index if swapped and index is not None else base
    return _Place((*_value(base), *subscript), bases=bases(pointer) or (Base(None),))


def _value(expr: Expr) -> Iterator[MemoryAccess]:
    """Yield what evaluating `expr` touches; an array as a value is only its address."""
    match expr:
        case Name() | Index() | Member():
            yield from _read_place(expr)
        case Unary():
            yield from _unary(expr)
        case Assign():
            yield from _assign(expr)
        case Call():
            yield from _call(expr)
        case Cast():
            yield from _lengths(expr.type)
            yield from _value(expr.operand)
        case VerbatimExpr():
            yield MemoryAccess("opaque", expr)
        case Binary(op="&&" | "||") | Conditional():
            yield from _find_conditional(expr)
        case Binary() | InitList() | LiteralNode() | MacroUse() | SizeOf():
            yield from _operands(expr)


def _operands(expr: Expr) -> Iterator[MemoryAccess]:
    for operand in children(expr):
        if isinstance(operand, _EXPRESSIONS):
            yield from _value(operand)


def _find_conditional(expr: Binary | Conditional) -> Iterator[MemoryAccess]:
    """&&, || and ?: evaluate their first operand, and perhaps others."""
    first, *others = (expr.left, expr.right) if isinstance(expr, Binary) else (expr.condition, expr.then, expr.other)
    yield from _value(first)
    for other in others:
        yield from _maybe(_value(other))


def _maybe(inner: Iterator[MemoryAccess]) -> Iterator[MemoryAccess]:
    """What is done on one arm only is not certain."""
    return (MemoryAccess(t.kind, t.node, t.symbol, t.path, t.base, certain=False, whole=t.whole) for t in inner)


def _read_place(expr: Name | Index | Member | Unary) -> Iterator[MemoryAccess]:
    place = _place(expr)
    yield from place.before
    if not isinstance(expr.type, Array | FunctionType):
        yield from _at(place, expr, "read")


def _at(place: _Place, node: Node, kind: Literal["read", "write"]) -> Iterator[MemoryAccess]:
    """Yield the read or write of a place."""
    if place.symbol is not None:
        if place.symbol.storage not in ("function", "enumerator"):
            yield MemoryAccess(kind, node, place.symbol, place.path, whole=place.whole)
        return
    through: MemoryAccessKind = "load" if kind == "read" else "store"
    for base in place.bases:
        yield MemoryAccess(through, node, base=base, certain=len(place.bases) == 1)


def _unary(expr: Unary) -> Iterator[MemoryAccess]:
    if expr.op == "&":
        yield from _place(expr.operand).before
    elif expr.op == "*":
        yield from _read_place(expr)
    elif "++" in expr.op or "--" in expr.op:
        place = _place(expr.operand)
        yield from place.before
        yield from _at(place, expr, "read")
        yield from _at(place, expr, "write")
    else:
        yield from _value(expr.operand)


def _assign(expr: Assign) -> Iterator[MemoryAccess]:
    place = _place(expr.target)
    yield from _value(expr.value)
    yield from place.before
    if expr.op != "=":
        yield from _at(place, expr, "read")
    yield from _at(place, expr, "write")


def _call(expr: Call) -> Iterator[MemoryAccess]:
    if direct_call(expr) is None:
        yield from _value(expr.function)
    for argument in expr.arguments:
        yield from _value(argument)
    yield MemoryAccess("call", expr)
