"""Vectors of OpenCL: how they are loaded, stored, taken apart, multiplied and measured.

vload4(i, p)         lanes p[4 * i] … p[4 * i + 3]            vload_half4         the same of 16-bit numbers in memory
shuffle(v, mask)     lane k is v[mask[k]]                     dot, cross, length, distance, normalize
as_int(short2)       the bytes of the lanes, in order, as other lanes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.lower.builtins.rows import Rule, needs, of_lanes
from warpsmith.lower.conversions import number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, lanes_of, size_of, value_type
from warpsmith.lower.operators import move_pointer
from warpsmith.lower.places import MemoryPlace, load, place_pointed, store
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Constant, Convert, Operand, Rounding
from warpsmith.ssa.types import F16, I1, I32, Type, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["VECTORS", "same_bits"]

WIDTHS: Final = (2, 3, 4, 8, 16)
_HALF: Final = tree.Scalar("half", 16, "float")
_ROUNDINGS: Final[dict[str, Rounding]] = {
    "": "nearest", "_rte": "nearest", "_rtz": "zero", "_rtp": "up", "_rtn": "down",
}  # fmt: skip


# --- memory


def _place(frame: Frame, pointer: nodes.Expr, index: nodes.Expr, apart: int) -> tuple[MemoryPlace, tree.Type]:
    """Return the place of number `index` of things that stand `apart` elements, and the type of an element."""
    type = frame.decay(pointer.type)
    if not isinstance(type, tree.Pointer):
        raise NotModeled("a vector behind what is no pointer", pointer.span)
    base = frame.scalar(pointer)
    whole = tree.Array(type.to, None, apart)
    return place_pointed(
        frame.builder, move_pointer(frame, base, whole, frame.scalar(index), signed=True), type
    ), type.to


def _make_load(width: int) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        index, pointer = needs(e, 2)[:2]
        place, element = _place(frame, pointer, index, width)
        size = size_of(element)
        return tuple(load(frame.builder, place.at(n * size), element) for n in range(width))

    return rule


def _make_store(width: int) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        value, index, pointer = needs(e, 3)[:3]
        lanes = frame.lanes(value)
        place, element = _place(frame, pointer, index, width)
        for number_, lane in enumerate(lanes):
            store(frame.builder, place.at(number_ * size_of(element)), element, lane)
        return None

    return rule


def _make_halves_load(width: int, apart: int) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        index, pointer = needs(e, 2)[:2]
        place, _ = _place(frame, pointer, index, apart)
        own = value_type(frame.lane_types(e.type)[0] if lanes_of(e.type) else e.type)
        found = [load(frame.builder, place.at(2 * n), _HALF) for n in range(width)]
        return of_lanes(e, [frame.builder.emit("fext", (half,), own, Convert()) for half in found])

    return rule


def _make_halves_store(width: int, apart: int, rounding: Rounding) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        value, index, pointer = needs(e, 3)[:3]
        lanes = frame.lanes(value) if width > 1 else (frame.scalar(value),)
        place, _ = _place(frame, pointer, index, apart)
        for n, lane in enumerate(lanes):
            store(frame.builder, place.at(2 * n), _HALF, frame.builder.emit("ftrunc", (lane,), F16, Convert(rounding)))
        return None

    return rule


# --- lanes


def _make_shuffle(sources: int) -> Rule:
    """Return the rule of shuffle (one source) or shuffle2 (two)."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        *given, mask = needs(e, sources + 1)
        lanes = [lane for vector in given for lane in _even(frame, vector)]
        return tuple(_pick_lane(frame.builder, lanes, number_) for number_ in frame.lanes(mask))

    return rule


def _even(frame: Frame, vector: nodes.Expr) -> tuple[Operand, ...]:
    """Return the lanes of a vector; of three lanes there is a fourth that is not defined."""
    lanes = frame.lanes(vector)
    return (*lanes, number(lanes[0].type, 0)) if len(lanes) == 3 else lanes


def _pick_lane(builder: Builder, lanes: Sequence[Operand], place: Operand) -> Operand:
    """Return the lane that the low bits of a number name."""
    if isinstance(place, Constant):
        return lanes[place.bits % len(lanes)]
    low = builder.emit("and", (place, constant(place.type, len(lanes) - 1)), place.type)
    found = lanes[0]
    for n, lane in enumerate(lanes[1:], 1):
        here = builder.emit("eq", (low, constant(place.type, n)), I1)
        found = builder.emit("select", (here, lane, found), lane.type)
    return found


# --- bits


def same_bits(frame: Frame, e: nodes.Call) -> Result:
    """Lower as_int4 and the like: the bytes of the argument as lanes of another width."""
    argument = needs(e, 1)[0]
    vector = lanes_of(argument.type)
    given = _even(frame, argument) if vector else (frame.scalar(argument),)
    target = value_type(frame.lane_types(e.type)[0] if lanes_of(e.type) else e.type)
    if vector == 3 and target.bits == given[0].type.bits:
        given = given[: max(lanes_of(e.type), 1)]
    builder = frame.builder
    lanes = [_cast(builder, lane, integer(lane.type.bits)) for lane in given]
    lanes = _narrow(builder, lanes, target.bits) if target.bits < lanes[0].type.bits else lanes
    lanes = _widen(builder, lanes, target.bits) if target.bits > lanes[0].type.bits else lanes
    made = [_cast(builder, lane, target) for lane in lanes[: max(lanes_of(e.type), 1)]]
    if len(made) != max(lanes_of(e.type), 1):
        raise NotModeled("a vector whose bits are taken for more bits", e.span)
    return of_lanes(e, made)


