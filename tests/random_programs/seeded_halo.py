"""Bugs to seed where kernels get tiles with a halo: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.random_programs.seeded_tiles import BUGS as BUGS_OF_TILES
from warpsmith.offload.mapping.filling import words
from warpsmith.offload.mapping.halo import neighbors, subscripts, tile_shape, tile_text
from warpsmith.poly.legality import joined, moved, read_where
from warpsmith.poly.legality.moved import Distance
from warpsmith.tree.nodes import Empty, If

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _no_barrier(patch: Patch) -> None:
    patch.setattr(tile_text, "barrier", lambda span: Empty(span=span))


def _loads_unguarded(patch: Patch) -> None:
    patch.setattr(read_where, "_write", lambda *_: read_where.ReadWhere(None))


def _halo_one_short(patch: Patch) -> None:
    """Let a tile end one element before the farthest one that is read, along the last counter."""
    real = tile_shape.lay_out

    def lay_out(read: Any, block: Any) -> Any:
        layout = real(read, block)
        short = max(1, layout.extents[-1] - 1)
        return replace(layout, extents=(*layout.extents[:-1], short))

    patch.setattr(tile_text, "lay_out", lay_out)


def _not_moved_back(patch: Patch) -> None:
    """Let tiles start at the block's own first element."""
    real = tile_text._HaloWriter.moved

    def moved(writer: Any, loop: Any, place: Any, read: Any) -> Any:
        return real(writer, loop, place, replace(read, reach=dict.fromkeys(read.reach, (0, 0))))

    patch.setattr(tile_text._HaloWriter, "moved", moved)


def _axes_swapped(patch: Patch) -> None:
    """Let the dimensions of a tile be used in the other order."""
    real = tile_text._HaloWriter.place

    def place(writer: Any, tile: Any, distances: Any) -> Any:
        layout = replace(tile.layout, by=tile.layout.by[::-1])
        return real(writer, replace(tile, layout=layout), distances)

    patch.setattr(tile_text._HaloWriter, "place", place)


def _only_the_first_reads(patch: Patch) -> None:
    """Let what the first reference reads be all that is loaded."""
    patch.setattr(read_where, "join_sets", lambda sets: joined.join_sets(sets[:1]))


def _moved_the_other_way(patch: Patch) -> None:
    """Let where elements are read be found as if they lay on the other side."""
    real = moved.find_moved

    def find(state: Any, read: Any, kept: Any, *, between: bool) -> Any:
        other = [
            (statement, {loop: Distance(-one.number, one.inner) for loop, one in moves.items()})
            for statement, moves in read
        ]
        return real(state, other, kept, between=between)

    patch.setattr(read_where, "find_moved", find)


def _window_ends_early(patch: Patch) -> None:
    real = neighbors._range_of

    def range_of(loop: Any) -> Any:
        found = real(loop)
        return found and (found[0], max(found[0], found[1] - 1))

    patch.setattr(neighbors, "_range_of", range_of)


def _sign_of_window_lost(patch: Patch) -> None:
    """Let windows that go back be taken to go on."""
    real = subscripts.split_distance

    def split(value: Any, steps: Any) -> Any:
        distances, rest = real(value, steps)
        return {key: abs(number) for key, number in distances.items()}, rest

    patch.setattr(neighbors, "split_distance", split)


def _thread_outside_computes(patch: Patch) -> None:
    """Let threads outside of the launch compute as well."""
    real = tile_text.write_halo

    def write(body: Any, reads: Sequence[Any], block: Any, own: Any) -> Any:
        made = real(body, reads, block, own)
        *before, used = made.body.statements
        assert isinstance(used, If)
        return replace(made, body=replace(made.body, statements=(*before, used.then)))

    patch.setattr("warpsmith.offload.mapping.halo.kernel.write_halo", write)


def _some_threads_load(patch: Patch) -> None:
    """Let each thread load one element, and nobody what is beyond them."""
    real = words.count

    def count(variable: Any, ends: Any, step: int, body: Any, like: Any) -> Any:
        return real(variable, ends, 1 << 20, body, like)

    patch.setattr(tile_text, "count", count)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "no barrier behind the loads": _no_barrier,
    "loads unguarded": _loads_unguarded,
    "halo one short": _halo_one_short,
    "tiles start at the block": _not_moved_back,
    "axes swapped": _axes_swapped,
    "threads outside return early": BUGS_OF_TILES["threads outside return early"],
    "only what one reference reads is loaded": _only_the_first_reads,
    "elements looked for on the other side": _moved_the_other_way,
    "a window ends early": _window_ends_early,
    "windows that go back go on": _sign_of_window_lost,
    "threads outside compute": _thread_outside_computes,
    "what is beyond the threads is not loaded": _some_threads_load,
}
