"""Conversions between scalars (C17 6.3): what assignment, arithmetic, calls and casts do to a value."""

from __future__ import annotations

from warpsmith.lower.layout import NotModeled, value_type
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Constant, Convert, Operand
from warpsmith.ssa.semantics.patterns import pattern_of
from warpsmith.ssa.types import I1, I32, I64, Type
from warpsmith.tree import types as tree

__all__ = ["convert_value", "is_signed", "number", "resize_integer", "truth"]


def is_signed(type: tree.Type) -> bool:
    """Whether a type is a signed integer."""
    return isinstance(type, tree.Scalar) and type.kind == "signed"


def number(type: Type, value: int | float) -> Constant:
    """Return a number as a constant of `type`."""
    if type.kind == "float":
        return Constant(type, pattern_of(float(value), type))
    return constant(type, int(value))


def truth(builder: Builder, value: Operand) -> Operand:
    """Return whether a scalar compares unequal to zero."""
    if value.type == I1:
        return value
    zero = Constant(value.type, 0)
    return builder.emit("fune" if value.type.kind == "float" else "ne", (value, zero), I1)


def resize_integer(builder: Builder, value: Operand, to: Type, *, signed: bool) -> Operand:
    """Return an integer with as many bits as `to` has."""
    if value.type == to:
        return value
    if isinstance(value, Constant):
        sign = signed and value.type != I1 and value.bits >> (value.type.bits - 1)
        return constant(to, value.bits - (1 << value.type.bits) if sign else value.bits)
    if value.type == I1:
        return builder.emit("zext", (value,), to)
    if value.type.bits > to.bits:
        return builder.emit("trunc", (value,), to)
    return builder.emit("sext" if signed else "zext", (value,), to)


def convert_value(builder: Builder, value: Operand, source: tree.Type, target: tree.Type) -> Operand:
    """Return `value`, which has type `source`, as `target`; raises NotModeled."""
    to = value_type(target)
    own = value.type
    if to == I1:
        return truth(builder, value)
    if isinstance(source, tree.Pointer) != isinstance(target, tree.Pointer) and not isinstance(value, Constant):
        return _address(builder, value, source, target)
    if own.kind == "float" and to.kind == "float":
        return _float(builder, value, to)
    if to.kind == "float":
        whole = builder.emit("zext", (value,), I32) if own == I1 else value
        return builder.emit("sitof" if is_signed(source) else "uitof", (whole,), to, Convert())
    if own.kind == "float":
        return builder.emit("ftosi" if is_signed(target) else "ftoui", (value,), to, Convert("zero"))
    return resize_integer(builder, value, to, signed=is_signed(source))


def _float(builder: Builder, value: Operand, to: Type) -> Operand:
    if value.type == to:
        return value
    if value.type.bits == to.bits:
        raise NotModeled(f"a conversion from {value.type} to {to}")
    op = "fext" if to.bits > value.type.bits else "ftrunc"
    return builder.emit(op, (value,), to, Convert())


def _address(builder: Builder, value: Operand, source: tree.Type, target: tree.Type) -> Operand:
    """Return an address as a number, or a number as an address: the op between them says that it is no pointer."""
    if isinstance(source, tree.FunctionType) or isinstance(target, tree.FunctionType):
        return value
    wide = resize_integer(builder, value, I64, signed=is_signed(source))
    made = builder.emit("bitcast", (wide,), I64)
    return resize_integer(builder, made, value_type(target), signed=False)
