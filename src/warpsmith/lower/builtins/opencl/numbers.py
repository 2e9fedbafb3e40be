"""Functions of numbers that OpenCL has and C has not, lane by lane: rotate, hadd, upsample, step, fract.

Each is a few ops of the IR on the lanes of its arguments, whose types are those of the function's parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpsmith.lower.builtins.rows import Rule, lanewise, needs, of_lanes, place_argument, rows_of
from warpsmith.lower.conversions import is_signed, number, resize_integer
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, value_type
from warpsmith.lower.places import store
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Float, Operand
from warpsmith.ssa.types import I1, I32, I64, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["OPENCL_NUMBERS"]

Lane = Callable[[Builder, str, tuple[Operand, ...]], Operand]
"""One lane: the builder, `s`, `u` or `f` as its numbers are signed, unsigned or real, the operands."""


def _by_lane(one: Lane) -> Rule:
    """Return the rule of a function whose parameters and result have as many lanes."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        needs(e, 1)
        return of_lanes(e, [one(frame.builder, _sign(frame, e), row) for row in rows_of(frame, e)])

    return rule


def _sign(frame: Frame, e: nodes.Call) -> str:
    """Return how the first parameter's numbers are read."""
    type = e.function.type
    kind = type.parameters[0] if isinstance(type, tree.FunctionType) and type.parameters else e.arguments[0].type
    element = frame.lane_types(kind)[0] if lanes_of(kind) else kind
    return "f" if value_type(element).kind == "float" else "s" if is_signed(element) else "u"


# --- integers


