"""Counters of a compiled run, as data: sums only, so that memory is bounded by the kernel and not by its run."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from warpsmith.simt.counters import BlockCount
from warpsmith.simt.tally import Totals
from warpsmith.ssa.nodes import BasicBlock, Instruction, Space

__all__ = ["EngineCounts", "RequestSum"]


class RequestSum(Struct, frozen=True):
    """Sums over the requests of one access to one variable or buffer: `address` is in it, in `space`. `sectors` and
    `ideal` are of global and local memory, `conflicts` of shared memory."""

    place: Instruction
    space: Space
    address: int
    requests: int
    lanes: int
    sectors: int
    ideal: int
    conflicts: int


class EngineCounts(Struct, frozen=True):
    """All counters of a run. `totals.lost` is empty where lost slots were not watched; `most_waiting`: sets of lanes of
    a warp that waited for their turn at most, where a policy was shown."""

    blocks: Mapping[BasicBlock, BlockCount]
    totals: Totals
    requests: tuple[RequestSum, ...]
    most_waiting: int = 0
