"""Bugs to seed where kernels have two tiles for each read: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from warpsmith.offload.expressions import name, number
from warpsmith.offload.mapping.filling import staged, words
from warpsmith.offload.mapping.filling.words import assign, tile_element, with_values
from warpsmith.offload.mapping.tiled_text import TileWriter
from warpsmith.tree.nodes import Binary, Empty, Expr, Stmt
from warpsmith.tree.types import Symbol

__all__ = ["BUGS", "ELEMENTS"]

Patch = pytest.MonkeyPatch


def _leave_out_barrier(patch: Patch) -> None:
    patch.setattr(staged, "barrier", lambda span: Empty(span=span))


def _fill_at_once_again(patch: Patch) -> None:
    """Let threads that come to the loop again fill the first tile while others still use it."""
    patch.setattr(TileWriter, "enters_often", lambda *_: False)


def _put_into_the_one_in_use(patch: Patch) -> None:
    def other(tile: Any, places: Any) -> Expr:
        return tile_element(tile.tile, [name(tile.stage, tile.span), *places])

    patch.setattr(staged._Staged, "other", other)


def _never_alternate(patch: Patch) -> None:
    patch.setattr(staged._Staged, "next_stage", lambda tile: number(1, tile.span))


def _first_into_the_other(patch: Patch) -> None:
    def store_first(tile: Any, read: Any, places: Any, values: Any) -> Stmt:
        target = tile_element(read, [number(1, tile.span), *places])
        return assign(target, with_values(read.read.held[0], values), read.read.element)

    patch.setattr(staged._Staged, "store_first", store_first)


def _fetch_the_same_again(patch: Patch) -> None:
    """Let threads fetch what the tile in use has."""
    real = words.declare

    def declare(symbol: Symbol, value: Expr, span: Any) -> Stmt:
        return real(symbol, value.left if isinstance(value, Binary) and "_next" in symbol.name else value, span)

    patch.setattr(staged, "declare", declare)


def _one_element_fewer(patch: Patch) -> None:
    real = staged.count_held
    patch.setattr(staged, "count_held", lambda rows, step: max(1, real(rows, step) - 1))


def _step_by_one_tile(patch: Patch) -> None:
    """Let the pairs of tiles overlap."""
    real = words.count

    def count(variable: Symbol, ends: Any, step: int, body: Stmt, like: Any) -> Stmt:
        return real(variable, ends, step // 2 if "_pair" in variable.name else step, body, like)

    patch.setattr(staged, "count", count)


def _second_tile_as_the_first(patch: Patch) -> None:
    """Let both turns of a pair be for the iterations of the first tile."""
    real = words.declare

    def declare(symbol: Symbol, value: Expr, span: Any) -> Stmt:
        return real(symbol, value.left if isinstance(value, Binary) and "_first" in symbol.name else value, span)

    patch.setattr(staged, "declare", declare)


BUGS: dict[str, Callable[[Patch], None]] = {
    "no barrier": _leave_out_barrier,
    "no barrier where the loop is entered again": _fill_at_once_again,
    "put into the tile in use": _put_into_the_one_in_use,
    "the same tile in every turn": _never_alternate,
    "the first one put into the other": _first_into_the_other,
    "what is in use fetched again": _fetch_the_same_again,
    "pairs of tiles overlap": _step_by_one_tile,
    "the second tile of a pair as the first": _second_tile_as_the_first,
}
ELEMENTS = {"the last element of a thread left out": _one_element_fewer}
"""A bug where a thread fills several elements of a tile, as it does where it has several iterations."""
