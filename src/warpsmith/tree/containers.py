"""The data pointer and the size that a container of C++ holds in itself.

    v.data(), v.size()      members of a std::vector whose names no user can write
    v.at(i)                 Index(v.data(), std::vector::at(i, v.size())): the call gives its first argument, or throws
    p.get()                 the member of a std::unique_ptr to an array: a pointer in an object, as any other
    std::swap(v, w)         a block of assignments to such members, which begins with what is exchanged: v, w

Invariant: only the vector's own members change them. A store through any lvalue that is no such member, a character's
too, leaves them as they are: who overwrites the bytes of a living object of the standard library has no object of it
any more (its value is its own affair, and calling a member of it then means nothing), wherever the vector stands, in
another one's memory as well.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Binary, Block, Call, DeclStmt, Expr, ExprStmt, Index, Member, Name, Node
from warpsmith.tree.types import SIZE_T, Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = [
    "CHECKS",
    "DATA",
    "OWNED",
    "SIZE",
    "SWAP",
    "changes_no_container",
    "find_check",
    "find_checked",
    "find_exchanged",
    "holds_no_container",
    "holds_size",
    "is_check",
    "is_container",
    "is_held_by_container",
    "is_owner",
    "make_check",
]

SWAP = ":swap:"
"""Stands in the keys of the variables of an exchange."""

DATA = "data()"
"""Field of a `Member` that is where the elements of a container stand: no name that a program could write."""

SIZE = "size()"
"""Field of a `Member` that is how many elements a container has."""

OWNED = "get()"
"""Field of a `Member` that is where the array of a std::unique_ptr stands."""

_OWN = (DATA, SIZE)

_CHECK = FunctionType(SIZE_T, (SIZE_T, SIZE_T))
_OF_ARRAY, _OF_VECTOR = (Symbol(name, name, _CHECK, "function") for name in ("std::array::at", "std::vector::at"))

CHECKS: Final = frozenset({_OF_ARRAY.name, _OF_VECTOR.name})
"""The names of the functions that stand for the test of `at`: of an index and a size they give the index, or throw."""


def make_check(data: Expr, index: Expr, size: Expr, span: Span) -> Call:
    """Return the subscript of `at` of the container whose elements stand at `data`."""
    symbol = _OF_ARRAY if isinstance(data.type, Array) else _OF_VECTOR
    nowhere = Span(span.file, index.span.start, index.span.start)
    function = Name(span=nowhere, type=symbol.type, symbol=symbol)
    return Call(span=nowhere, type=index.type, function=function, arguments=(index, size))


def is_check(expr: Expr) -> bool:
    """Whether a call stands for the test of `at`."""
    function = expr.function if isinstance(expr, Call) else None
    return isinstance(function, Name) and function.symbol in (_OF_ARRAY, _OF_VECTOR)


def find_check(element: Node) -> Call | None:
    """Return the test that the element of a container is reached through; None where there is none."""
    index = peel(element.index) if isinstance(element, Index) else None
    return index if isinstance(index, Call) and is_check(index) else None


def find_checked(node: Node) -> tuple[Index, ...]:
    """Return the elements that `node` reaches through such tests."""
    return tuple(part for part in walk(node) if isinstance(part, Index) and find_check(part) is not None)


def find_exchanged(block: Block) -> tuple[Expr, Expr] | None:
    """Return the objects that a block stands for the exchange of; None for any other block."""
    match block.statements:
        case (ExprStmt(expr=Binary(op=",") as both), DeclStmt(declarations=(only,)), *_) if SWAP in only.symbol.key:
            return both.left, both.right
        case _:
            return None


def is_held_by_container(place: Expr) -> bool:
    """Whether an lvalue is a container's own `data()` or `size()`."""
    place = peel(place)
    if not isinstance(place, Member) or place.field not in _OWN:
        return False
    owner = peel(place.base).type
    return is_container(owner.to if place.arrow and isinstance(owner, Pointer) else owner)


def holds_size(symbol: Symbol) -> bool:
    """Whether a variable that a step made holds the size of a container, which is a difference of its iterators: it is
    no larger than the largest one of these."""
    return symbol.key.endswith(SIZE)


def is_container(type: Type) -> bool:
    """Whether an object of the type is a container."""
    return isinstance(type, Record) and type.tag.startswith("std::vector<")


def is_owner(type: Type) -> bool:
    """Whether an object of the type is a std::unique_ptr to an array."""
    return isinstance(type, Record) and any(field.name == OWNED for field in type.fields)


def changes_no_container(target: Expr) -> bool:
    """Whether a store to an lvalue leaves what containers hold in themselves as it is: it stores numbers or pointers, a
    struct of them as well, and names no container's member."""
    return holds_no_container(target.type) and not is_held_by_container(target)


def holds_no_container(type: Type) -> bool:
    """Whether an object of the type is numbers and pointers, and no part of it is a container."""
    match type:
        case Record(union=False) if type.fields:
            return all(f.name not in _OWN and holds_no_container(f.type) for f in type.fields)
        case Array():
            return holds_no_container(type.of)
        case FunctionType() | Opaque() | Pointer() | Record() | Scalar():
            return isinstance(type, Pointer) or (isinstance(type, Scalar) and type.kind != "void")