def _leading(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    wide = I64 if own == I64 else I32
    value = resize_integer(builder, row[0], wide, signed=False)
    found = builder.emit("leading", (value,), I32)
    exact = builder.emit("sub", (found, constant(I32, wide.bits - own.bits)), I32)
    return resize_integer(builder, exact, own, signed=False)


def _trailing(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    before = builder.emit("sub", (row[0], constant(own, 1)), own)
    ones = builder.emit("and", (builder.emit("not", row, own), before), own)
    return _ones(builder, sign, (ones,))


def _ones(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    wide = resize_integer(builder, row[0], I64 if own == I64 else I32, signed=False)
    return resize_integer(builder, builder.emit("popcount", (wide,), I32), own, signed=False)


def _high(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    return builder.emit("add", (builder.emit(f"{sign}mulhi", row[:2], own), row[2]), own)


def _rotate(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    value, by = row
    own = value.type
    amount = resize_integer(builder, by, I32, signed=False)
    left = builder.emit("and", (amount, constant(I32, own.bits - 1)), I32)
    back = builder.emit("and", (builder.emit("neg", (left,), I32), constant(I32, own.bits - 1)), I32)
    return builder.emit("or", (builder.emit("shl", (value, left), own), builder.emit("lshr", (value, back), own)), own)


def _half_sum(up: bool) -> Lane:
    def one(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
        own = row[0].type
        apart = builder.emit("xor", row, own)
        half = builder.emit("ashr" if sign == "s" else "lshr", (apart, constant(I32, 1)), own)
        both = builder.emit("or" if up else "and", row, own)
        return builder.emit("sub" if up else "add", (both, half), own)

    return one


def _apart(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    return builder.emit("sub", tuple(builder.emit(f"{sign}{name}", row, own) for name in ("max", "min")), own)


def _join_halves(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    wide = integer(2 * own.bits)
    high, low = (builder.emit("zext", (part,), wide) for part in row)
    return builder.emit("or", (builder.emit("shl", (high, constant(I32, own.bits)), wide), low), wide)


_unknown_saturation: Final = lanewise("mad_sat")


def _saturated_sum(frame: Frame, e: nodes.Call) -> Result:
    """Lower mad_sat: exact in 64 bits, where the numbers have 32 at most."""
    builder = frame.builder
    rows, sign = rows_of(frame, e), _sign(frame, e)
    own = rows[0][0].type
    if own.bits > 32:
        return _unknown_saturation(frame, e)
    least, most = (-(1 << (own.bits - 1)), (1 << (own.bits - 1)) - 1) if sign == "s" else (0, (1 << own.bits) - 1)
    made: list[Operand] = []
    for row in rows:
        a, b, c = (resize_integer(builder, v, I64, signed=sign == "s") for v in row)
        if sign == "u" and own.bits == 32:
            # the largest sum has all 64 bits
            product = builder.emit("umin", (builder.emit("mul", (a, b), I64), constant(I64, most)), I64)
        else:
            product = builder.emit("mul", (a, b), I64)
        total = builder.emit("add", (product, c), I64)
        low = builder.emit(f"{sign}max", (total, constant(I64, least)), I64)
        made.append(builder.emit("trunc", (builder.emit(f"{sign}min", (low, constant(I64, most)), I64),), own))
    return of_lanes(e, made)


def _by_sign(name: str) -> Rule:
    return _by_lane(lambda builder, sign, row: builder.emit(f"{sign}{name}", row, row[0].type))


# --- real numbers


def _clamp(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    return builder.emit(f"{sign}min", (builder.emit(f"{sign}max", row[:2], own), row[2]), own)


def _mix(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    own = row[0].type
    apart = builder.emit("fsub", (row[1], row[0]), own)
    return builder.emit("fadd", (row[0], builder.emit("fmul", (apart, row[2]), own)), own)


def _step(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    edge, value = row
    below = builder.emit("folt", (value, edge), I1)
    return builder.emit("select", (below, number(value.type, 0.0), number(value.type, 1.0)), value.type)


def _smooth(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    low, high, value = row
    own = value.type
    part, whole = (builder.emit("fsub", (end, low), own) for end in (value, high))
    share = builder.emit("fdiv", (part, whole), own)
    t = _clamp(builder, "f", (share, number(own, 0.0), number(own, 1.0)))
    slope = builder.emit("fsub", (number(own, 3.0), builder.emit("fmul", (number(own, 2.0), t), own)), own)
    return builder.emit("fmul", (builder.emit("fmul", (t, t), own), slope), own)


def _signum(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
    """Return 1, -1, a zero as it is, and 0 for what is no number."""
    (value,) = row
    own = value.type
    zero = number(own, 0.0)
    no_number = builder.emit("is_notanumber", (value,), I1)
    found: Operand = builder.emit("select", (no_number, zero, value), own)
    for op, size in (("fogt", 1.0), ("folt", -1.0)):
        found = builder.emit("select", (builder.emit(op, (value, zero), I1), number(own, size), found), own)
    return found


def _by_size(op: str, other: str) -> Lane:
    """Return maxmag or minmag: the larger or smaller of two by size, by value where they are as large."""

    def one(builder: Builder, sign: str, row: tuple[Operand, ...]) -> Operand:
        own = row[0].type
        sizes = tuple(builder.emit("fabs", (side,), own) for side in row)
        found: Operand = builder.emit(other, row, own)
        for pair, side in (((1, 0), row[1]), ((0, 1), row[0])):
            first = builder.emit(op, (sizes[pair[0]], sizes[pair[1]]), I1)
            found = builder.emit("select", (first, side, found), own)
        return found

    return one


_BELOW_ONE: Final = {16: 1 - 2.0**-11, 32: 1 - 2.0**-24, 64: 1 - 2.0**-53}


def _fraction(frame: Frame, e: nodes.Call) -> Result:
    """Lower fract(x, &whole): x - floor(x), below one in any case."""
    if is_object(needs(e, 2)[0].type):
        raise NotModeled("fract of a vector", e.span)
    builder = frame.builder
    value = frame.scalar(needs(e, 2)[0])
    own = value.type
    place, kind = place_argument(frame, e.arguments[1])
    whole = builder.emit("fround", (value,), own, Float("down"))
    store(builder, place, kind, whole)
    rest = builder.emit("fsub", (value, whole), own)
    return builder.emit("fmin", (rest, number(own, _BELOW_ONE[own.bits])), own)


OPENCL_NUMBERS: Final[dict[str, Rule]] = {
    "clz": _by_lane(_leading),
    "ctz": _by_lane(_trailing),
    "popcount": _by_lane(_ones),
    "mad_hi": _by_lane(_high),
    "mul_hi": _by_sign("mulhi"),
    "add_sat": _by_sign("addsat"),
    "sub_sat": _by_sign("subsat"),
    "mad_sat": _saturated_sum,
    "rotate": _by_lane(_rotate),
    "hadd": _by_lane(_half_sum(up=False)),
    "rhadd": _by_lane(_half_sum(up=True)),
    "abs_diff": _by_lane(_apart),
    "upsample": _by_lane(_join_halves),
    "clamp": _by_lane(_clamp),
    "mix": _by_lane(_mix),
    "step": _by_lane(_step),
    "smoothstep": _by_lane(_smooth),
    "sign": _by_lane(_signum),
    "maxmag": _by_lane(_by_size("fogt", "fmax")),
    "minmag": _by_lane(_by_size("folt", "fmin")),
    "fract": _fraction,
}
