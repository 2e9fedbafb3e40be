"""Small pieces of trees that C++ implies: objects behind references, members, places without text.

x, a reference        Unary(*, Name x)        the name has an empty place: its text is that of the whole
v.data(), v.size()    Member(v, DATA)         the members that stand for a container of the library
"""

from __future__ import annotations

import re
from typing import TypeVar, assert_never

from msgspec.structs import replace as node_with
from msgspec.structs import replace as with_type

from warpsmith.base.records import field_names
from warpsmith.base.source import Span
from warpsmith.tree.containers import DATA
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, rebuild, walk

__all__ = [
    "INCREMENTS",
    "address",
    "again",
    "before",
    "behind",
    "dereference",
    "is_alike",
    "is_lvalue",
    "is_pure",
    "is_value",
    "member_of",
    "qualify",
    "unwritten",
]

E = TypeVar("E", bound=Node)

INCREMENTS = ("x++", "x--", "++x", "--x")


def before(span: Span) -> Span:
    """Return the place of what the text does not write: it is empty, so that no other text is taken for its own."""
    return Span(span.file, span.start, span.start)


def behind(span: Span) -> Span:
    """Return the place behind a text."""
    return Span(span.file, span.end, span.end)


def dereference(pointer: Expr, span: Span, *, intact: bool) -> Expr:
    """Return what a reference is bound to: the use of it."""
    if isinstance(pointer, Unary) and pointer.op == "&":
        return pointer.operand
    to = pointer.type.to if isinstance(pointer.type, Pointer) else pointer.type
    return Unary(span=span, intact=intact, type=to, op="*", operand=pointer)


def address(value: Expr) -> Expr:
    """Return the address of an lvalue: what a reference to it holds."""
    inner = peel(value)
    if isinstance(inner, Unary) and inner.op == "*":
        return inner.operand
    return Unary(span=before(value.span), type=Pointer(value.type), op="&", operand=value)


def again(expr: E) -> E:
    """Return a copy of an expression, so that no node stands in two places."""
    changes: dict[str, object] = {}
    for name in field_names(expr):
        value = getattr(expr, name)
        if isinstance(value, Node):
            changes[name] = again(value)
        elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
            changes[name] = tuple(again(item) if isinstance(item, Node) else item for item in value)
    return node_with(expr, **changes)


def unwritten(expr: E) -> E:
    """Return a copy of an expression whose parts have no text of the user's, but for those that are his text."""
    made = again(expr)

    def change(part: Node) -> Node:
        written = part.intact or part.span.start == part.span.end
        return part if written else node_with(part, span=before(part.span))

    return rebuild(made, change)


def is_lvalue(expr: Expr) -> bool:
    """Whether an expression names an object."""
    expr = peel(expr)
    if isinstance(expr, Member):
        return expr.arrow or is_lvalue(expr.base)
    return isinstance(expr, Name | Index) or (isinstance(expr, Unary) and expr.op == "*")


_NUMBERS = frozenset({
    "auto", "bool", "char", "const", "double", "float", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long",
    "ptrdiff_t", "short", "signed", "size_t", "static_cast", "std", "uint16_t", "uint32_t", "uint64_t", "uint8_t",
    "unsigned",
})  # fmt: skip
"""The words of a cast that names a type of numbers; another name may stand for a reference."""


def is_value(expr: Expr) -> bool:
    """Whether an expression certainly makes a value of its own: it names no object, and is none of the operators whose
    result is one of their operands (`c ? x : y`, `x = 1`, `++x`, the comma, a cast to a reference)."""
    expr = peel(expr)
    match expr:
        case Literal() | SizeOf() | Call():
            return True
        case Unary(op=op):
            return op not in ("*", "++x", "--x")
        case Binary(op=op):
            return op != ","
        case Conditional(then=then, other=other):
            return is_value(then) or is_value(other) or not is_alike(then.type, other.type)
        case Cast(operand=operand):
            head = Span(expr.span.file, expr.span.start, operand.span.start).text
            return "&" not in head and _NUMBERS.issuperset(re.findall(r"\w+", head))
        case InitList(items=items):
            return all(is_value(item) for item in items)
        case Member(base=base, arrow=arrow):
            return not arrow and is_value(base)
        case Name() | Index() | Assign() | VerbatimExpr():
            return False
        case MacroUse():
            raise AssertionError("a macro use is peeled")
        case _:
            assert_never(expr)


def is_alike(a: Type, b: Type) -> bool:
    """Whether two types may be the same but for const and volatile."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return (a.bits, a.kind) == (b.bits, b.kind)
    return type(a) is type(b)


def qualify(type: Type, const: bool) -> Type:
    """Return a member's type as it is in a const object."""
    match type:
        case Scalar() | Record() | Pointer() if const and not type.const:
            return with_type(type, const=True)
        case Array():
            return with_type(type, of=qualify(type.of, const))
        case _:
            return type


def member_of(value: Expr, field: str, span: Span, *, intact: bool) -> Member | None:
    """Return a member of an object, through the pointer where the object is what a pointer points to."""
    inner = peel(value)
    base, arrow = (inner.operand, True) if isinstance(inner, Unary) and inner.op == "*" else (value, False)
    holder = value.type
    if not isinstance(holder, Record) or holder.union:
        return None
    found = next((part for part in holder.fields if part.name == field), None)
    if found is None:
        return None
    type = qualify(found.type, holder.const)
    if field == DATA and holder.const and isinstance(found.type, Pointer):
        type = Pointer(qualify(found.type.to, True))
    return Member(span=span, intact=intact, type=type, base=base, field=field, arrow=arrow)


def is_pure(expr: Expr) -> bool:
    """Whether evaluating an expression any number of times, in any place, is evaluating it once."""
    return not any(
        isinstance(part, Assign | Call | VerbatimExpr | InitList) or (isinstance(part, Unary) and part.op in INCREMENTS)
        for part in walk(expr)
    )
