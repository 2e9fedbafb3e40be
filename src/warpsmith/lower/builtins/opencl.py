"""Builtins of OpenCL C: where a work item is, barriers, vectors, native functions."""

from __future__ import annotations

from typing import Final

from warpsmith.lower.builtins.rows import Rule, by_lanes, lanewise, needs, op_of
from warpsmith.lower.conversions import converted, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, lanes_of, size_of, value_type
from warpsmith.lower.operators import moved
from warpsmith.lower.places import Place, load, pointed, store
from warpsmith.ssa.nodes import Barrier, Constant, Fence, Float, Operand, Query
from warpsmith.ssa.types import I1, I32
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import UNSIGNED

__all__ = ["OPENCL"]

_FAST: Final = Float(approximate=True)


def _query(frame: Frame, base: str, axis: int) -> Operand:
    return frame.builder.emit("query", (), I32, Query(f"{base}.{'xyz'[axis]}"))


def _axis(frame: Frame, e: nodes.Call) -> int:
    found = frame.scalar(needs(e, 1)[0])
    if not isinstance(found, Constant):
        raise NotModeled("a work item's place along an axis that is no constant", e.span)
    return found.bits


def _place(base: str, *, count: bool = False) -> Rule:
    """Return the rule of get_local_id and the like; beyond the third axis an id is 0 and a size 1."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        axis = _axis(frame, e)
        if axis > 2:
            return number(value_type(e.type), int(count))
        return converted(frame.builder, _query(frame, base, axis), UNSIGNED, e.type)

    return rule


def _global(frame: Frame, e: nodes.Call) -> Result:
    axis = _axis(frame, e)
    if axis > 2:
        return number(value_type(e.type), 0)
    block = frame.builder.emit("mul", (_query(frame, "ctaid", axis), _query(frame, "ntid", axis)), I32)
    found = frame.builder.emit("add", (block, _query(frame, "tid", axis)), I32)
    return converted(frame.builder, found, UNSIGNED, e.type)


def _global_size(frame: Frame, e: nodes.Call) -> Result:
    axis = _axis(frame, e)
    if axis > 2:
        return number(value_type(e.type), 1)
    found = frame.builder.emit("mul", (_query(frame, "nctaid", axis), _query(frame, "ntid", axis)), I32)
    return converted(frame.builder, found, UNSIGNED, e.type)


def _barrier(frame: Frame, e: nodes.Call) -> Result:
    frame.builder.emit_many("barrier", (number(I32, 0),), (), Barrier())
    return None


def _fence(frame: Frame, e: nodes.Call) -> Result:
    frame.builder.emit_many("fence", (), (), Fence("block"))
    return None


def _clamp(frame: Frame, e: nodes.Call) -> Result:
    needs(e, 3)

    def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
        own = value_type(type)
        sign = "f" if own.kind == "float" else "s" if isinstance(type, tree.Scalar) and type.kind == "signed" else "u"
        low = frame.builder.emit(f"{sign}max", row[:2], own)
        return frame.builder.emit(f"{sign}min", (low, row[2]), own)

    return by_lanes(frame, e, one)


def _mix(frame: Frame, e: nodes.Call) -> Result:
    needs(e, 3)

    def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
        own, builder = value_type(type), frame.builder
        apart = builder.emit("fsub", (row[1], row[0]), own)
        return builder.emit("fadd", (row[0], builder.emit("fmul", (apart, row[2]), own)), own)

    return by_lanes(frame, e, one)


def _select(frame: Frame, e: nodes.Call) -> Result:
    """Lower select(a, b, c): b where c holds; of vectors, where the top bit of the lane does."""
    one, other, condition = needs(e, 3)[:3]
    builder = frame.builder
    if not lanes_of(e.type):
        test = frame.as_type(condition, tree.BOOL)
        ways = (frame.as_type(other, e.type), frame.as_type(one, e.type))
        return builder.emit("select", (test, *ways), value_type(e.type))
    _, own = frame.lane_types(e.type)
    made = []
    for a, b, c in zip(frame.lanes(one), frame.lanes(other), frame.lanes(condition), strict=True):
        test = builder.emit("slt", (c, Constant(c.type, 0)), I1)
        made.append(builder.emit("select", (test, b, a), own))
    return tuple(made)


def _dot(frame: Frame, e: nodes.Call) -> Result:
    one, other = needs(e, 2)[:2]
    builder, own = frame.builder, value_type(e.type)
    if not lanes_of(one.type):
        return builder.emit("fmul", (frame.scalar(one), frame.scalar(other)), own)
    products = [builder.emit("fmul", pair, own) for pair in zip(frame.lanes(one), frame.lanes(other), strict=True)]
    total: Operand = products[0]
    for product in products[1:]:
        total = builder.emit("fadd", (total, product), own)
    return total


def _vector_place(frame: Frame, pointer: nodes.Expr, index: nodes.Expr, width: int) -> tuple[Place, tree.Type]:
    """Return the place of vector number `index` behind a pointer to its lanes, and their type."""
    type = frame.decayed(pointer.type)
    if not isinstance(type, tree.Pointer):
        raise NotModeled("a vector behind what is no pointer", pointer.span)
    base = frame.scalar(pointer)
    vector = tree.Array(type.to, None, width)
    return pointed(frame.builder, moved(frame, base, vector, frame.scalar(index), signed=True), type), type.to


def _vector_loaded(width: int) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        index, pointer = needs(e, 2)[:2]
        place, element = _vector_place(frame, pointer, index, width)
        size = size_of(element)
        return tuple(load(frame.builder, place.at(n * size), element) for n in range(width))

    return rule


def _vector_stored(width: int) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        value, index, pointer = needs(e, 3)[:3]
        lanes = frame.lanes(value)
        place, element = _vector_place(frame, pointer, index, width)
        for number_, lane in enumerate(lanes):
            store(frame.builder, place.at(number_ * size_of(element)), element, lane)
        return None

    return rule


_WIDTHS: Final = (2, 3, 4, 8, 16)
_NATIVE: Final = ("cos", "sin", "sqrt", "rsqrt", "exp2", "log2")
_LIBRARY: Final = ("exp", "exp10", "log", "log10", "powr", "tan")

OPENCL: Final[dict[str, Rule]] = {
    "get_local_id": _place("tid"),
    "get_group_id": _place("ctaid"),
    "get_local_size": _place("ntid", count=True),
    "get_enqueued_local_size": _place("ntid", count=True),
    "get_num_groups": _place("nctaid", count=True),
    "get_global_id": _global,
    "get_global_size": _global_size,
    "get_global_offset": lambda frame, e: number(value_type(e.type), 0),
    "get_work_dim": lambda frame, e: number(value_type(e.type), 3),
    "barrier": _barrier,
    "work_group_barrier": _barrier,
    **dict.fromkeys(("mem_fence", "read_mem_fence", "write_mem_fence"), _fence),
    **{f"vload{width}": _vector_loaded(width) for width in _WIDTHS},
    **{f"vstore{width}": _vector_stored(width) for width in _WIDTHS},
    "clamp": _clamp,
    "mix": _mix,
    "select": _select,
    "dot": _dot,
    **{f"{prefix}_{name}": op_of(name, _FAST, count=1) for name in _NATIVE for prefix in ("native", "half")},
    **{f"{prefix}_{name}": lanewise(name) for name in _LIBRARY for prefix in ("native", "half")},
    **{f"{prefix}_divide": op_of("fdiv", _FAST, count=2) for prefix in ("native", "half")},
    **{f"{prefix}_recip": op_of("rcp", _FAST, count=1) for prefix in ("native", "half")},
    **{name: lanewise(name) for name in ("pown", "powr", "rootn", "sign", "step", "smoothstep", "degrees", "radians")},
    **{name: lanewise(name) for name in ("maxmag", "minmag", "rotate", "hadd", "rhadd", "abs_diff", "upsample")},
}
