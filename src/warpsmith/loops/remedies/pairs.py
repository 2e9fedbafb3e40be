"""The loops over all pairs of one range, and which memory their bodies reach.

    for (i) { struct body *p = &b[i];                      the first of a pair: i; the prologue only depends on it
        for (j = i + 1 …) { p->v += b[j].m; s->e += 1; }   the second: j
    }

    p->v        b [] .v        an element that the counter i chooses
    s->e        s [] .e        the same object for every pair

Invariant: two lvalues of one variable whose paths differ in a member before they differ in length are different memory;
members of unions have no path. Which element an index chooses is left out of a path.
Limits: counters that count up by one, over the pairs first < second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    DeclStmt,
    Expr,
    For,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, peel, same, statements_of, walk

__all__ = [
    "Memory",
    "Pairs",
    "find_accesses",
    "find_element",
    "find_memory",
    "find_pairs",
    "find_target",
    "may_be_same",
]

Memory = tuple[Symbol, tuple[str, ...]]
_HERE = "@"


class Pairs(Struct, frozen=True):
    """The loops over all pairs first < second; `prologue` declares what only depends on the first, `pointers` are those
    that the loops declare, with what they start as."""

    outer: For
    prologue: tuple[DeclStmt, ...]
    inner: For
    pointers: dict[Symbol, Expr]


def find_pairs(loop: For) -> Pairs | None:
    """Return the pairs that a loop and the one inside it go through, or None where they are no such loops."""
    statements = statements_of(loop.body)
    inner = statements[-1] if statements else None
    prologue = [stmt for stmt in statements[:-1] if isinstance(stmt, DeclStmt)]
    if not isinstance(inner, For) or len(prologue) != len(statements) - 1:
        return None
    if (loop.step, inner.step, loop.relation, inner.relation) != (1, 1, "<", "<"):
        return None
    if any(isinstance(part, For | While) for part in walk(inner.body)) or not _starts_behind(inner, loop.variable):
        return None
    if not same(loop.bound, inner.bound) and not (loop.declares and _is_one_less(loop.bound, inner.bound)):
        return None
    declared = [part for part in walk(loop) if isinstance(part, VarDecl)]
    pointers = {d.symbol: d.init for d in declared if isinstance(d.symbol.type, Pointer) and d.init is not None}
    if any(isinstance(target := find_target(part), Name) and target.symbol in pointers for part in walk(loop.body)):
        return None
    return Pairs(loop, tuple(prologue), inner, pointers)


def find_target(part: Node) -> Expr | None:
    """Return the lvalue that an assignment, or a step of a counter, writes."""
    if isinstance(part, Assign):
        return peel(part.target)
    return peel(part.operand) if isinstance(part, Unary) and part.op in ("++x", "--x", "x++", "x--") else None


def _starts_behind(inner: For, counter: Symbol) -> bool:
    lower = peel(inner.lower)
    if not isinstance(lower, Binary) or lower.op != "+":
        return False
    sides = {print_expr(lower.left), print_expr(lower.right)}
    return sides == {counter.name, "1"}


def _is_one_less(bound: Expr, other: Expr) -> bool:
    less = peel(bound)
    return (
        isinstance(less, Binary)
        and less.op == "-"
        and same(less.left, other)
        and isinstance(one := peel(less.right), Literal)
        and one.value == 1
    )


def find_element(expr: Expr, pairs: Pairs) -> tuple[Symbol, str, Symbol] | None:
    """Return the array of an element, its path with `@` for the counter, and the counter that chooses it; None where
    two values of the counter could choose the same one."""
    found = _path(expr, pairs)
    if found is None:
        return None
    base, path, counters = found
    if len(counters) != 1 or path.count(_HERE) != 1 or not isinstance(expr.type, Scalar):
        return None
    return base, path, counters[0]


def _path(expr: Expr, pairs: Pairs) -> tuple[Symbol, str, tuple[Symbol, ...]] | None:
    expr = peel(expr)
    match expr:
        case Name(symbol=symbol) if symbol in pairs.pointers:
            start = peel(pairs.pointers[symbol])
            if isinstance(start, Unary) and start.op == "&":
                return _path(start.operand, pairs)
            if isinstance(start, Binary) and start.op == "+":
                return _index_path(start.left, start.right, pairs)
            return None
        case Name(symbol=symbol):
            return symbol, "", ()
        case Index(base=base, index=index):
            return _index_path(base, index, pairs)
        case Member(base=base, field=field):
            inner = _path(base, pairs)
            return None if inner is None else (inner[0], f"{inner[1]}.{field}", inner[2])
        case Unary(op="*", operand=operand):
            return _path(operand, pairs)
        case _:
            return None


def _index_path(base: Expr, index: Expr, pairs: Pairs) -> tuple[Symbol, str, tuple[Symbol, ...]] | None:
    inner = _path(base, pairs)
    if inner is None:
        return None
    index = peel(index)
    counters = {pairs.outer.variable, pairs.inner.variable}
    if isinstance(index, Name) and index.symbol in counters:
        return inner[0], f"{inner[1]}[{_HERE}]", (*inner[2], index.symbol)
    if isinstance(index, Literal):
        return inner[0], f"{inner[1]}[{index.text}]", inner[2]
    return None


def find_memory(expr: Expr, pairs: Pairs) -> Memory | None:
    """Return the variable at the bottom of an lvalue and the path from it, or None where that is not known."""
    expr = peel(expr)
    match expr:
        case Name(symbol=symbol) if symbol in pairs.pointers:
            return find_memory(pairs.pointers[symbol], pairs)
        case Name(symbol=symbol):
            return symbol, ()
        case Index(base=base):
            return _extend(base, "[]", pairs)
        case Unary(op="*", operand=operand):
            return _extend(operand, "[]", pairs)
        case Unary(op="&", operand=operand):
            found = find_memory(operand, pairs)
            return None if found is None or found[1][-1:] != ("[]",) else (found[0], found[1][:-1])
        case Binary(op="+" | "-", left=left, right=right):
            return find_memory(left if isinstance(left.type, Pointer | Array) else right, pairs)
        case Member(base=base, field=field, arrow=arrow):
            inner = _extend(base, "[]", pairs) if arrow else find_memory(base, pairs)
            return None if inner is None else _extend_by_member(inner, base, field)
        case _:
            return None


def _extend(base: Expr, step: str, pairs: Pairs) -> Memory | None:
    found = find_memory(base, pairs)
    return None if found is None else (found[0], (*found[1], step))


def _extend_by_member(inner: Memory, base: Expr, field: str) -> Memory | None:
    """Return the memory of a member, or None of a union's, or where the type is not known."""
    type = base.type.to if isinstance(base.type, Pointer) else base.type
    if not isinstance(type, Record) or type.union or all(f.name != field for f in type.fields):
        return None
    return inner[0], (*inner[1], f".{field}")


