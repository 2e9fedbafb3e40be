"""Which loop of a nest becomes x, y and z, and the shape of a block.

    for (i …)            i → y      A[i*N+j]: along x (a warp) the address must move by 1, so j is x
        for (j …)        j → x

Every assignment of the loops to axes and every power-of-two shape of `volume` threads is scored by the static profiler:
sectors of a warp first, lines of a block next; among equals the one with more references that move by one element or
not at all along x, then the longer x, then the user's own order (innermost loop on x).
Limits: x has at least a warp's threads unless the loop is known to be shorter. By the printed tables (`model`) every
power-of-two shape is scored, of two loops and of three; among equals the longer x counts, then the user's own order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.machine.limits import MAX_BLOCK, MAX_GRID, block_fits
from warpsmith.offload.mapping.profile import (
    ProfiledReference,
    estimate,
    references,
    score_by_print,
    sum_by_print,
)
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.plan import CostEstimate, MappingModel, PrintedMistake
from warpsmith.poly.facts import ReferenceFact
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Axis, Decision
from warpsmith.tree.types import Scalar

__all__ = ["ThreadMapping", "choose_mapping", "has_table", "is_wasteful", "large_axes", "list_blocks", "rank_mapping"]

_AXES: tuple[Axis, Axis, Axis] = ("x", "y", "z")
_WARP = 32
_WITH_TABLES: Final = (2, 3)


class ThreadMapping(Struct, frozen=True):
    """`axes[r]`: the axis of loop r (outermost first); `block`: threads along x, y, z."""

    axes: tuple[Axis, ...]
    block: tuple[int, int, int]
    model: CostEstimate


def choose_mapping(
    accesses: Sequence[ReferenceFact],
    heads: Sequence[For],
    volume: int,
    sizes: Mapping[str, int],
    decision: Decision | None = None,
    *,
    model: MappingModel = "lines",
) -> ThreadMapping:
    """Return the cheapest mapping of the loops `heads` (outermost first) with about `volume` threads a block, by the
    `model` ("time": as "lines", where times begin); of those that a step's `decision` leaves, where there is one."""
    found, assumed = references(accesses, heads, sizes)
    trips = [trip_count(head, sizes) for head in heads]
    best: tuple[tuple[float, ...], ThreadMapping] | None = None
    for order in permutations(range(len(heads))):
        if decision is not None and any(decision.axes[loop] != _AXES[place] for place, loop in enumerate(order)):
            continue
        for block in _list_block_shapes(decision) or list_blocks(order, trips, volume, model):
            shape = [block[order.index(loop)] for loop in range(len(heads))]
            axes = tuple(_AXES[order.index(loop)] for loop in range(len(heads)))
            mapping = ThreadMapping(axes, block, estimate(found, shape, order, assumed))
            rank = rank_mapping(mapping, found, order, model)
            if best is None or rank < best[0]:
                best = rank, mapping
    assert best is not None, "some block shape always fits"
    return _with_print(best[1], accesses, found) if has_table(len(heads), model) else best[1]


def _with_print(
    mapping: ThreadMapping, accesses: Sequence[ReferenceFact], found: Sequence[ProfiledReference]
) -> ThreadMapping:
    """Return a mapping that the printed tables have chosen, with what they say of it and where they are wrong."""
    order = sorted(range(len(mapping.axes)), key=lambda loop: _AXES.index(mapping.axes[loop]))
    scores = score_by_print(found, [mapping.block[_AXES.index(axis)] for axis in mapping.axes], order)
    mistakes = (
        PrintedMistake(show_expression(access.expr), score.entry.name, score.lines, score.right)
        for access, score in zip(accesses, scores, strict=True)
        if score.entry.is_wrong and score.is_off
    )
    printed = replace(mapping.model, printed=sum_by_print(found, scores), mistakes=tuple(dict.fromkeys(mistakes)))
    return replace(mapping, model=printed)


