"""Bugs to seed where threads load several neighbors of a tile at once: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.emit.changed_part import change_part
from warpsmith.offload.mapping import tiled_text
from warpsmith.offload.mapping.filling import wide, words
from warpsmith.offload.mapping.tiled_text import TileWriter

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _addresses_untested(patch: Patch) -> None:
    change_part(patch, "tile_loads.cu", ("(unsigned long long)from % bytes == 0", "true"))


def _first_alone_tested(patch: Patch) -> None:
    patch.setattr(tiled_text, "find_conjuncts", lambda tests: wide.find_conjuncts(tests[:1]))


def _first_alone_filled(patch: Patch) -> None:
    """Let neighbors be what the first one of them is."""
    real = TileWriter.values_at
    patch.setattr(TileWriter, "values_at", lambda writer, tile, filling, at, by: real(writer, tile, filling, at, 0))


def _columns_not_apart(patch: Patch) -> None:
    patch.setattr(TileWriter, "widened", lambda writer, tile, column: column)


def _rows_too_far_apart(patch: Patch) -> None:
    real = TileWriter.share

    def share(writer: Any, tile: Any) -> Any:
        found = real(writer, tile)
        return replace(found, step=2 * found.step) if tile.wide > 1 else found

    patch.setattr(TileWriter, "share", share)


def _any_stride(patch: Patch) -> None:
    """Let a row of the tile be taken to be a row of the array."""
    real = wide.find_width

    def find_width(read: Any, layout: Any, shape: Any, loop: Any) -> int:
        strides = {**read.strides, layout.by[-1].variable: 1}
        return real(replace(read, strides=strides), replace(layout, padding=0), shape, loop)

    patch.setattr(tiled_text, "find_width", find_width)


def _factor_dropped(patch: Patch) -> None:
    real = words.copy_wide

    def copy_wide(function: Any, tile: Any, target: Any, values: Any) -> Any:
        return real(function, replace(tile, read=replace(tile.read, held=tile.read.nodes)), target, values)

    patch.setattr(words, "copy_wide", copy_wide)


BUGS: dict[str, Callable[[Patch], None]] = {
    "addresses are not tested": _addresses_untested,
    "the first neighbor alone is tested": _first_alone_tested,
    "all are what the first one is": _first_alone_filled,
    "columns next to each other": _columns_not_apart,
    "rows too far apart": _rows_too_far_apart,
    "any stride is one": _any_stride,
    "the factor of a product dropped": _factor_dropped,
}
