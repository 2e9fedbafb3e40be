"""Calls: of the program's own functions, and of those that the device brings with it (builtins).

scalars        are passed and returned as they are, `_Bool` as a byte
objects        are passed by the address of a copy, and returned into room that the caller makes
"""

from __future__ import annotations

from warpsmith.lower.builtins import BUILTINS
from warpsmith.lower.builtins.convert import conversion
from warpsmith.lower.conversions import convert_value, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, stored_type
from warpsmith.lower.names import initialize
from warpsmith.lower.places import MemoryPlace, pointer_to
from warpsmith.ssa.nodes import Callee, Operand
from warpsmith.ssa.types import I1, I8
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["call", "is_void", "pass_value"]


def is_void(type: tree.Type) -> bool:
    """Whether a function of this result type returns nothing."""
    return isinstance(type, tree.Scalar) and type.kind == "void"


def call(frame: Frame, e: nodes.Call) -> Result:
    """Lower a call."""
    function = e.function
    while isinstance(function, nodes.Unary | nodes.Cast):
        function = function.operand
    if not isinstance(function, nodes.Name) or function.symbol.storage != "function":
        raise NotModeled("a call through a pointer to a function", e.span)
    symbol = function.symbol
    if symbol.key in frame.rules.called:
        return _own(frame, e, symbol)
    name = symbol.name.removeprefix("__builtin_") if symbol.name not in BUILTINS else symbol.name
    rule = BUILTINS.get(name) or conversion(name)
    if rule is not None:
        return rule(frame, e)
    return _foreign(frame, e, symbol)


def _own(frame: Frame, e: nodes.Call, symbol: tree.Symbol) -> Result:
    """Lower a call of a function of the program."""
    type = frame.rules.callees[symbol.key].symbol.type
    assert isinstance(type, tree.FunctionType)
    kinds = [parameter.type for parameter in frame.rules.callees[symbol.key].parameters]
    if len(kinds) != len(e.arguments):
        raise NotModeled(f"a call of {symbol.name} with {len(e.arguments)} arguments for {len(kinds)}", e.span)
    operands = [pass_value(frame, a, kind) for a, kind in zip(e.arguments, kinds, strict=True)]
    detail = Callee(frame.rules.called[symbol.key])
    if is_object(type.result):
        place = frame.temporary(type.result)
        frame.builder.emit_many("call", (pointer_to(frame.builder, place), *operands), (), detail)
        return frame.read_lanes(place, type.result) if lanes_of(type.result) else place
    if is_void(type.result):
        frame.builder.emit_many("call", tuple(operands), (), detail)
        return None
    found = frame.builder.emit("call", tuple(operands), stored_type(type.result), detail)
    boolean = isinstance(type.result, tree.Scalar) and type.result.kind == "bool"
    value = truth(frame.builder, found) if boolean else found
    return value if isinstance(e.type, tree.Pointer) else convert_value(frame.builder, value, type.result, e.type)


def pass_value(frame: Frame, e: nodes.Expr, kind: tree.Type) -> Operand:
    """Return what a parameter of type `kind` gets."""
    if is_object(kind):
        place = frame.temporary(kind)
        initialize(frame, place, kind, e)
        return pointer_to(frame.builder, place)
    value = frame.as_type(e, kind)
    return frame.builder.emit("zext", (value,), I8) if value.type == I1 else value


def _foreign(frame: Frame, e: nodes.Call, symbol: tree.Symbol) -> Result:
    """Lower a call of a function that we know nothing of: it may do anything to what it can reach."""
    operands: list[Operand] = []
    for argument in e.arguments:
        found = frame.value(argument)
        if isinstance(found, MemoryPlace):
            operands.append(pointer_to(frame.builder, found))
        elif isinstance(found, tuple):
            operands += found
        elif found is not None:
            operands.append(found)
    frame.blame(NotModeled(f"the function {symbol.name}, whose text is not here"), e.span)
    return frame.emit_unknown(e.type, symbol.name, tuple(operands))