def _list_block_shapes(decision: Decision | None) -> list[tuple[int, int, int]]:
    """Return the one block shape that a decision gives, if it gives one."""
    if decision is None or not decision.block:
        return []
    x, y, z = (*decision.block, 1, 1)[:3]
    return [(x, y, z)]


def has_table(loops: int, model: MappingModel) -> bool:
    """Whether the printed tables choose the mapping of so many loops."""
    return model == "tables" and loops in _WITH_TABLES


def rank_mapping(
    mapping: ThreadMapping, found: Sequence[ProfiledReference], order: tuple[int, ...], model: MappingModel
) -> tuple[float, ...]:
    """Return by what a mapping of references is compared with others, the least the best; `order`: its loops from x to
    z."""
    block, cost = mapping.block, mapping.model
    outer = sum(order[position] * (len(order) - position) for position in range(len(order)))
    if has_table(len(order), model):
        shape = [block[order.index(loop)] for loop in range(len(order))]
        return (sum_by_print(found, score_by_print(found, shape, order)), -block[0], -block[1], -outer)
    coalesced = sum(r.weight for r in found if r.strides[order[0]] in (-1, 0, 1))
    return (cost.sectors_per_request, cost.lines_per_thread, -coalesced, -block[0], -block[1], -outer)


def list_blocks(
    order: tuple[int, ...], trips: Sequence[int | None], volume: int, model: MappingModel = "lines"
) -> Iterator[tuple[int, int, int]]:
    """Yield the block shapes worth scoring by a model when the loops `order` lie on x, y, z."""
    if not has_table(len(order), model):
        yield from _blocks(order, trips, volume)
        return
    powers = [1 << exponent for exponent in range(max(1, volume).bit_length())]
    for y, z in product(powers, powers if len(order) > 2 else [1]):
        block = powers[-1] // (y * z), y, z
        if block_fits(block) and prod(block) == powers[-1]:
            yield block


def _blocks(order: tuple[int, ...], trips: Sequence[int | None], volume: int) -> Iterator[tuple[int, int, int]]:
    """Yield the block shapes worth scoring when the loops `order` lie on x, y, z."""
    volume = 1 << max(0, volume.bit_length() - 1)
    powers = [1 << exponent for exponent in range(volume.bit_length())]
    x_trips = trips[order[0]]
    shortest = min(_WARP, volume, _WARP if x_trips is None else _power_above(x_trips))
    shapes: list[tuple[int, int, int]] = []
    for y, z in product(powers if len(order) > 1 else [1], powers if len(order) > 2 else [1]):
        x = volume // (y * z)
        if x >= shortest and block_fits((x, y, z)) and z <= MAX_BLOCK[2]:
            shapes.append((x, y, z))
    fitting = [s for s in shapes if not any(is_wasteful(s[p], trips[loop]) for p, loop in enumerate(order))]
    yield from fitting or shapes


def is_wasteful(threads: int, trips: int | None) -> bool:
    """Whether so many threads along an axis are more than a loop has any use for."""
    return trips is not None and threads > _power_above(trips)


def _power_above(value: int) -> int:
    """Return the least power of two that is at least `value`."""
    return 1 << max(0, (value - 1).bit_length())


def large_axes(heads: Sequence[For], mapping: ThreadMapping) -> tuple[Axis, ...]:
    """Return the axes along which the threads of one grid may be too few for every size of the loops."""
    found: list[Axis] = []
    for head, axis in zip(heads, mapping.axes, strict=True):
        place = _AXES.index(axis)
        if _most_trips(head) > MAX_GRID[place] * mapping.block[place]:
            found.append(axis)
    return tuple(found)


def _most_trips(head: For) -> int:
    trips = trip_count(head, {})
    if trips is not None:
        return trips
    bits = head.variable.type.bits if isinstance(head.variable.type, Scalar) else 64
    return (1 << int(bits)) - 1
