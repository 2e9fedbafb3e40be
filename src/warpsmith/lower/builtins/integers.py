"""Functions of integers: counting bits, high halves, bytes, bits of numbers; min, max and abs of anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpsmith.lower.builtins.rows import Rule, by_lanes, integer_argument, needs
from warpsmith.lower.conversions import convert_value, is_signed, number, resize_integer
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, lanes_of, value_type
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Operand
from warpsmith.ssa.types import I32, I64, Type
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import INT

__all__ = ["INTEGERS"]


def _as(frame: Frame, e: nodes.Expr, type: Type) -> Operand:
    """Return an integer argument with the width of `type`."""
    return resize_integer(frame.builder, frame.scalar(e), type, signed=is_signed(e.type))


def _count(op: str, type: Type) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        found = frame.builder.emit(op, (_as(frame, needs(e, 1)[0], type),), I32)
        return convert_value(frame.builder, found, INT, e.type)

    return rule


def _first(type: Type) -> Rule:
    """Return the rule of __ffs: one more than the place of the lowest bit, 0 where there is none."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder = frame.builder
        value = _as(frame, needs(e, 1)[0], type)
        lowest = builder.emit("and", (value, builder.emit("neg", (value,), type)), type)
        place = builder.emit("ufind", (lowest,), I32)
        return convert_value(builder, builder.emit("add", (place, number(I32, 1)), I32), INT, e.type)

    return rule


def _words(op: str, type: Type, count: int) -> Rule:
    """Return the rule of a function of `count` numbers of one type."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        operands = tuple(_as(frame, a, type) for a in needs(e, count)[:count])
        return frame.builder.emit(op, operands, type)

    return rule


def _mul24(sign: str) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder = frame.builder

        def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
            where = (constant(I32, 0), constant(I32, 24))
            low = [builder.emit(f"{sign}extract", (v, *where), I32) for v in row[:2]]
            product = builder.emit("mul", tuple(low), I32)
            return builder.emit("add", (product, row[2]), I32) if len(row) > 2 else product

        return by_lanes(frame, e, one)

    return rule


def _permute(frame: Frame, e: nodes.Call) -> Result:
    a, b, selector = (integer_argument(frame, x) for x in needs(e, 3)[:3])
    chosen = frame.builder.emit("and", (selector, number(I32, 0x7777)), I32)
    return frame.builder.emit("permute", (a, b, chosen), I32)


def _bitcast(frame: Frame, e: nodes.Call) -> Result:
    """Lower __float_as_int and the like: the same bits, another type."""
    argument, own = needs(e, 1)[0], value_type(e.type)
    value = frame.scalar(argument)
    if value.type.bits != own.bits:
        sources = {32: tree.FLOAT, 64: tree.DOUBLE} if own.kind == "integer" else {32: INT, 64: tree.LONG}
        value = frame.as_type(argument, sources.get(own.bits, argument.type))
    return value if value.type == own else frame.builder.emit("bitcast", (value,), own)


def _half_of_double(high: bool) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder = frame.builder
        bits: Operand = builder.emit("bitcast", (frame.as_type(needs(e, 1)[0], tree.DOUBLE),), I64)
        if high:
            bits = builder.emit("lshr", (bits, constant(I32, 32)), I64)
        return builder.emit("trunc", (bits,), I32)

    return rule


def _double_of_halves(frame: Frame, e: nodes.Call) -> Result:
    builder = frame.builder
    high, low = (builder.emit("zext", (integer_argument(frame, a),), I64) for a in needs(e, 2)[:2])
    bits = builder.emit("or", (builder.emit("shl", (high, constant(I32, 32)), I64), low), I64)
    return builder.emit("bitcast", (bits,), value_type(e.type))


def _extreme(name: str) -> Rule:
    """Return the rule of min or max: of the call's type, which all arguments have once they are converted."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        needs(e, 2)

        def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
            own = value_type(type)
            sign = "f" if own.kind == "float" else "s" if is_signed(type) else "u"
            return frame.builder.emit(f"{sign}{name}", row[:2], own)

        if isinstance(e.type, tree.Pointer):
            raise NotModeled(f"{name} of references", e.span)
        return by_lanes(frame, e, one)

    return rule


def _absolute(frame: Frame, e: nodes.Call) -> Result:
    argument = needs(e, 1)[0]
    vector = lanes_of(argument.type)
    unsigned = is_unsigned(frame.lane_types(argument.type)[0] if vector else tree.promote(argument.type))

    def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
        own = value_type(type)
        if unsigned:
            return row[0]
        return frame.builder.emit("fabs" if own.kind == "float" else "abs", row, own)

    if lanes_of(e.type):
        return by_lanes(frame, e, one)
    kind = e.type if not is_unsigned(e.type) else tree.promote(argument.type)
    return convert_value(frame.builder, one(kind, (frame.as_type(argument, kind),)), kind, e.type)


def is_unsigned(type: tree.Type) -> bool:
    """Whether a type is an unsigned integer: OpenCL's abs gives one."""
    return isinstance(type, tree.Scalar) and type.kind == "unsigned"


def _by_sign(name: Callable[[str], str]) -> Rule:
    """Return the rule of an op that has a signed and an unsigned form, by the type of the call."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
            return frame.builder.emit(name("s" if is_signed(type) else "u"), row, value_type(type))

        return by_lanes(frame, e, one)

    return rule


_BITS: Final = (
    "__float_as_int", "__float_as_uint", "__int_as_float", "__uint_as_float", "__double_as_longlong",
    "__longlong_as_double", "__half_as_short", "__half_as_ushort", "__short_as_half", "__ushort_as_half",
)  # fmt: skip

INTEGERS: Final[dict[str, Rule]] = {
    "__popc": _count("popcount", I32),
    "__popcll": _count("popcount", I64),
    "__builtin_popcount": _count("popcount", I32),
    "__builtin_popcountll": _count("popcount", I64),
    "__clz": _count("leading", I32),
    "__clzll": _count("leading", I64),
    "__builtin_clz": _count("leading", I32),
    "__ffs": _first(I32),
    "__ffsll": _first(I64),
    "ffs": _first(I32),
    "__brev": _words("reverse", I32, 1),
    "__brevll": _words("reverse", I64, 1),
    "__mul24": _mul24("s"),
    "__umul24": _mul24("u"),
    "__mulhi": _words("smulhi", I32, 2),
    "__umulhi": _words("umulhi", I32, 2),
    "__mul64hi": _words("smulhi", I64, 2),
    "__umul64hi": _words("umulhi", I64, 2),
    "__sad": _words("ssad", I32, 3),
    "__usad": _words("usad", I32, 3),
    "__byte_perm": _permute,
    "__funnelshift_l": _words("funnel_left", I32, 3),
    "__funnelshift_r": _words("funnel_right", I32, 3),
    "__funnelshift_lc": _words("funnel_left_clamp", I32, 3),
    "__funnelshift_rc": _words("funnel_right_clamp", I32, 3),
    "__dp4a": _by_sign(lambda sign: f"{sign}dot4"),
    **dict.fromkeys(_BITS, _bitcast),
    "__double2hiint": _half_of_double(high=True),
    "__double2loint": _half_of_double(high=False),
    "__hiloint2double": _double_of_halves,
    **{f"{prefix}{name}": _extreme(name) for name in ("min", "max") for prefix in ("", "u", "ll", "ull", "std::")},
    **dict.fromkeys(("abs", "labs", "llabs", "std::abs"), _absolute),
    "mul24": _mul24("s"),
    "mad24": _mul24("s"),
}
