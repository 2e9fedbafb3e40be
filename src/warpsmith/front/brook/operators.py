"""Operators of Brook+ with their types: numbers as in C, vectors number by number.

    v * w      vectors of one type                   v * s      a number stands for all of a vector's
    a < b      int, of numbers alone                 g = v      of one type; a number for all of a vector's

What would lose numbers, or mean something else in another dialect, is refused.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.brook.kinds import element_of, is_number, lanes_of_kind, shown_type
from warpsmith.front.brook.tokens import BrookTextError
from warpsmith.tree.nodes import Assign, Binary, Call, Cast, Conditional, Expr, Index, Member, Name, Unary
from warpsmith.tree.types import INT, FunctionType, Pointer, Record, Symbol, Type, common_type, is_float, promote

__all__ = ["ASSIGNMENTS", "LEVELS", "assign", "call_builtin", "choose", "combine", "converted", "is_place", "step"]

LEVELS: Final = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
"""How tightly binary operators bind."""
ASSIGNMENTS: Final = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_TESTS: Final = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
_WHOLE: Final = ("%", "&", "|", "^", "<<", ">>")


def call_builtin(name: str, type: Type, arguments: tuple[Expr, ...], span: Span) -> Call:
    """Return a call of what the device brings with it."""
    kind = FunctionType(type, tuple(one.type for one in arguments))
    function = Name(span=span, type=kind, symbol=Symbol(name, f"brook:{name}", kind, "function"))
    return Call(span=span, type=type, function=function, arguments=arguments)


def combine(op: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Return `left op right`; raises BrookTextError."""
    pointers = [side for side in (left, right) if isinstance(side.type, Pointer)]
    if pointers and op in ("+", "-", "==", "!="):
        return Binary(span=span, type=pointers[0].type if op in ("+", "-") else INT, op=op, left=left, right=right)
    for side in (left, right):
        if not lanes_of_kind(side.type):
            raise BrookTextError(side.span, f"'{op}' takes numbers, and this is {shown_type(side.type)}")
    type = _combined(op, left, right, span)
    return Binary(span=span, type=type, op=op, left=left, right=right)


def _combined(op: str, left: Expr, right: Expr, span: Span) -> Type:
    vectors = [side.type for side in (left, right) if isinstance(side.type, Record)]
    for side in (left, right):
        if op in _WHOLE and is_float(element_of(side.type)):
            helps = "use fmod(a, b)" if op == "%" else "convert it: (int)x"
            raise BrookTextError(side.span, f"'{op}' takes integers, and this is {shown_type(side.type)}", helps)
    if op in _TESTS:
        if vectors:
            raise BrookTextError(span, f"'{op}' takes numbers, not vectors", "take components: a.x")
        return INT
    if not vectors:
        return promote(left.type) if op in ("<<", ">>") else common_type(left.type, right.type)
    if len(vectors) == 2 and vectors[0] != vectors[1]:
        message = f"'{op}' of {shown_type(left.type)} and {shown_type(right.type)}"
        raise BrookTextError(span, message, f"convert one of them: ({shown_type(left.type)})x")
    number = right if isinstance(left.type, Record) else left
    if is_number(number.type) and is_float(number.type) and not is_float(element_of(vectors[0])):
        message = f"'{op}' of {shown_type(left.type)} and {shown_type(right.type)}"
        raise BrookTextError(number.span, message, "convert the vector to floats, or this number to an integer")
    return vectors[0]


def converted(value: Expr, target: Type, what: str) -> Expr:
    """Return a value as something of another type takes it; raises BrookTextError where it cannot be that."""
    if isinstance(target, Pointer) or isinstance(value.type, Pointer):
        if isinstance(target, Pointer):
            return value
    elif lanes_of_kind(value.type) and lanes_of_kind(target):
        own, wanted = isinstance(value.type, Record), isinstance(target, Record)
        if (not own and not wanted) or value.type == target:
            return value
        if wanted and not own:
            return Cast(span=value.span, type=target, operand=value)
    message = f"{what} is {shown_type(target)}, and this is {shown_type(value.type)}"
    helps = "take components: v.x" if isinstance(value.type, Record) else ""
    raise BrookTextError(value.span, message, *filter(None, (helps,)))


def choose(condition: Expr, then: Expr, other: Expr, span: Span) -> Expr:
    """Return `condition ? then : other`; raises BrookTextError."""
    vector = next((one.type for one in (then, other) if isinstance(one.type, Record)), None)
    if vector is not None:
        then, other = (converted(one, vector, "the other value") for one in (then, other))
        type: Type = vector
    elif is_number(then.type) and is_number(other.type):
        type = common_type(then.type, other.type)
    else:
        type = then.type
        other = converted(other, type, "the other value")
    return Conditional(span=span, type=type, condition=condition, then=then, other=other)


def is_place(e: Expr) -> bool:
    """Whether an expression can be assigned to."""
    match e:
        case Name():
            return e.symbol.storage != "function"
        case Member():
            return is_place(e.base) and len(set(e.field[1:])) == len(e.field) - 1
        case Index():
            return True
        case Unary():
            return e.op == "*"
        case _:
            return False


def assign(op: str, target: Expr, value: Expr, span: Span) -> Expr:
    """Return `target op value`; raises BrookTextError."""
    if not is_place(target):
        raise BrookTextError(target.span, "this cannot be assigned to", "a variable, a component, an out stream")
    if op != "=":
        combine(op[:-1], target, value, span)
        if isinstance(value.type, Record) and not isinstance(target.type, Record):
            converted(value, target.type, "what is assigned to")
        return Assign(span=span, type=target.type, op=op, target=target, value=value)
    value = converted(value, target.type, "what is assigned to")
    return Assign(span=span, type=target.type, op=op, target=target, value=value)


def step(op: str, operand: Expr, span: Span) -> Expr:
    """Return a unary operator; raises BrookTextError."""
    if op in ("++x", "--x", "x++", "x--"):
        if not is_place(operand):
            raise BrookTextError(operand.span, f"'{op.strip('x')}' takes a variable")
        return Unary(span=span, type=operand.type, op=op, operand=operand)
    lanes, element = lanes_of_kind(operand.type), element_of(operand.type)
    if not lanes or (op == "!" and lanes > 1):
        message = f"'{op}' takes {'a number' if op == '!' else 'numbers'}, and this is {shown_type(operand.type)}"
        raise BrookTextError(operand.span, message)
    if op == "~" and is_float(element):
        raise BrookTextError(
            operand.span, f"'~' takes integers, and this is {shown_type(operand.type)}", "convert it: (int)x"
        )
    type = INT if op == "!" else operand.type if lanes > 1 else promote(operand.type)
    return Unary(span=span, type=type, op=op, operand=operand)
