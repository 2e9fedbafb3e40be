"""OpenCL's conversions by name: convert_int4_sat_rte, as_float2."""

from __future__ import annotations

import re
from typing import Final

from warpsmith.lower.builtins.rows import Rule, needs
from warpsmith.lower.conversions import converted, is_signed
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, lanes_of, value_type
from warpsmith.ssa.nodes import Convert, Operand, Rounding, Text
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["conversion"]

_NAME: Final = re.compile(r"convert_(\w+?)(_sat)?(_rte|_rtz|_rtp|_rtn)?$")
_ROUNDINGS: Final[dict[str, Rounding]] = {"_rte": "nearest", "_rtz": "zero", "_rtp": "up", "_rtn": "down"}


def conversion(name: str) -> Rule | None:
    """Return the rule of a function that converts, by its name; None for any other."""
    if name.startswith("as_"):
        return _same_bits
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
    to = value_type(target)
    if value.type.kind == "float" and to.kind == "integer":
        return frame.builder.emit("ftosi" if is_signed(target) else "ftoui", (value,), to, Convert(rounding or "zero"))
    if saturate and value.type.kind == "integer" and to.kind == "integer":
        return frame.builder.emit("lanewise", (value,), to, Text("convert_sat"))
    if rounding and value.type.kind == "integer" and to.kind == "float":
        return frame.builder.emit("sitof" if is_signed(source) else "uitof", (value,), to, Convert(rounding))
    return converted(frame.builder, value, source, target)


def _same_bits(frame: Frame, e: nodes.Call) -> Result:
    argument = needs(e, 1)[0]
    if lanes_of(e.type) != lanes_of(argument.type):
        raise NotModeled("a vector whose bits are taken for other lanes", e.span)
    if not lanes_of(e.type):
        return _cast(frame, frame.scalar(argument), e.type)
    target, _ = frame.lane_types(e.type)
    return tuple(_cast(frame, lane, target) for lane in frame.lanes(argument))


def _cast(frame: Frame, value: Operand, target: tree.Type) -> Operand:
    own = value_type(target)
    return value if value.type == own else frame.builder.emit("bitcast", (value,), own)
