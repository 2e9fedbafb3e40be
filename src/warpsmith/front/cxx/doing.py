"""The effects of a text of C++ that makes, moves or destroys objects: the expressions that it evaluates, the memory
that it copies.

    Image out(in.width(), in.height());       evaluates in->width_, in->height_
    Image now = in;                           copies the block of memory behind in->data_.data()
    bytes = equalize(bytes);                  evaluates the call; what bytes had is freed
    threshold(convert(lines), 128)            evaluates both calls, the inner one's object is a temporary
    Blur(sigma)(in)                           evaluates sigma, and the call with the temporary's address

Invariant: objects are values (classes/values.py), so that making, moving and destroying them runs no code of the
program's but what is listed; where a part is not known, nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.cxx.classes.values import is_value, is_vector, makes_numbers
from warpsmith.front.cxx.objects import is_lvalue, is_pure, member_of
from warpsmith.tree.containers import DATA
from warpsmith.tree.nodes import Call, Doing, Expr, Member, Name, VerbatimExpr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel, root_symbol

__all__ = [
    "assign_effects",
    "call_effects",
    "copy_effects",
    "fill_effects",
    "lambda_effects",
    "make_effects",
    "move_effects",
    "temporary",
]


def make_effects(expressions: ExpressionBuilder, rows: Sequence[int]) -> Doing | None:
    """Return what making an object from numbers does; None where one of them is not understood."""
    built = [expressions.build(row) for row in rows]
    known = all(isinstance(one.type, Scalar) for one in built)
    return Doing(tuple(built)) if known else None


def fill_effects(expressions: ExpressionBuilder, type: Type, rows: Sequence[int]) -> Doing | None:
    """Return what making a vector does: of numbers, or as a copy; or a std::array, as a copy."""
    if is_std_array(type) and isinstance(type, Array) and isinstance(type.of, Scalar) and len(rows) == 1:
        source = expressions.build(rows[0])
        return Doing(copies=(source,)) if is_lvalue(source) and is_pure(source) and is_std_array(source.type) else None
    if not isinstance(type, Record) or not (is_vector(type) or _is_vector_of_numbers(expressions, type)):
        return None
    if len(rows) == 1:
        source = expressions.build(rows[0])
        if isinstance(source.type, Record):
            return copy_effects(expressions, source)
    return make_effects(expressions, rows)


def _is_vector_of_numbers(expressions: ExpressionBuilder, type: Record) -> bool:
    """Whether a type is a std::vector of a class of numbers whose constructors make only their object."""
    data = type.fields[0].type if type.tag.startswith("std::vector<") and type.fields else None
    element = data.to if isinstance(data, Pointer) else None
    return isinstance(element, Record) and makes_numbers(expressions.context, element)


def copy_effects(expressions: ExpressionBuilder, source: Expr) -> Doing | None:
    """Return what copying the object that an lvalue names does."""
    if not is_lvalue(source) or not is_pure(source):
        return None
    numbers: list[Expr] = []
    blocks: list[Expr] = []
    for leaf in _leaves(expressions, source):
        if leaf is None:
            return None
        (blocks if isinstance(leaf, Member) and leaf.field == DATA else numbers).append(leaf)
    return Doing(() if _is_own(source) else tuple(numbers), tuple(blocks))


def move_effects(source: Expr) -> Doing | None:
    """Return what moving out of an object does: nothing that matters where it is a variable of the function's own."""
    return Doing() if _is_own(source) else None


def assign_effects(target: Expr, value: Expr) -> Doing | None:
    """Return what giving a variable of the function's own a new object does, which it takes over."""
    return Doing((value,)) if _is_own(target) and _is_told(value) else None


def call_effects(call: Call) -> Doing | None:
    """Return what a call does to which temporary objects are handed."""
    return Doing((call,)) if all(_is_told(argument) for argument in call.arguments) else None


def temporary(value: Expr, span: Span) -> VerbatimExpr:
    """Return the address of an object that is made for a call."""
    doing = Doing((value,)) if _is_told(value) else None
    type = Pointer(value.type)
    return VerbatimExpr(
        span=span, intact=True, type=type, text=span.text, reads=(), writes=(), calls=True, kept=(),
        reason="a temporary object", doing=doing,
    )  # fmt: skip


def lambda_effects(opaque: VerbatimExpr) -> Doing | None:
    """Return what making a lambda does: it copies numbers, or takes addresses."""
    head = opaque.text[: opaque.text.find("]") + 1]
    by_address = re.fullmatch(r"\[\s*(&\s*\w*\s*,?\s*)*\]", head) is not None
    numbers = all(isinstance(symbol.type, Scalar) for symbol in opaque.reads)
    return Doing() if by_address or numbers else None


def _is_told(value: Expr) -> bool:
    value = peel(value)
    return not isinstance(value, VerbatimExpr) or value.doing is not None


def _is_own(place: Expr) -> bool:
    """Whether an lvalue is a variable of the function's own, as a whole."""
    inner = peel(place)
    symbol = root_symbol(inner)
    return isinstance(inner, Name) and symbol is not None and symbol.storage in ("local", "parameter")


def _leaves(expressions: ExpressionBuilder, value: Expr) -> Iterator[Expr | None]:
    """Yield the numbers of an object, and where the elements of its vectors are; None for what cannot be named."""
    type = value.type
    if isinstance(type, Scalar | Pointer):
        yield value
        return
    if not isinstance(type, Record) or not is_value(expressions.context, type):
        yield None
        return
    for field in (DATA,) if is_vector(type) else (f.name for f in type.fields):
        if expressions.is_closed(type.tag, field):
            part: Expr | None = expressions.cxx.open_member(value, field, value.span)
        else:
            part = member_of(value, field, value.span, intact=False)
        if part is None:
            yield None
        elif field == DATA:
            yield part
        else:
            yield from _leaves(expressions, part)
