"""Bugs to seed where kernels do several time steps a launch: each is a slip that the writer might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from warpsmith.offload.expressions import number
from warpsmith.offload.mapping.filling import words
from warpsmith.offload.mapping.halo import pass_text
from warpsmith.offload.mapping.halo.pass_text import PassTiles
from warpsmith.tree.nodes import Block, Empty, If, replace

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _no_barrier(which: int, of: int) -> Callable[[Patch], None]:
    """Leave out every `of`-th barrier."""

    def seed(patch: Patch) -> None:
        real, calls = words.barrier, [0]

        def barrier(span: Any) -> Any:
            calls[0] += 1
            return Empty(span=span) if calls[0] % of == which else real(span)

        patch.setattr(pass_text, "barrier", barrier)

    return seed


def _halo_of_one_iteration(patch: Patch) -> None:
    """Let a tile reach as far as one iteration needs, however many there are."""
    real = PassTiles.needed
    patch.setattr(PassTiles, "needed", lambda tiles, iterations: real(tiles, min(iterations, 1)))


def _halo_of_one_nest(patch: Patch) -> None:
    """Let a tile reach as far as the first nest reads, and forget the second one."""

    def needed(tiles: PassTiles, iterations: int) -> Any:
        return tuple((iterations * low, iterations * high) for low, high in tiles.nests[0].reach)

    patch.setattr(PassTiles, "needed", needed)


def _first_nest_one_short(patch: Patch) -> None:
    """Let the first nest compute no more than the second one does."""
    patch.setattr(PassTiles, "between", lambda tiles, iterations: tiles.needed(iterations - 1))


def _always_forth(patch: Patch) -> None:
    """Let every pass go from the first array to the second one."""
    patch.setattr(pass_text._PassWriter, "is_back", lambda writer: number(0, writer.span))


def _border_computed(patch: Patch) -> None:
    """Let elements around the range be computed as well."""
    real: Any = pass_text._PassWriter.step

    def step(writer: Any, nest: Any, ends: Any) -> Any:
        loop = real(writer, nest, ends)
        *before, last = loop.body.statements
        assert isinstance(last, If)
        return replace(loop, body=Block(span=loop.span, statements=(*before, last.then)))

    patch.setattr(pass_text._PassWriter, "step", step)


def _border_of_second_array_forgotten(patch: Patch) -> None:
    real: Any = pass_text._PassWriter.load_outside

    def load(writer: Any, read: Any) -> Any:
        if read is writer.shape.nests[1].read:
            return Empty(span=writer.span)
        return real(writer, read)

    patch.setattr(pass_text._PassWriter, "load_outside", load)


def _strides_swapped(patch: Patch) -> None:
    """Let neighbors be looked for along the other loops."""
    real: Any = pass_text._PassWriter.offset

    def offset(writer: Any, nest: Any, distances: Any) -> int:
        turned = dict(zip(nest.heads, (distances[head] for head in reversed(nest.heads)), strict=True))
        return int(real(writer, nest, turned))

    patch.setattr(pass_text._PassWriter, "offset", offset)


def _last_nest_left_out(patch: Patch) -> None:
    """Let the last iteration end behind its first nest."""
    real: Any = pass_text._PassWriter.plain

    def plain(writer: Any, turns: int) -> Any:
        made = real(writer, turns)
        return If(span=made.span, condition=made.condition, then=made.then, other=None)

    patch.setattr(pass_text._PassWriter, "plain", plain)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "no barrier behind the loads": _no_barrier(1, 3),
    "no barrier behind the first nest": _no_barrier(2, 3),
    "halo of one iteration": _halo_of_one_iteration,
    "halo of one nest": _halo_of_one_nest,
    "the first nest one short": _first_nest_one_short,
    "every pass goes forth": _always_forth,
    "the border computed": _border_computed,
    "the border of the second array forgotten": _border_of_second_array_forgotten,
    "strides swapped": _strides_swapped,
    "the last nest left out": _last_nest_left_out,
}
