"""Bugs to seed where a thread has several iterations: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.random_programs.seeded_tiles import leave_out_barrier
from warpsmith.emit.device import kernel
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping import register_text, tiled_text
from warpsmith.tree.nodes import For, If, Stmt
from warpsmith.tree.types import BOOL, INT, Symbol

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch
_WRITER = register_text._ElementWriter


def _wrong_stride(patch: Patch) -> None:
    """Let the columns of a thread lie next to each other, as its rows do."""

    def counter(writer: Any, head: For, axis: str, along: int) -> Any:
        first = name(writer.firsts[head.variable], writer.span)
        return binary("+", first, number(along, writer.span), INT)

    patch.setattr(_WRITER, "counter_of", counter)


def _wrong_place(patch: Patch) -> None:
    """Let the place in a tile be that of rows one after the other in the block."""

    def place(writer: Any, axis: Any, along: int) -> Any:
        position = writer.position(axis)
        return binary("+", position, number(along * writer.shape.block.along(axis), writer.span), INT)

    patch.setattr(_WRITER, "place_of", place)


def _guard_of_first(patch: Patch) -> None:
    """Let every iteration ask whether the first one of the thread is inside."""
    real = _WRITER.tested
    patch.setattr(_WRITER, "tested", lambda writer, active, _: real(writer, active, register_text._Element(0, 0)))


def _one_guard_missing(patch: Patch) -> None:
    """Leave out the test of the last iteration of a thread."""
    real = _WRITER.guarded

    def guarded(writer: Any, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        made = real(writer, statements, active)
        return [*made[:-1], made[-1].then] if made and isinstance(made[-1], If) else made

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


def _shared_variable(patch: Patch) -> None:
    """Let two iterations of a thread have one variable."""
    real = _WRITER.for_element

    def for_element(writer: Any, node: Any, element: Any, more: Any = None) -> Any:
        own, kept = writer.elements(), writer.privates
        summed = {s: {**of, own[-1]: of[own[0]]} for s, of in kept.items() if s.type != BOOL}
        writer.privates = {**kept, **summed}
        made = real(writer, node, element, more)
        writer.privates = kept
        return made

    patch.setattr(_WRITER, "for_element", for_element)


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
        return tiled_text.tile_element(tile, [counter if axis is None else writer.place_of(axis, 0) for axis in axes])

    patch.setattr(_WRITER, "element_at", element_at)


BUGS: dict[str, Callable[[Patch], None]] = {
    "columns next to each other": _wrong_stride,
    "places a block's height apart": _wrong_place,
    "each iteration asks for the first": _guard_of_first,
    "one iteration unguarded": _one_guard_missing,
    "whole by the first iteration": _whole_by_first,
    "two iterations share a variable": _shared_variable,
    "no barrier behind the loads": leave_out_barrier(1),
    "no barrier behind the use": leave_out_barrier(0),
    "the last tile as wide as others": _edge_tile_whole,
    "blocks overlap": _blocks_side_by_side,
    "all iterations use what the first one reads": _own_read_for_all,
}
