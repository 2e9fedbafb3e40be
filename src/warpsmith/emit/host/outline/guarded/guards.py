"""The tests of guards in generated functions, each a line that a person can read.

    (unsigned long)x + (unsigned long)n * sizeof(x[0]) <= (unsigned long)y || …       ws_apart(x, x + n, y, y + n)

Invariant: a call says what the condition says of all addresses, numbers that wrap around included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeGuard

from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.emit.host.outline.names import OwnNames
from warpsmith.emit.host.outline.shorter import shorten
from warpsmith.emit.host.outline.statements import write
from warpsmith.emit.words import Support
from warpsmith.tree.in_place.versioned import SWITCHED
from warpsmith.tree.nodes import Binary, Call, Cast, DeclStmt, Expr, If, Literal, Name, SizeOf
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import CHAR, INT, Array, FunctionType, Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel

__all__ = ["asks_apart", "guards_of", "own_tests"]

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


def own_tests(guards: Iterable[GuardTest], names: OwnNames, words: Support) -> Iterator[GuardTest]:
    """Yield guards in the names of a function, each once."""
    known: set[frozenset[str]] = set()
    for guard in guards:
        if guard.condition is None:
            yield guard
            continue
        ends = _ends(guard.condition)
        condition = names.value(guard.condition) if ends is None else None
        call = None if ends is None else _apart_call([names.value(end) for end in ends], guard.condition, words)
        said = frozenset(_pieces(call) if condition is None else (print_expr(condition, nothing),))
        if said not in known or guard.before:
            yield GuardTest(call or condition, guard.reason, tuple(_own(one, names) for one in guard.before))
        known.add(said)


def _own(declaration: DeclStmt, names: OwnNames) -> DeclStmt:
    own = write(declaration, names)
    assert isinstance(own, DeclStmt)
    return own


def _pieces(call: Call | None) -> Iterator[str]:
    """Yield the two pieces of memory that a call compares, in whichever order."""
    texts = [] if call is None else [print_expr(shorten(argument), nothing) for argument in call.arguments]
    yield from (", ".join(texts[n : n + 2]) for n in range(0, len(texts), 2))


def asks_apart(guard: GuardTest, words: Support) -> bool:
    """Whether a guard calls the run time's comparison of addresses."""
    called = guard.condition.function if isinstance(guard.condition, Call) else None
    return isinstance(called, Name) and called.symbol.name == words.apart


def _ends(condition: Expr) -> tuple[Expr, ...] | None:
    """Return where two pieces of memory begin and end, for a condition that says that they do not overlap."""
    ends = [_end(part) for part in _compared(condition)]
    if len(ends) != 4 or any(end is None for end in ends):
        return None
    past, other_first, other_past, first = (end for end in ends if end is not None)
    return first, past, other_first, other_past


def _apart_call(ends: Iterable[Expr], condition: Expr, words: Support) -> Call:
    """Return the call that says that two pieces of memory do not overlap."""
    arguments = tuple(map(_untyped, ends))
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
        return _elements(expr.operand)
    if not (isinstance(expr, Binary) and expr.op == "+" and _is_address(left := peel(expr.left))):
        return None
    return _moved(left.operand, peel(expr.right))


def _moved(pointer: Expr, bytes: Expr) -> Expr:
    """Return a pointer so many bytes further, in elements where it has them."""
    span = bytes.span
    if isinstance(bytes, Binary) and bytes.op == "*" and isinstance(count := peel(bytes.left), Cast):
        elements = _elements(pointer)
        to = elements.type.to if isinstance(elements.type, Pointer) else None
        known = bytes.right.value if isinstance(bytes.right, Literal | SizeOf) else None
        if isinstance(to, Scalar) and to.bits and known == to.bits // 8:
            return Binary(span=span, type=elements.type, op="+", left=elements, right=count.operand)
    untyped = Cast(span=span, type=Pointer(CHAR), operand=pointer)
    return Binary(span=span, type=untyped.type, op="+", left=untyped, right=bytes)


def _elements(pointer: Expr) -> Expr:
    """Return a pointer to arrays as one to the elements of the innermost."""
    to = pointer.type.to if isinstance(pointer.type, Pointer) else None
    if not isinstance(to, Array):
        return pointer
    while isinstance(to, Array):
        to = to.of
    return Cast(span=pointer.span, type=Pointer(to), operand=pointer)


def _is_address(expr: Expr) -> TypeGuard[Cast]:
    if not isinstance(expr, Cast) or not isinstance(peel(expr.operand).type, Pointer):
        return False
    return isinstance(expr.type, Scalar) and expr.type.bits == 64


def _untyped(pointer: Expr) -> Expr:
    """Return a pointer as the run time takes it: one to what is volatile is no other pointer by itself."""
    to = pointer.type.to if isinstance(pointer.type, Pointer) else None
    volatile = isinstance(to, Scalar) and to.volatile
    return Cast(span=pointer.span, type=_ANYTHING, operand=pointer) if volatile else pointer
