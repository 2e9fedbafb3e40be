"""Mapped loops as threads: where each is, and the numbers of a launch as text."""

from __future__ import annotations

import re

from msgspec import Struct

from warpsmith.tree.nodes import Binary, Cast, Expr, For, Literal, Name
from warpsmith.tree.printing.precedence import level
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import MappedLoop
from warpsmith.tree.types import INT, LONG_LONG, Scalar
from warpsmith.tree.walk import peel, same

__all__ = [
    "MappedThread",
    "is_int_name",
    "is_zero",
    "limit_text",
    "literal_of",
    "operand_text",
    "tight_text",
    "wide_text",
]


class MappedThread(Struct, frozen=True):
    """One mapped loop with its launch expressions; `index` names the 64-bit thread index where there is one, `first`
    the first block of a slice where the axis is launched in slices ("": it is not), `shared` how many lanes share an
    iteration ("": each has its own)."""

    mapped: MappedLoop
    lower: Expr
    count: Expr
    guard: Expr | None
    strided: bool
    index: str
    first: str = ""
    elements: int = 1
    shared: str = ""

    @property
    def loop(self) -> For:
        """The loop whose iterations are threads."""
        return self.mapped.loop

    @property
    def axis(self) -> str:
        """The axis of the grid that they lie on."""
        return self.mapped.axis

    @property
    def first_type(self) -> str:
        """The type that counts the blocks before a slice: with as many bits as the counter has."""
        type = self.loop.variable.type
        return "unsigned" if isinstance(type, Scalar) and type.bits <= 32 else "long long"


def literal_of(expr: Expr) -> int | float | None:
    """Return the number that an expression is, None where it is another one."""
    inner = peel(expr)
    return inner.value if isinstance(inner, Literal) else None


def is_zero(expr: Expr) -> bool:
    """Whether an expression is the number zero."""
    return literal_of(expr) == 0


def is_int_name(expr: Expr) -> bool:
    """Whether an expression is a variable of type int."""
    inner = peel(expr)
    return isinstance(expr, Name) and isinstance(inner, Name) and inner.type == INT


def tight_text(expr: Expr, printer: Printer) -> str:
    """Return `expr` as the left operand of + or -."""
    text = printer.expr(expr)
    return f"({text})" if level(expr) < 12 else text


def operand_text(expr: Expr, printer: Printer) -> str:
    """Return an expression as an operand of `<=` or `+`."""
    text = printer.expr(expr)
    return f"({text})" if level(expr) < 11 else text


def wide_text(thread: MappedThread, printer: Printer) -> str:
    """Return the count evaluated in 64 bits, so that a difference of two ints cannot overflow."""
    text = printer.expr(_widen_first(thread.count, (thread.loop.lower, thread.loop.bound)))
    return re.sub(r"\(long long\)(\d+)\b", r"\1LL", text)


def limit_text(thread: MappedThread, printer: Printer) -> str:
    """Return the count as the right side of a comparison."""
    text = wide_text(thread, printer)
    return f"({text})" if level(peel(thread.count)) < 11 else text


def _widen_first(expr: Expr, known: tuple[Expr, ...]) -> Expr:
    """Return `expr` with its first operand in 64 bits; `known` are what the user's loop computes as they are."""
    inner = peel(expr)
    if any(same(inner, peel(part)) for part in known):
        return expr
    if isinstance(inner, Binary) and inner.op in ("+", "-", "*") and not _is_wide(inner.left):
        left = _cast(_widen_first(inner.left, known))
        return Binary(span=inner.span, type=LONG_LONG, op=inner.op, left=left, right=_widen_first(inner.right, known))
    return expr


def _is_wide(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.bits >= 64


def _cast(expr: Expr) -> Expr:
    return expr if _is_wide(expr) else Cast(span=expr.span, type=LONG_LONG, operand=expr)
