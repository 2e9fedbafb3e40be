"""All ways to map the loops of a nest, with what each reference costs in them by the formula and by the printed tables.

    assignments of the loops to x, y, z   ×   power-of-two blocks of as many threads   ──►   the best first

Invariant: the first one is what `choose_mapping` takes by "lines"; it takes `best_by_tables` by "tables".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from msgspec import Struct

from warpsmith.machine.tables import TableScore
from warpsmith.offload.mapping.mapping import ThreadMapping, has_table, list_blocks, rank_mapping
from warpsmith.offload.mapping.profile import (
    ProfiledReference,
    count_lines_a_thread,
    count_sectors,
    estimate,
    score_by_print,
    sum_by_print,
)
from warpsmith.tree.program import Axis

__all__ = ["ReferenceScore", "ScoredMapping", "best_by_tables", "list_mappings"]

_AXES: tuple[Axis, ...] = ("x", "y", "z")


class ReferenceScore(Struct, frozen=True):
    """A reference, each time that it is reached: `sectors` of 32 bytes that a warp's request touches, `lines` of 128
    bytes a thread that a block brings into the first cache; `table`: the latter by the printed tables (None: there is
    none for so many loops)."""

    sectors: int
    lines: float
    table: TableScore | None

    @property
    def is_mistaken(self) -> bool:
        """Whether the printed entry is a mistake, and gives another number than the right one here."""
        return self.table is not None and self.table.entry.is_wrong and self.table.is_off


class ScoredMapping(Struct, frozen=True):
    """Axes (by loop, outermost first) and a block, with its `scores` by reference. `sectors`: a request in the mean;
    `lines` and `printed` (by the tables): a thread, all references as often as they are reached; `rank` by the tables.
    `counted`: the count of lines chooses among such ones: a warp's threads are on x."""

    axes: tuple[Axis, ...]
    block: tuple[int, int, int]
    scores: tuple[ReferenceScore, ...]
    sectors: float
    lines: float
    printed: float | None
    rank: tuple[float, ...] | None
    counted: bool


def list_mappings(
    found: Sequence[ProfiledReference], trips: Sequence[int | None], volume: int
) -> tuple[ScoredMapping, ...]:
    """Return every mapping of loops with these trip counts (outermost first; None: not known) to about `volume` threads
    a block, the best by the count of lines first, those behind that it does not choose among."""
    ranked: list[tuple[tuple[float, ...], ScoredMapping]] = []
    for order in permutations(range(len(trips))):
        usual = set(list_blocks(order, trips, volume))
        for block in sorted(usual.union(list_blocks(order, trips, volume, "tables"))):
            made = _score(found, order, block, counted=block in usual)
            cost = estimate(found, _shape(order, block), order)
            rank = rank_mapping(ThreadMapping(made.axes, block, cost), found, order, "lines")
            ranked.append(((float(not made.counted), *rank), made))
    return tuple(made for _, made in sorted(ranked, key=lambda one: one[0]))


def best_by_tables(mappings: Sequence[ScoredMapping]) -> tuple[ScoredMapping, int] | None:
    """Return what the printed tables choose, and how many other mappings cost as much by them; None where there are
    none for so many loops."""
    scored = [(one.rank, one) for one in mappings if one.rank is not None]
    if not scored:
        return None
    best = min(scored, key=lambda one: one[0])[1]
    return best, sum(one.printed == best.printed for one in mappings) - 1


def _shape(order: tuple[int, ...], block: tuple[int, int, int]) -> list[int]:
    return [block[order.index(loop)] for loop in range(len(order))]


def _score(
    found: Sequence[ProfiledReference], order: tuple[int, ...], block: tuple[int, int, int], *, counted: bool
) -> ScoredMapping:
    shape = _shape(order, block)
    cost = estimate(found, shape, order)
    axes = tuple(_AXES[order.index(loop)] for loop in range(len(order)))
    tables = score_by_print(found, shape, order) if has_table(len(order), "tables") else None
    scores = tuple(
        ReferenceScore(
            count_sectors(reference, shape, order),
            count_lines_a_thread(reference, shape),
            None if tables is None else tables[place],
        )
        for place, reference in enumerate(found)
    )
    if tables is None:
        return ScoredMapping(axes, block, scores, cost.sectors_per_request, cost.lines_per_thread, None, None, counted)
    rank = rank_mapping(ThreadMapping(axes, block, cost), found, order, "tables")
    printed = sum_by_print(found, tables)
    return ScoredMapping(axes, block, scores, cost.sectors_per_request, cost.lines_per_thread, printed, rank, counted)
