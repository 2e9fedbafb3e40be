"""Barriers, fences, the end of a thread, and what says nothing to an analysis."""

from __future__ import annotations

from typing import Final, Literal

from warpsmith.lower.builtins.rows import Rule, integer_argument, needs, nothing
from warpsmith.lower.conversions import convert_value, number, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, align_of, value_type
from warpsmith.lower.places import MemoryPlace, pointer_to
from warpsmith.ssa.nodes import ASYNCHRONOUS, GRID_BARRIER, Barrier, Constant, Exit, Fence, Memory, Operand, Query, Text
from warpsmith.ssa.types import I1, I32, I64, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL, INT, LONG_LONG

__all__ = ["SYNCHRONIZE"]


def _barrier(frame: Frame, e: nodes.Call) -> Result:
    frame.builder.emit_many("barrier", (number(I32, 0),), (), Barrier())
    return None


def _numbered(*, waits: bool) -> Rule:
    """Lower a barrier by its number, of all threads or so many."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        numbers = tuple(integer_argument(frame, a) for a in e.arguments)
        frame.builder.emit_many("barrier", numbers, (), Barrier(waits=waits))
        return None

    return rule


def _reducing(how: Literal["and", "or", "count"]) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        test = truth(frame.builder, frame.scalar(needs(e, 1)[0]))
        made = I32 if how == "count" else I1
        found = frame.builder.emit("barrier", (number(I32, 0), test), made, Barrier(reduces=how))
        return convert_value(frame.builder, found, INT if how == "count" else BOOL, e.type)

    return rule


def _grid(frame: Frame, e: nodes.Call) -> Result:
    """Lower a barrier of the grid, which orders more than an analysis knows."""
    frame.blame(NotModeled("a barrier of the grid, but by a run"), e.span)
    return frame.emit_unknown(e.type, GRID_BARRIER)


def _copies(frame: Frame, e: nodes.Call) -> Result:
    """Lower what stands beside an asynchronous copy."""
    frame.blame(NotModeled(ASYNCHRONOUS), e.span)
    return frame.emit_unknown(e.type, ASYNCHRONOUS)


def _warp(frame: Frame, e: nodes.Call) -> Result:
    mask = tuple(integer_argument(frame, a) for a in e.arguments[:1])
    frame.builder.emit_many("warp_barrier", mask or (number(I32, 0xFFFFFFFF),), ())
    return None


def _fence(scope: Literal["block", "device", "system"]) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        frame.builder.emit_many("fence", (), (), Fence(scope))
        return None

    return rule


def _lower_failure(frame: Frame, e: nodes.Call) -> Result:
    """End the thread, and the launch with it."""
    builder = frame.builder
    builder.end(Exit(fails=True, span=builder.span))
    name = builder.fresh("unreached")
    builder.seal(name)
    builder.start(name)
    return None


def _lower_printf(frame: Frame, e: nodes.Call) -> Result:
    """Lower printf: what it prints is evaluated, and nobody sees it."""
    operands: list[Operand] = []
    for argument in e.arguments[1:]:
        found = frame.value(argument)
        if isinstance(found, tuple):
            operands += found
        elif found is not None and not isinstance(found, MemoryPlace):
            operands.append(found)
    frame.builder.emit_many("lanewise", tuple(operands), (), Text("printf"))
    return number(value_type(e.type), 0)


def _clock(register: str) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        type = value_type(e.type)
        found = frame.builder.emit("query", (), I32 if type.bits == 32 else I64, Query(register))
        return convert_value(frame.builder, found, INT if type.bits == 32 else LONG_LONG, e.type)

    return rule


def _lower_expect(frame: Frame, e: nodes.Call) -> Result:
    return frame.as_type(needs(e, 1)[0], e.type)


def _to_window(frame: Frame, e: nodes.Call) -> Result:
    found = frame.scalar(needs(e, 1)[0])
    made = frame.builder.emit("from_generic", (found,), I64, Text("shared"))
    return frame.builder.emit("bitcast", (made,), I64)


def _lower_memcpy(frame: Frame, e: nodes.Call) -> Result:
    """Lower memcpy of a few bytes, whose number is known: in the largest pieces that both sides are aligned to."""
    to, source, count = needs(e, 3)[:3]
    size = frame.scalar(count)
    if not isinstance(size, Constant) or size.bits > MOST_BYTES:
        return _memory(frame, e)
    kinds = [pointee(frame, pointer) for pointer in (to, source)]
    word = min(8, *(align_of(kind) for kind in kinds))
    while size.bits % word:
        word //= 2
    addresses = [frame.scalar(pointer) for pointer in (to, source)]
    type = integer(8 * word)
    builder = frame.builder
    for at in range(0, size.bits, word):
        value = builder.emit("load", (addresses[1],), type, Memory("generic", at, word))
        builder.emit_many("store", (addresses[0], value), (), Memory("generic", at, word))
    return addresses[0]


MOST_BYTES: Final = 256
"""More are not copied word by word."""


def pointee(frame: Frame, e: nodes.Expr) -> tree.Type:
    """Return what an argument points to, before it was made a `void *`."""
    while isinstance(e, nodes.Cast | nodes.MacroUse):
        e = e.operand if isinstance(e, nodes.Cast) else e.expansion
    type = frame.decay(e.type)
    return type.to if isinstance(type, tree.Pointer) else tree.CHAR


def _memory(frame: Frame, e: nodes.Call) -> Result:
    """Lower memcpy, memset, malloc: they touch memory in ways that we do not follow."""
    operands = tuple(frame.scalar(a) for a in e.arguments)
    frame.blame(NotModeled("memory that is copied, set or allocated by a call"), e.span)
    return frame.emit_unknown(e.type, "memory", operands)


def _address(frame: Frame, e: nodes.Call) -> Result:
    return pointer_to(frame.builder, frame.place(needs(e, 1)[0]))


def _no_error(frame: Frame, e: nodes.Call) -> Result:
    """Lower what asks for errors of the run time, of which a kernel sees none; a text of one is nowhere in memory."""
    for operand in e.arguments:
        frame.scalar(operand)
    return Constant(value_type(frame.decay(e.type)), 0)


SYNCHRONIZE: Final[dict[str, Rule]] = {
    "__syncthreads": _barrier,
    "__syncthreads_and": _reducing("and"),
    "__syncthreads_or": _reducing("or"),
    "__syncthreads_count": _reducing("count"),
    "ws_bar_sync": _numbered(waits=True),
    "ws_bar_arrive": _numbered(waits=False),
    "ws_grid_sync": _grid,
    "ws_asynchronous": _copies,
    "__syncwarp": _warp,
    "__threadfence_block": _fence("block"),
    "__threadfence": _fence("device"),
    "__threadfence_system": _fence("system"),
    **dict.fromkeys(("__trap", "__assert_fail", "__assertfail", "abort", "__builtin_trap"), _lower_failure),
    "printf": _lower_printf,
    **dict.fromkeys(("cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "cudaGetErrorName"), _no_error),
    "clock": _clock("clock"),
    "clock64": _clock("clock64"),
    "__clock": _clock("clock"),
    "__clock64": _clock("clock64"),
    "__globaltimer": _clock("globaltimer"),
    "__builtin_expect": _lower_expect,
    "__builtin_addressof": _address,
    "__cvta_generic_to_shared": _to_window,
    **dict.fromkeys(("__nanosleep", "__builtin_assume", "__brkpt", "__prof_trigger", "__builtin_unreachable"), nothing),
    **dict.fromkeys(("memset", "memmove", "malloc", "free"), _memory),
    "memcpy": _lower_memcpy,
}
