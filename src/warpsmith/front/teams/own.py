"""What each thread of a region has for itself: which of it is the same in all of them, and what follows from their
numbers alone.

    int gid = team * B + t;      its value follows from numbers: said again wherever it is used
    int half = n / 2;            the same in every thread: the team's
    float sum = a[gid];          each thread's: an array of the team where it is used on both sides of a barrier

Invariant: an expression that is `pure` over some variables has the same value wherever these have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    InitList,
    Literal,
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
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, names, peel, root_symbol, walk, written_symbols

__all__ = ["changes_in", "is_pure", "lasting", "leads_to", "named_in"]


def is_pure(expr: Expr, fixed: Set[Symbol]) -> bool:
    """Whether a value follows from the variables `fixed` and from constants, and evaluating it does nothing."""
    match expr:
        case Literal():
            return True
        case Name(symbol=symbol):
            return symbol in fixed or symbol.value is not None
        case SizeOf(value=value):
            return value is not None
        case MacroUse(expansion=inner):
            return is_pure(inner, fixed)
        case Cast(operand=inner):
            return isinstance(expr.type, Scalar | Pointer) and is_pure(inner, fixed)
        case Unary(op="&", operand=inner):
            return _is_place(inner, fixed)
        case Unary(op="+" | "-" | "~" | "!") | Binary() | Conditional() | InitList():
            plain = not isinstance(expr, Binary) or expr.op != ","
            return plain and all(isinstance(part, Expr) and is_pure(part, fixed) for part in children(expr))
        case _:
            return False


def _is_place(expr: Expr, fixed: Set[Symbol]) -> bool:
    """Whether which element an lvalue is follows from `fixed`: nothing is read to find it."""
    expr = peel(expr)
    match expr:
        case Index(base=base, index=index):
            bare = peel(base)
            inner = isinstance(base.type, Array) and isinstance(bare, Index | Member) and _is_place(bare, fixed)
            return (inner or is_pure(base, fixed)) and is_pure(index, fixed)
        case Member(base=base, arrow=arrow):
            return is_pure(base, fixed) if arrow else _is_place(base, fixed)
        case _:
            return False


def lasting(function: Function, region: Node, inside: Set[Symbol]) -> frozenset[Symbol]:
    """Return the variables from outside `region` that keep their value while it runs: nobody takes their address, and
    nothing in it writes them."""
    written = written_symbols(region)
    taken = {s for part in walk(function.body) for s in _taken(part)}
    found = {n.symbol for n in names(region)} | set(function.parameters) | {n.symbol for n in names(function.body)}
    # clauses may name what no expression does
    found |= {part.symbol for part in walk(function.body) if isinstance(part, VarDecl)}
    return frozenset(s for s in found - inside - written - taken if _is_kept(s))


def _is_kept(symbol: Symbol) -> bool:
    type = symbol.type
    if isinstance(type, Pointer):
        return symbol.storage in ("local", "parameter") and not type.reference
    if isinstance(type, Array):
        return symbol.storage in ("local", "global", "static")  # its address
    if not isinstance(type, Scalar) or type.volatile:
        return False
    return symbol.storage in ("local", "parameter", "enumerator") or type.const


def _taken(part: Node) -> Iterator[Symbol]:
    """Yield the variables whose address a node takes, or may take."""
    if isinstance(part, Verbatim | VerbatimExpr):
        yield from (*part.reads, *part.writes) if part.kept is None else part.kept
    if not isinstance(part, Unary) or part.op != "&":
        return
    bare = peel(part.operand)
    while isinstance(bare, Member) and not bare.arrow:
        bare = peel(bare.base)
    if isinstance(bare, Name):
        yield bare.symbol


def changes_in(region: Node, symbol: Symbol) -> Iterator[Node]:
    """Yield every place in `region`, but for its declaration, where a variable, or a part of it, may change."""
    pointer = isinstance(symbol.type, Pointer)
    for part in walk(region):
        match part:
            case Assign(target=target) | Unary(op="++x" | "--x" | "x++" | "x--", operand=target):
                # what a pointer leads to is not the pointer
                found = root_symbol(target) == symbol and (not pointer or isinstance(peel(target), Name))
            case For(variable=counter, declares=declares):
                found = counter == symbol and not declares
            case Unary(op="&", operand=place):
                found = leads_to(place, symbol)
            case Call():
                found = _handed(part, symbol)
            case _:
                found = False
        if found:
            yield part


def leads_to(expr: Node, symbol: Symbol) -> bool:
    """Whether an lvalue is the variable or a part of it, not what it points to."""
    expr = peel(expr) if isinstance(expr, Expr) else expr
    while isinstance(expr, Index | Member):
        if isinstance(expr, Member) and expr.arrow:
            return False
        if isinstance(expr, Index) and not isinstance(expr.base.type, Array):
            return False
        expr = peel(expr.base)
    return isinstance(expr, Name) and expr.symbol == symbol


def _handed(call: Call, symbol: Symbol) -> bool:
    """Whether a call is handed an array that it may write."""
    if not isinstance(symbol.type, Array) or _is_constant(symbol.type):
        return False
    return any(leads_to(argument, symbol) for argument in call.arguments)


def _is_constant(type: Array) -> bool:
    inner = type.of
    while isinstance(inner, Array):
        inner = inner.of
    return isinstance(inner, Scalar | Record) and inner.const


def named_in(node: Node) -> frozenset[Symbol]:
    """Return what a tree names, the counters of its loops too."""
    found = {n.symbol for n in names(node)}
    return frozenset(found | {n.variable for n in walk(node) if isinstance(n, For)})
