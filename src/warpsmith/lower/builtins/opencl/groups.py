"""Functions of OpenCL C that a whole work-group, or a whole sub-group, calls together.

A work-group's are barriers that combine what the threads bring. A sub-group is a warp; all of it has to come to such a
call (OpenCL C 3.0, 6.15.19), as with the full mask of CUDA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpsmith.lower.builtins.rows import Rule, integer_argument, needs
from warpsmith.lower.conversions import convert_value, number, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Barrier, Exchange, Operand, Query
from warpsmith.ssa.types import F32, I1, I32, Type, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL, UNSIGNED

__all__ = ["OPENCL_GROUPS"]

_EVERYONE: Final = 0xFFFFFFFF
_WIDTH: Final = 32


def _kind(e: nodes.Call, how: str) -> str:
    """Return how numbers of a call's type are combined: `min` of ints is smin."""
    if not isinstance(e.type, tree.Scalar):
        raise NotModeled("a group function of something else than a number", e.span)
    letter = {"float": "f", "signed": "s"}.get(e.type.kind, "u")
    return ("fadd" if letter == "f" else "add") if how == "add" else f"{letter}{how}"


# --- work-groups


def _make_barrier_query(how: str) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        test = truth(frame.builder, frame.scalar(needs(e, 1)[0]))
        found = frame.builder.emit("barrier", (number(I32, 0), test), I1, Barrier(reduces=how))
        return convert_value(frame.builder, found, BOOL, e.type)

    return rule


def _total(how: str, prefix: str = "") -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        value = frame.as_type(needs(e, 1)[0], e.type)
        detail = Barrier(reduces=f"{prefix}{_kind(e, how)}")
        return frame.builder.emit("barrier", (number(I32, 0), value), value.type, detail)

    return rule


def _broadcast(frame: Frame, e: nodes.Call) -> Result:
    """Lower a broadcast: the bits of the one that it is of, added to the zeros of all others."""
    argument, *place = needs(e, 2)
    if is_object(e.type):
        raise NotModeled("a broadcast of a vector", e.span)
    builder, value = frame.builder, frame.as_type(argument, e.type)
    test: Operand = constant(I1, 1)
    for axis, wanted in zip("xyz", place, strict=False):
        mine = builder.emit("query", (), I32, Query(f"tid.{axis}"))
        test = builder.emit("and", (test, builder.emit("eq", (mine, integer_argument(frame, wanted)), I1)), I1)
    wide = integer(value.type.bits)
    bits = value if value.type == wide else builder.emit("bitcast", (value,), wide)
    mine = builder.emit("select", (test, bits, constant(wide, 0)), wide)
    found = builder.emit("barrier", (number(I32, 0), mine), wide, Barrier(reduces="add"))
    return found if value.type == wide else builder.emit("bitcast", (found,), value.type)


# --- sub-groups


def _vote(how: str) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        test = truth(frame.builder, frame.scalar(needs(e, 1)[0]))
        found = frame.builder.emit("vote", (test, constant(I32, _EVERYONE)), I1, Exchange(how))
        return convert_value(frame.builder, found, BOOL, e.type)

    return rule


def _move_lane(frame: Frame, value: Operand, lane: Operand, how: str) -> Operand:
    """Return the number of another lane; 32 bits of it."""
    bound = constant(I32, 0 if how == "up" else _WIDTH - 1)
    return frame.builder.emit("shuffle", (value, lane, bound, constant(I32, _EVERYONE)), value.type, Exchange(how))


def _make_shuffle(how: str) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        argument, lane = needs(e, 2)[:2]
        value = _narrow(frame.as_type(argument, e.type), e)
        return _move_lane(frame, value, integer_argument(frame, lane), how)

    return rule


def _narrow(value: Operand, e: nodes.Call) -> Operand:
    if value.type not in (I32, F32):
        raise NotModeled("a sub-group function of a number that has not 32 bits", e.span)
    return value


def _combine(frame: Frame, how: str, a: Operand, b: Operand) -> Operand:
    return frame.builder.emit(how, (a, b), a.type)


