"""Rules for the tables of builtins: each turns a call into one op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from warpsmith.lower.conversions import convert_value, resize_integer
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, lanes_of, value_type
from warpsmith.lower.places import MemoryPlace, place_pointed
from warpsmith.ssa.nodes import Detail, Operand, Text
from warpsmith.ssa.types import I32, Type
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = [
    "Rule",
    "by_lanes",
    "integer_argument",
    "lanewise",
    "needs",
    "nothing",
    "of_lanes",
    "op_of",
    "place_argument",
    "rows_of",
]

Rule = Callable[[Frame, nodes.Call], Result]


def needs(e: nodes.Call, count: int) -> tuple[nodes.Expr, ...]:
    """Return the arguments; raises NotModeled where there are fewer than `count`."""
    if len(e.arguments) < count:
        raise NotModeled(f"a call with {len(e.arguments)} arguments where {count} are needed", e.span)
    return e.arguments


def nothing(frame: Frame, e: nodes.Call) -> Result:
    """Evaluate the arguments, and do nothing."""
    for argument in e.arguments:
        frame.value(argument)
    return None


def by_lanes(frame: Frame, e: nodes.Call, one: Callable[[tree.Type, tuple[Operand, ...]], Operand]) -> Result:
    """Apply a function to numbers of the call's type, or lane by lane to vectors; a number stands for all lanes."""
    if not lanes_of(e.type):
        return one(e.type, tuple(frame.as_type(argument, e.type) for argument in e.arguments))
    element, _ = frame.lane_types(e.type)
    columns = [
        frame.lanes(a) if lanes_of(a.type) else (frame.as_type(a, element),) * lanes_of(e.type) for a in e.arguments
    ]
    return tuple(one(element, row) for row in zip(*columns, strict=True))


def rows_of(frame: Frame, e: nodes.Call) -> list[tuple[Operand, ...]]:
    """Return the arguments lane by lane, as the parameters of the function have them; one row where all are numbers."""
    type = e.function.type
    kinds = type.parameters if isinstance(type, tree.FunctionType) else ()
    kinds = kinds if len(kinds) == len(e.arguments) else tuple(a.type for a in e.arguments)
    count = max((lanes_of(kind) for kind in (*kinds, *(a.type for a in e.arguments))), default=0)
    columns = []
    for argument, kind in zip(e.arguments, kinds, strict=True):
        if lanes_of(argument.type):
            columns.append(frame.lanes(argument))
        else:
            one = frame.lane_types(kind)[0] if lanes_of(kind) else kind
            columns.append((frame.as_type(argument, one),) * max(count, 1))
    return list(zip(*columns, strict=True))


def of_lanes(e: nodes.Call, lanes: Sequence[Operand]) -> Result:
    """Return what a call gives that was worked out lane by lane."""
    return tuple(lanes) if lanes_of(e.type) else lanes[0]


def op_of(op: str, detail: Detail | None = None, *, count: int = 0) -> Rule:
    """Return the rule of a function that is the op `op` on its result's type; a float op has its detail."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        needs(e, count)
        return by_lanes(frame, e, lambda kind, operands: frame.builder.emit(op, operands, value_type(kind), detail))

    return rule


def lanewise(name: str, types: tuple[Type, ...] = ()) -> Rule:
    """Return the rule of a pure function that no op computes: one result. Where that is a floating-point number, so are
    the arguments, but for exponents and orders."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        if any(lanes_of(a.type) for a in e.arguments) or lanes_of(e.type):
            return by_lanes(
                frame, e, lambda kind, row: frame.builder.emit("lanewise", row, value_type(kind), Text(name))
            )
        operands = tuple(frame.scalar(a) for a in e.arguments)
        if is_number(e.type):
            keeps = name in _WHOLE_NUMBERS
            operands = tuple(
                _like(frame, o, a, e.type, keeps=keeps) for o, a in zip(operands, e.arguments, strict=True)
            )
        return frame.builder.emit("lanewise", operands, value_type(e.type), Text(name))

    return rule


def is_number(type: tree.Type) -> bool:
    """Whether a type is a floating-point number."""
    return isinstance(type, tree.Scalar) and type.kind == "float"


_WHOLE_NUMBERS: Final = frozenset({"ldexp", "scalbn", "scalbln", "powi", "pown", "rootn", "jn", "yn"})
"""Functions that take an exponent or an order, which is an integer."""


def _like(frame: Frame, operand: Operand, e: nodes.Expr, type: tree.Type, *, keeps: bool) -> Operand:
    """Return a number in the type of the result; what is no number as it is, and an integer where the function
    `keeps` it."""
    whole = isinstance(e.type, tree.Scalar) and e.type.kind in ("signed", "unsigned") and not keeps
    return convert_value(frame.builder, operand, e.type, type) if whole or is_number(e.type) else operand


def integer_argument(frame: Frame, e: nodes.Expr) -> Operand:
    """Return an argument as 32 bits."""
    if isinstance(e.type, tree.Scalar) and e.type.kind == "float":
        return frame.as_type(e, tree.INT)
    signed = isinstance(e.type, tree.Scalar) and e.type.kind == "signed"
    return resize_integer(frame.builder, frame.scalar(e), I32, signed=signed)


def place_argument(frame: Frame, e: nodes.Expr) -> tuple[MemoryPlace, tree.Type]:
    """Return the place that an argument points to, and the type of what lies there."""
    while isinstance(e, nodes.MacroUse):
        e = e.expansion
    type = frame.decay(e.type)
    if isinstance(e, nodes.Unary) and e.op == "&":
        return frame.place(e.operand), e.operand.type
    if not isinstance(type, tree.Pointer):
        raise NotModeled("an argument that is no pointer", e.span)
    return place_pointed(frame.builder, frame.scalar(e), type), type.to
