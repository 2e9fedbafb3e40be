"""The data pointer and the size that a container of C++ holds in itself.

    v.data(), v.size()      members of a std::vector whose names no user can write
    p.get()                 the member of a std::unique_ptr to an array: a pointer in an object, as any other
    std::swap(v, w)         a block of assignments to such members, which begins with what is exchanged: v, w

Invariant: only the vector's own members change them. A store through any lvalue that is no such member, a character's
too, leaves them as they are: who overwrites the bytes of a living object of the standard library has no object of it
any more (its value is its own affair, and calling a member of it then means nothing), wherever the vector stands, in
another one's memory as well.
"""

from __future__ import annotations

from warpsmith.tree.nodes import Binary, Block, DeclStmt, Expr, ExprStmt, Member
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel

__all__ = [
    "DATA",
    "OWNED",
    "SIZE",
    "SWAP",
    "changes_no_container",
    "find_exchanged",
    "holds_no_container",
    "is_container",
    "is_held_by_container",
    "is_owner",
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