def _make_reduction(how: str) -> Rule:
    """Return the rule of a reduction: five exchanges, and the first lane's total for all."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        value = _narrow(frame.as_type(needs(e, 1)[0], e.type), e)
        for step in (16, 8, 4, 2, 1):
            value = _combine(frame, _kind(e, how), value, _move_lane(frame, value, constant(I32, step), "bfly"))
        return _move_lane(frame, value, constant(I32, 0), "idx")

    return rule


def _make_scan(how: str, *, inclusive: bool) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder, kind = frame.builder, _kind(e, how)
        value = _narrow(frame.as_type(needs(e, 1)[0], e.type), e)
        lane = builder.emit("query", (), I32, Query("laneid"))
        for step in (1, 2, 4, 8, 16):
            below = _move_lane(frame, value, constant(I32, step), "up")
            inside = builder.emit("uge", (lane, constant(I32, step)), I1)
            value = builder.emit("select", (inside, _combine(frame, kind, value, below), value), value.type)
        if inclusive:
            return value
        before = _move_lane(frame, value, constant(I32, 1), "up")
        first = builder.emit("eq", (lane, constant(I32, 0)), I1)
        return builder.emit("select", (first, _neutral(kind, value.type), before), value.type)

    return rule


def _neutral(kind: str, type: Type) -> Operand:
    """Return the number that changes nothing: what comes before the first lane."""
    if type.kind == "float":
        return number(type, {"fmin": float("inf"), "fmax": float("-inf")}.get(kind, 0.0))
    return constant(type, {"umin": 0xFFFFFFFF, "smin": 0x7FFFFFFF, "smax": 0x80000000}.get(kind, 0))


def _number(count: Callable[[Frame], Operand]) -> Rule:
    return lambda frame, e: convert_value(frame.builder, count(frame), UNSIGNED, e.type)


def _query(frame: Frame, name: str) -> Operand:
    return frame.builder.emit("query", (), I32, Query(name))


def _local(frame: Frame) -> Operand:
    """Return a thread's number in its block."""
    builder = frame.builder
    rows = builder.emit("mul", (_query(frame, "tid.z"), _query(frame, "ntid.y")), I32)
    rows = builder.emit("add", (rows, _query(frame, "tid.y")), I32)
    start = builder.emit("mul", (rows, _query(frame, "ntid.x")), I32)
    return builder.emit("add", (start, _query(frame, "tid.x")), I32)


def _which(frame: Frame) -> Operand:
    return frame.builder.emit("lshr", (_local(frame), constant(I32, 5)), I32)


def _how_many(frame: Frame) -> Operand:
    builder = frame.builder
    rows = builder.emit("mul", (_query(frame, "ntid.y"), _query(frame, "ntid.z")), I32)
    threads = builder.emit("mul", (rows, _query(frame, "ntid.x")), I32)
    return builder.emit("lshr", (builder.emit("add", (threads, constant(I32, 31)), I32), constant(I32, 5)), I32)


def _waits(frame: Frame, e: nodes.Call) -> Result:
    frame.builder.emit_many("warp_barrier", (constant(I32, _EVERYONE),), ())
    return None


_COMBINED: Final = ("add", "min", "max")
_SHUFFLES: Final = {"": "idx", "_xor": "bfly", "_up": "up", "_down": "down"}

OPENCL_GROUPS: Final[dict[str, Rule]] = {
    "work_group_any": _make_barrier_query("or"),
    "work_group_all": _make_barrier_query("and"),
    "work_group_broadcast": _broadcast,
    **{f"work_group_reduce_{how}": _total(how) for how in _COMBINED},
    **{f"work_group_scan_inclusive_{how}": _total(how, "scan_") for how in _COMBINED},
    **{f"work_group_scan_exclusive_{how}": _total(how, "before_") for how in _COMBINED},
    "sub_group_any": _vote("any"),
    "sub_group_all": _vote("all"),
    "sub_group_broadcast": _make_shuffle("idx"),
    **{f"sub_group_reduce_{how}": _make_reduction(how) for how in _COMBINED},
    **{f"sub_group_scan_inclusive_{how}": _make_scan(how, inclusive=True) for how in _COMBINED},
    **{f"sub_group_scan_exclusive_{how}": _make_scan(how, inclusive=False) for how in _COMBINED},
    **{f"sub_group_shuffle{name}": _make_shuffle(how) for name, how in _SHUFFLES.items()},
    "sub_group_barrier": _waits,
    "get_sub_group_local_id": _number(lambda frame: _query(frame, "laneid")),
    "get_sub_group_id": _number(_which),
    **dict.fromkeys(("get_num_sub_groups", "get_enqueued_num_sub_groups"), _number(_how_many)),
    **dict.fromkeys(("get_sub_group_size", "get_max_sub_group_size"), _number(lambda frame: constant(I32, _WIDTH))),
}
