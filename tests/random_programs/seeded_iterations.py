"""Bugs to seed where a thread has several iterations: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pytest

from tests.random_programs.seeded_tiles import leave_out_barrier
from warpsmith.emit.device import kernel
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping import register_text, tiled_text
from warpsmith.tree.nodes import For, Index, Stmt, replace
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, Symbol

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch
_WRITER = register_text._ElementWriter


def _wrong_stride(patch: Patch) -> None:
    """Let the columns of a thread lie next to each other, as its rows do."""

    def counter(writer: Any, head: For, axis: Axis) -> Any:
        first, own = name(writer.firsts[head.variable], writer.span), name(writer.numbers[axis], writer.span)
        return binary("+", first, own, INT)

    patch.setattr(_WRITER, "counter_of", counter)


def _wrong_place(patch: Patch) -> None:
    """Let the place in a tile be that of rows one after the other in the block."""

    def place(writer: Any, axis: Axis) -> Any:
        position = writer.position(axis)
        if axis not in writer.numbers:
            return position
        own, height = name(writer.numbers[axis], writer.span), number(writer.shape.block.along(axis), writer.span)
        return binary("+", position, binary("*", own, height, INT), INT)

    patch.setattr(_WRITER, "place", place)


def _guard_of_first(patch: Patch) -> None:
    """Let every iteration ask whether the first one of the thread is inside."""
    real = _WRITER.tested

    def tested(writer: Any, active: Symbol) -> Any:
        own = writer.counters
        writer.counters = dict(writer.firsts)
        made = real(writer, active)
        writer.counters = own
        return made

    patch.setattr(_WRITER, "tested", tested)


def _one_guard_missing(patch: Patch) -> None:
    """Leave out the test of the last iteration of a thread."""
    real, test = _WRITER.guarded, _WRITER.tested

    def loose(writer: Any, active: Symbol) -> Any:
        lasts = [
            binary("==", name(own, writer.span), number(writer.shape.block.elements_along(axis) - 1, writer.span), INT)
            for axis, own in writer.numbers.items()
        ]
        return binary("||", test(writer, active), reduce(lambda a, b: binary("&&", a, b, INT), lasts), INT)

    def guarded(writer: Any, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        patch.setattr(_WRITER, "tested", loose)
        made = real(writer, statements, active)
        patch.setattr(_WRITER, "tested", test)
        return made

    patch.setattr(_WRITER, "guarded", guarded)


def _whole_by_first(patch: Patch) -> None:
    """Take a block for whole where its first iteration is inside."""
    real = _WRITER.write_whole

    def write_whole(writer: Any) -> Any:
        patch.setattr(_WRITER, "ranges", lambda one: {s: (low, low) for s, (low, _) in ranges(one).items()})
        made = real(writer)
        patch.setattr(_WRITER, "ranges", ranges)
        return made

    ranges = _WRITER.ranges
    patch.setattr(_WRITER, "write_whole", write_whole)
    patch.setattr(_WRITER, "may_all_run", lambda *_: False)


def _all_run(patch: Patch) -> None:
    """Let iterations run that the launch does not have, or that a condition leaves out, whatever they do."""
    patch.setattr(_WRITER, "may_all_run", lambda *_: True)


def _shared_variable(patch: Patch) -> None:
    """Let two iterations of a thread have one variable."""
    real = _WRITER.element

    def element(writer: Any, array: Symbol, axes: Sequence[Axis] = ("y", "x")) -> Any:
        made = real(writer, array, axes)
        if not isinstance(made, Index) or made.type == BOOL or array not in writer.privates.values():
            return made
        axis = next(axis for axis in reversed(axes) if axis in writer.numbers)
        few = number(writer.shape.block.elements_along(axis) - 1, made.span)
        return replace(made, index=binary("%", made.index, few, INT))

    patch.setattr(_WRITER, "element", element)


def _edge_tile_whole(patch: Patch) -> None:
    """Let the last tile have as many iterations as the others."""
    real = tiled_text._least
    patch.setattr(tiled_text, "_least", lambda past, first, width: number(width, real(past, first, width).span))


def _blocks_side_by_side(patch: Patch) -> None:
    """Let a block start where the one before it would end if its threads had one iteration."""
    real = kernel._thread_index

    def index(thread: Any) -> str:
        return real(thread).replace(f"blockDim.x * {thread.elements}", "blockDim.x")

    patch.setattr(kernel, "_thread_index", index)


def _own_read_for_all(patch: Patch) -> None:
    """Let all iterations of a thread use what its first one reads."""

    def element_at(writer: Any, tile: Any, inner: Symbol) -> Any:
        axes = [writer.shape.block.axis(loop.variable) for loop in tile.layout.by]
        counter = name(inner, writer.span)
        return writer.element_in_use(tile, [counter if axis is None else writer.offset(axis) for axis in axes])

    patch.setattr(_WRITER, "element_at", element_at)


BUGS: dict[str, Callable[[Patch], None]] = {
    "columns next to each other": _wrong_stride,
    "places a block's height apart": _wrong_place,
    "each iteration asks for the first": _guard_of_first,
    "one iteration unguarded": _one_guard_missing,
    "whole by the first iteration": _whole_by_first,
    "iterations run that must not": _all_run,
    "two iterations share a variable": _shared_variable,
    "no barrier behind the loads": leave_out_barrier(1),
    "no barrier behind the use": leave_out_barrier(0),
    "the last tile as wide as others": _edge_tile_whole,
    "blocks overlap": _blocks_side_by_side,
    "all iterations use what the first one reads": _own_read_for_all,
}
