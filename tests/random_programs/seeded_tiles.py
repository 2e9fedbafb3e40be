"""Bugs to seed where kernels get tiles in shared memory: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from warpsmith.emit.device import kernel
from warpsmith.offload.expressions import shift_expression
from warpsmith.offload.mapping import tiled_text
from warpsmith.offload.mapping.filling import words
from warpsmith.poly.isl.formula import at_least
from warpsmith.poly.isl.polynomial import atom
from warpsmith.poly.legality import read_where
from warpsmith.tree.nodes import Empty, For, Stmt

__all__ = ["BUGS", "leave_out_barrier"]

Patch = pytest.MonkeyPatch


def leave_out_barrier(which: int) -> Callable[[Patch], None]:
    """Leave out the barrier behind the loads of each tile (1), or behind its use (0)."""

    def seed(patch: Patch) -> None:
        real, calls = words.barrier, [0]

        def barrier(span: Any) -> Stmt:
            calls[0] += 1
            return Empty(span=span) if calls[0] % 2 == which else real(span)

        patch.setattr(tiled_text, "barrier", barrier)

    return seed


def _loads_unguarded(patch: Patch) -> None:
    patch.setattr(read_where, "_write", lambda *_: read_where.ReadWhere(None))


def _upper_ends_known(patch: Patch) -> None:
    """Let counters be taken to be inside their loops: a thread behind the last iteration is forgotten."""
    real = read_where._known_floors

    def floors(question: Any, state: Any, counters: Mapping[str, Any]) -> Any:
        found = real(question, state, counters)
        for name in counters:
            last = state.limits.get(name, (None, None))[1]
            if last is not None:
                found.append(at_least(last, atom(name)))
        return found

    patch.setattr(read_where, "_known_floors", floors)


def _one_iteration(by: int) -> Callable[[Patch], None]:
    def seed(patch: Patch) -> None:
        real = tiled_text._least
        patch.setattr(tiled_text, "_least", lambda past, first, width: real(past, first, width + by))

    return seed


def _last_iteration_left_out(patch: Patch) -> None:
    real = tiled_text._least

    def least(past: Any, first: Any, width: int) -> Any:
        return real(shift_expression(past, -1), first, width)

    patch.setattr(tiled_text, "_least", least)


def _subscripts_swapped(patch: Patch) -> None:
    real, inside = words.tile_element, [False]
    used = tiled_text.TileWriter.with_tiles

    def with_tiles(writer: Any, body: Stmt, inner: Any) -> Stmt:
        inside[0] = True
        made = used(writer, body, inner)
        inside[0] = False
        return made

    patch.setattr(tiled_text.TileWriter, "with_tiles", with_tiles)
    patch.setattr(tiled_text, "tile_element", lambda tile, places: real(tile, places[::-1] if inside[0] else places))


def _threads_return_early(patch: Patch) -> None:
    real = kernel._body_of_block

    def body(made: Any, conditions: list[str], threads: Any, printer: Any) -> list[str]:
        lines = real(made, conditions, threads, printer)
        at = next(n for n, line in enumerate(lines) if line.strip().startswith("const bool"))
        return [*lines[: at + 1], f"    if (!{made.inside.name}) return;", *lines[at + 1 :]]

    patch.setattr(kernel, "_body_of_block", body)


def _own_end_for_all(patch: Patch) -> None:
    """Let each thread stop behind its own last iteration: others wait at the barrier."""
    patch.setattr(tiled_text, "extremes", lambda expr, *_: (expr, expr))


def _place_not_moved(patch: Patch) -> None:
    real = tiled_text.TileWriter.moved
    patch.setattr(tiled_text.TileWriter, "moved", lambda writer, head, place: real(writer, head, writer.position("y")))


def _thread_outside_uses_tile(patch: Patch) -> None:
    """Let threads outside of the launch go through the tile as well."""
    real = tiled_text.TileWriter.guarded

    def guarded(writer: Any, statements: Sequence[Stmt], active: Any) -> list[Stmt]:
        return [*statements] if active is not writer.inside else real(writer, statements, active)

    patch.setattr(tiled_text.TileWriter, "guarded", guarded)


def _block_skipped(patch: Patch) -> None:
    """Let a block of a triangle be left out although some of its threads are inside."""
    real = tiled_text.TileWriter.find_tests

    def tests(writer: Any, head: For, ranges: Any) -> Any:
        swapped = {symbol: (ends[1], ends[0]) for symbol, ends in ranges.items()}
        return real(writer, head, swapped)

    patch.setattr(tiled_text.TileWriter, "find_tests", tests)


def _all_counters_by_one(patch: Patch) -> None:
    """Let a counter that goes down be taken to go up by one from thread to thread."""
    patch.setattr(tiled_text, "counts_up", lambda _: True)


BUGS: dict[str, Callable[[Patch], None]] = {
    "no barrier behind the loads": leave_out_barrier(1),
    "no barrier behind the use": leave_out_barrier(0),
    "loads unguarded": _loads_unguarded,
    "threads behind the last iteration load": _upper_ends_known,
    "a tile one iteration too wide": _one_iteration(1),
    "a tile one iteration too narrow": _one_iteration(-1),
    "the last iteration left out": _last_iteration_left_out,
    "subscripts of a tile swapped": _subscripts_swapped,
    "threads outside return early": _threads_return_early,
    "each thread ends at its own bound": _own_end_for_all,
    "a row loaded from another place": _place_not_moved,
    "threads outside use tiles": _thread_outside_uses_tile,
    "blocks of a triangle left out": _block_skipped,
    "steps of counters forgotten": _all_counters_by_one,
}
