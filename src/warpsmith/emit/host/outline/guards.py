"""The tests of guards in generated functions, each a line that a person can read.

    (unsigned long)x + (unsigned long)n * sizeof(x[0]) <= (unsigned long)y || …       ws_apart(x, x + n, y, y + n)

Invariant: a call says what the condition says of all addresses, numbers that wrap around included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.names import OwnNames
from warpsmith.emit.words import Support
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, Call, Cast, Expr, If, Literal, Name, SizeOf
from warpsmith.tree.types import CHAR, INT, FunctionType, Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel

__all__ = ["asks_apart", "guards_of", "own_test"]

_ANYTHING: Final = Pointer(Scalar("void", 0, "void", const=True))


def guards_of(stmt: If) -> Iterator[GuardTest]:
    """Yield the guards of a region, each with its reason."""
    condition = stmt.condition
    found: list[GuardTest] = []
    for reason in reversed(stmt.reasons[1:]):
        assert isinstance(condition, Binary) and condition.op == "&&"
        found.append(GuardTest(condition.right, reason))
        condition = condition.left
    first = GuardTest(None if stmt.reasons[0] == SWITCHED else condition, stmt.reasons[0])
    yield from (first, *reversed(found))


def own_test(guard: GuardTest, names: OwnNames, words: Support) -> GuardTest:
    """Return a guard in the names of a function."""
    if guard.condition is None:
        return guard
    condition = names.value(guard.condition)
    return GuardTest(_apart_call(condition, words) or condition, guard.reason)


def asks_apart(guard: GuardTest, words: Support) -> bool:
    """Whether a guard calls the run time's comparison of addresses."""
    called = guard.condition.function if isinstance(guard.condition, Call) else None
    return isinstance(called, Name) and called.symbol.name == words.apart


def _apart_call(condition: Expr, words: Support) -> Expr | None:
    """Return the call that says that two pieces of memory do not overlap, for a condition that does."""
    ends = [_end(part) for part in _compared(condition)]
    if len(ends) != 4 or any(end is None for end in ends):
        return None
    past, other_first, other_past, first = (_untyped(end) for end in ends if end is not None)
    arguments = (first, past, other_first, other_past)
    symbol = Symbol(words.apart, words.apart, FunctionType(INT, tuple(a.type for a in arguments)), "function")
    name = Name(span=condition.span, type=symbol.type, symbol=symbol)
    return Call(span=condition.span, type=INT, function=name, arguments=arguments)


def _compared(condition: Expr) -> Iterator[Expr]:
    """Yield what `a <= b || c <= d` compares."""
    if isinstance(condition, Binary) and condition.op == "||":
        for part in (condition.left, condition.right):
            if isinstance(part, Binary) and part.op == "<=":
                yield from (part.left, part.right)


def _end(expr: Expr) -> Expr | None:
    """Return the pointer that an address is, as a number."""
    expr = peel(expr)
    if _is_address(expr):
        return expr.operand
    if not (isinstance(expr, Binary) and expr.op == "+" and _is_address(left := peel(expr.left))):
        return None
    return _moved(left.operand, peel(expr.right))


def _moved(pointer: Expr, bytes: Expr) -> Expr:
    """Return a pointer so many bytes further, in elements where it has them."""
    span = bytes.span
    if isinstance(bytes, Binary) and bytes.op == "*" and isinstance(count := peel(bytes.left), Cast):
        to = pointer.type.to if isinstance(pointer.type, Pointer) else None
        known = bytes.right.value if isinstance(bytes.right, Literal | SizeOf) else None
        if isinstance(to, Scalar) and to.bits and known == to.bits // 8:
            return Binary(span=span, type=pointer.type, op="+", left=pointer, right=count.operand)
    untyped = Cast(span=span, type=Pointer(CHAR), operand=pointer)
    return Binary(span=span, type=untyped.type, op="+", left=untyped, right=bytes)


def _is_address(expr: Expr) -> TypeGuard[Cast]:
    if not isinstance(expr, Cast) or not isinstance(peel(expr.operand).type, Pointer):
        return False
    return isinstance(expr.type, Scalar) and expr.type.bits == 64


def _untyped(pointer: Expr) -> Expr:
    """Return a pointer as the run time takes it: one to what is volatile is no other pointer by itself."""
    to = pointer.type.to if isinstance(pointer.type, Pointer) else None
    volatile = isinstance(to, Scalar) and to.volatile
    return Cast(span=pointer.span, type=_ANYTHING, operand=pointer) if volatile else pointer
