"""OpenCL's conversions by name: convert_int4_sat_rte, as_float2."""

from __future__ import annotations

import re
from typing import Final

from warpsmith.lower.builtins.rows import Rule, needs
from warpsmith.lower.builtins.vectors import same_bits
from warpsmith.lower.conversions import convert_value, is_signed, resize_integer
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import lanes_of, value_type
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Convert, Operand, Rounding
from warpsmith.ssa.types import Type
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["conversion"]

_NAME: Final = re.compile(r"convert_(\w+?)(_sat)?(_rte|_rtz|_rtp|_rtn)?$")
_ROUNDINGS: Final[dict[str, Rounding]] = {"_rte": "nearest", "_rtz": "zero", "_rtp": "up", "_rtn": "down"}


def conversion(name: str) -> Rule | None:
    """Return the rule of a function that converts, by its name; None for any other."""
    if name.startswith("as_"):
        return same_bits
    found = _NAME.match(name)
    if found is None:
        return None
    return _converting(saturate=found[2] is not None, rounding=_ROUNDINGS.get(found[3] or "", ""))


def _converting(*, saturate: bool, rounding: Rounding) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        argument = needs(e, 1)[0]
        if not lanes_of(e.type):
            return _one(frame, frame.scalar(argument), (argument.type, e.type), (saturate, rounding))
        source, _ = frame.lane_types(argument.type)
        target, _ = frame.lane_types(e.type)
        return tuple(_one(frame, lane, (source, target), (saturate, rounding)) for lane in frame.lanes(argument))

    return rule


def _one(frame: Frame, value: Operand, types: tuple[tree.Type, tree.Type], how: tuple[bool, Rounding]) -> Operand:
    source, target = types
    saturate, rounding = how
    to, builder = value_type(target), frame.builder
    match value.type.kind, to.kind:
        case "float", "integer":
            return builder.emit("ftosi" if is_signed(target) else "ftoui", (value,), to, Convert(rounding or "zero"))
        case "integer", "integer" if saturate:
            return _saturate_integer(builder, value, to, (is_signed(source), is_signed(target)))
        case "integer", "float" if rounding:
            return builder.emit("sitof" if is_signed(source) else "uitof", (value,), to, Convert(rounding))
        case "float", "float" if rounding and to.bits < value.type.bits:
            return builder.emit("ftrunc", (value,), to, Convert(rounding))
        case _:
            return convert_value(builder, value, source, target)


def _saturate_integer(builder: Builder, value: Operand, to: Type, signs: tuple[bool, bool]) -> Operand:
    """Return an integer as the nearest that the other type has; `signs`: whether each is signed."""
    own, (signed, other) = value.type, signs
    (least, most), (low, high) = _range(own, signed=signed), _range(to, signed=other)
    sign = "s" if signed else "u"
    if low > least:
        value = builder.emit(f"{sign}max", (value, constant(own, low)), own)
    if high < most:
        value = builder.emit(f"{sign}min", (value, constant(own, high)), own)
    return resize_integer(builder, value, to, signed=signed)


def _range(type: Type, *, signed: bool) -> tuple[int, int]:
    return (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if signed else (0, (1 << type.bits) - 1)