def may_be_same(one: Memory, other: Memory) -> bool:
    """Whether two lvalues of one variable may share memory; those of two variables are not compared here."""
    if one[0] != other[0]:
        return False
    return all(a == b for a, b in zip(one[1], other[1], strict=False))


def find_accesses(node: Node, pairs: Pairs, left_out: Collection[int] = ()) -> Iterator[Expr]:
    """Yield the lvalues below `node`, each as a whole, and what their indices mention; nothing of the nodes with an id
    of `left_out`, and not the starts of the pointers that the loops declare."""
    stack = [node]
    while stack:
        part = stack.pop()
        if id(part) in left_out or (isinstance(part, VarDecl) and part.symbol in pairs.pointers):
            continue
        if isinstance(part, Index | Member | Name) or (isinstance(part, Unary) and part.op == "*"):
            if not (isinstance(part, Name) and part.symbol in pairs.pointers):
                yield part
            stack += _subscripts(part)
        else:
            stack += children(part)


def _subscripts(expr: Expr) -> Iterator[Node]:
    """Yield what chooses the elements of an lvalue."""
    expr = peel(expr)
    match expr:
        case Name():
            return
        case Index(base=base, index=index):
            yield index
            yield from _subscripts(base)
        case Member(base=base) | Unary(op="*", operand=base):
            yield from _subscripts(base)
        case Binary(op="+" | "-", left=left, right=right):
            base, offset = (left, right) if isinstance(left.type, Pointer | Array) else (right, left)
            yield offset
            yield from _subscripts(base)
        case _:
            yield expr