def _cast(builder: Builder, value: Operand, target: Type) -> Operand:
    return value if value.type == target else builder.emit("bitcast", (value,), target)


def _narrow(builder: Builder, lanes: Sequence[Operand], bits: int) -> list[Operand]:
    own, type = lanes[0].type, integer(bits)
    moved_ = [
        builder.emit("lshr", (lane, constant(I32, at)), own) if at else lane
        for lane in lanes
        for at in range(0, own.bits, bits)
    ]
    return [builder.emit("trunc", (lane,), type) for lane in moved_]


def _widen(builder: Builder, lanes: Sequence[Operand], bits: int) -> list[Operand]:
    own, type = lanes[0].type, integer(bits)
    step = bits // own.bits
    made: list[Operand] = []
    for first in range(0, len(lanes) - step + 1, step):
        whole = builder.emit("zext", (lanes[first],), type)
        for n in range(1, step):
            part = builder.emit("zext", (lanes[first + n],), type)
            high = builder.emit("shl", (part, constant(I32, n * own.bits)), type)
            whole = builder.emit("or", (whole, high), type)
        made.append(whole)
    return made


# --- products and lengths


def _sum(builder: Builder, one: Sequence[Operand], other: Sequence[Operand]) -> Operand:
    """Return the sum of the products of the lanes, in their order."""
    own = one[0].type
    products = [builder.emit("fmul", pair, own) for pair in zip(one, other, strict=True)]
    total: Operand = products[0]
    for product in products[1:]:
        total = builder.emit("fadd", (total, product), own)
    return total


def _lanes(frame: Frame, e: nodes.Expr) -> tuple[Operand, ...]:
    return frame.lanes(e) if lanes_of(e.type) else (frame.scalar(e),)


def _dot(frame: Frame, e: nodes.Call) -> Result:
    one, other = needs(e, 2)[:2]
    return _sum(frame.builder, _lanes(frame, one), _lanes(frame, other))


def _cross(frame: Frame, e: nodes.Call) -> Result:
    one, other = needs(e, 2)[:2]
    builder, a, b = frame.builder, frame.lanes(one), frame.lanes(other)
    own = a[0].type
    made: list[Operand] = []
    for first, second in ((1, 2), (2, 0), (0, 1)):
        left = builder.emit("fmul", (a[first], b[second]), own)
        right = builder.emit("fmul", (a[second], b[first]), own)
        made.append(builder.emit("fsub", (left, right), own))
    return tuple(made + [number(own, 0.0)] * (lanes_of(e.type) - 3))


def _length(frame: Frame, e: nodes.Call) -> Result:
    lanes = _lanes(frame, needs(e, 1)[0])
    return frame.builder.emit("sqrt", (_sum(frame.builder, lanes, lanes),), lanes[0].type)


def _distance(frame: Frame, e: nodes.Call) -> Result:
    one, other = (_lanes(frame, side) for side in needs(e, 2)[:2])
    builder, own = frame.builder, one[0].type
    apart = [builder.emit("fsub", pair, own) for pair in zip(one, other, strict=True)]
    return builder.emit("sqrt", (_sum(builder, apart, apart),), own)


def _normalize(frame: Frame, e: nodes.Call) -> Result:
    lanes = _lanes(frame, needs(e, 1)[0])
    builder, own = frame.builder, lanes[0].type
    length = builder.emit("sqrt", (_sum(builder, lanes, lanes),), own)
    return of_lanes(e, [builder.emit("fdiv", (lane, length), own) for lane in lanes])


VECTORS: Final[dict[str, Rule]] = {
    **{f"vload{width}": _make_load(width) for width in WIDTHS},
    **{f"vstore{width}": _make_store(width) for width in WIDTHS},
    "vload_half": _make_halves_load(1, 1),
    **{f"vload_half{width}": _make_halves_load(width, width) for width in WIDTHS},
    **{f"vloada_half{width}": _make_halves_load(width, width + (width == 3)) for width in WIDTHS},
    **{f"vstore_half{how}": _make_halves_store(1, 1, rounding) for how, rounding in _ROUNDINGS.items()},
    **{f"vstore_half{width}{how}": _make_halves_store(width, width, rounding)
       for width in WIDTHS for how, rounding in _ROUNDINGS.items()},
    **{f"vstorea_half{width}{how}": _make_halves_store(width, width + (width == 3), rounding)
       for width in WIDTHS for how, rounding in _ROUNDINGS.items()},
    "shuffle": _make_shuffle(1),
    "shuffle2": _make_shuffle(2),
    "dot": _dot,
    "cross": _cross,
    **dict.fromkeys(("length", "fast_length"), _length),
    **dict.fromkeys(("distance", "fast_distance"), _distance),
    **dict.fromkeys(("normalize", "fast_normalize"), _normalize),
}  # fmt: skip
