"""Builtins of OpenCL C: where a work item is, barriers, vectors, native functions."""

from __future__ import annotations

from typing import Final, Literal

from warpsmith.lower.builtins.rows import Rule, lanewise, needs, nothing, op_of
from warpsmith.lower.constants import constant_number
from warpsmith.lower.conversions import convert_value, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, value_type
from warpsmith.ssa.nodes import Barrier, Constant, Fence, Float, Operand, Query
from warpsmith.ssa.types import I32
from warpsmith.tree import nodes
from warpsmith.tree.types import UNSIGNED

__all__ = ["OPENCL"]

Orders = Literal["all", "shared", "global", "none", "unknown"]

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
        return convert_value(frame.builder, _query(frame, base, axis), UNSIGNED, e.type)

    return rule


def _global(frame: Frame, e: nodes.Call) -> Result:
    axis = _axis(frame, e)
    if axis > 2:
        return number(value_type(e.type), 0)
    block = frame.builder.emit("mul", (_query(frame, "ctaid", axis), _query(frame, "ntid", axis)), I32)
    found = frame.builder.emit("add", (block, _query(frame, "tid", axis)), I32)
    return convert_value(frame.builder, found, UNSIGNED, e.type)


def _global_size(frame: Frame, e: nodes.Call) -> Result:
    axis = _axis(frame, e)
    if axis > 2:
        return number(value_type(e.type), 1)
    found = frame.builder.emit("mul", (_query(frame, "nctaid", axis), _query(frame, "ntid", axis)), I32)
    return convert_value(frame.builder, found, UNSIGNED, e.type)


def _barrier(frame: Frame, e: nodes.Call) -> Result:
    given = needs(e, 1)[0]
    frame.scalar(given)
    flags = constant_number(given)
    orders: Orders = _ORDERED[flags & 3] if isinstance(flags, int) else "unknown"
    frame.builder.emit_many("barrier", (number(I32, 0),), (), Barrier(orders=orders))
    return None


_ORDERED: Final[tuple[Orders, ...]] = ("none", "shared", "global", "all")
"""By the flags of a barrier: CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2 (OpenCL C, 6.15.8)."""


def _fence(frame: Frame, e: nodes.Call) -> Result:
    frame.builder.emit_many("fence", (), (), Fence("block"))
    return None


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
    **{f"{prefix}_{name}": op_of(name, _FAST, count=1) for name in _NATIVE for prefix in ("native", "half")},
    **{f"{prefix}_{name}": lanewise(f"native_{name}") for name in _LIBRARY for prefix in ("native", "half")},
    **{f"{prefix}_divide": op_of("fdiv", _FAST, count=2) for prefix in ("native", "half")},
    **{f"{prefix}_recip": op_of("rcp", _FAST, count=1) for prefix in ("native", "half")},
    **{name: lanewise(name) for name in ("pown", "powr", "rootn", "degrees", "radians")},
    "prefetch": nothing,
}
