"""A launch counted: how many instructions its warps execute, what they ask memory for, which bytes they touch.

kernel, block, grid, arguments ──► walk ──► sums over blocks ──► LaunchCounts ──► machine/time
                                                       footprints: of a block, of those that run together, of the grid

What is not known is named in `lacks`, and then there is no work to predict a time from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.counts.columns import Column
from warpsmith.analysis.counts.footprint import TooManyIntervalsError
from warpsmith.analysis.counts.kinds import block_kinds
from warpsmith.analysis.counts.tallies import LANES, LINES, PASSES, REQUESTS, SECTORS, Tallies
from warpsmith.analysis.counts.threads import AXES, LaunchedThreads
from warpsmith.analysis.counts.touched.order import order_of
from warpsmith.analysis.counts.touched.spans import BlockSpans
from warpsmith.analysis.counts.touched.sweeps import LoopTrips, sweeps_of
from warpsmith.analysis.counts.unrolling import Unrolling, find_unrolling
from warpsmith.analysis.counts.values import LaunchSources
from warpsmith.analysis.counts.walk import MOST_WORK, NotCountedError, Walked, WarpWalk
from warpsmith.analysis.resources.unrolled import find_unrolled
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.source import Span
from warpsmith.machine.time.work import LaunchWork, WarpInstructions
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction, Memory, Module

__all__ = ["AccessCount", "Holding", "LaunchCounts", "LaunchWalk", "count_launch", "count_walk", "walk_launch"]


_MOST_CUTS: Final = 16
"""Blocks along an axis that are looked at besides."""


class Holding(Struct, frozen=True):
    """What of a launch a device holds at a time: blocks a multiprocessor, blocks in all, shared bytes a block."""

    resident_blocks: int
    running_blocks: int
    shared_bytes: int = 0


class AccessCount(Struct, frozen=True):
    """Sums over the requests of one access, of all warps. `lacks`: why its sectors are not known."""

    instruction: Instruction
    requests: int
    lanes: int
    sectors: int
    passes: int
    lines: int
    lacks: str = ""


class LaunchCounts(Struct, frozen=True):
    """`exact`: every number is that of a run; else `looked_at` blocks stand for all, and those between may differ.
    `visits` and `lanes`: warps and lanes that come to each block of code. `lacks`: what is not known; `work` is None
    then. `forks`: what decides the branches that all lanes are counted both ways of; `alike`: what decides addresses,
    and is taken to be the same everywhere."""

    block: Dim
    grid: Dim
    exact: bool
    looked_at: int
    visits: Mapping[str, int] = field(default_factory=dict)
    lanes: Mapping[str, int] = field(default_factory=dict)
    accesses: tuple[AccessCount, ...] = ()
    lacks: tuple[str, ...] = ()
    work: LaunchWork | None = None
    forks: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()


class LaunchWalk(Struct, frozen=True):
    """The warps of a launch as they walk through a kernel, on whatever device holds them. `walked` None: `lacks` says
    what is not known."""

    owner: tuple[Module, Function, Graph]
    block: Dim
    grid: Dim
    threads: LaunchedThreads
    walked: Walked | None
    lacks: tuple[str, ...] = ()


def count_launch(
    owner: tuple[Module, Function, Graph],
    shape: tuple[Dim, Dim, int],
    arguments: Mapping[str, int],
    holding: Holding,
    most: int = MOST_WORK,
    *,
    both: bool = False,
    alike: bool = False,
) -> LaunchCounts:
    """Return the counts of a launch; see `walk_launch` and `count_walk`."""
    return count_walk(walk_launch(owner, shape, arguments, most, both=both, alike=alike), holding)


def walk_launch(
    owner: tuple[Module, Function, Graph],
    shape: tuple[Dim, Dim, int],
    arguments: Mapping[str, int],
    most: int = MOST_WORK,
    *,
    both: bool = False,
    alike: bool = False,
) -> LaunchWalk:
    """Let the warps of a launch walk; `shape`: block, grid, threads a warp; `most`: visits of blocks of code by all
    warps together before it is given up; `both`: where it is not known which way lanes go, they go both ways; `alike`:
    addresses that memory decides are as if it had the same number everywhere."""
    block, grid, warp = shape
    threads = LaunchedThreads.of(block, grid, warp)
    try:
        walked = _walk(owner, threads, arguments, (both, alike, most))
        cuts = _cuts(walked, threads)
        if cuts:
            # looked at again, with the blocks at which threads begin to do otherwise
            threads = threads.cut(cuts)
            walked = _walk(owner, threads, arguments, (both, alike, most))
    except NotCountedError as error:
        return LaunchWalk(owner, block, grid, threads, None, (_tell(error.why, error.span),))
    return LaunchWalk(owner, block, grid, threads, walked)


def count_walk(walk: LaunchWalk, holding: Holding) -> LaunchCounts:
    """Return the counts of warps that have walked, of which a device holds so many at a time."""
    threads, walked, block, grid = walk.threads, walk.walked, walk.block, walk.grid
    if walked is None:
        return LaunchCounts(block, grid, exact=False, looked_at=threads.count, lacks=walk.lacks)
    sums = walked.tallies.added(threads.weights(walked.unsteady))
    accesses = tuple(_access(i, row, walked) for i, row in sums.requests.items())
    found = LaunchCounts(
        block, grid, _is_exact(threads, walked), threads.count,
        {name: round(float(count[0])) for name, count in sums.visits.items()},
        {name: round(float(count[0])) for name, count in sums.lanes.items()},
        accesses, tuple(dict.fromkeys(_tell(a.lacks, a.instruction.span) for a in accesses if a.lacks)),
        forks=walked.forks, alike=walked.alike,
    )  # fmt: skip
    if found.lacks:
        return found
    try:
        work = _work(walk.owner[1:], sums, walked, (threads, holding))
    except TooManyIntervalsError:
        return _lacking(found, "which bytes its blocks touch: they are in too many pieces")
    return replace(found, work=work)


def _walk(
    owner: tuple[Module, Function, Graph],
    threads: LaunchedThreads,
    arguments: Mapping[str, int],
    asked: tuple[bool, bool, int],
) -> Walked:
    module, function, graph = owner
    both, alike, most = asked
    sources = LaunchSources.of(module, function, threads, arguments, alike=alike)
    walk = WarpWalk(function, graph, threads, sources, both=both)
    walk.left = most
    return walk.run()


def _cuts(walked: Walked, threads: LaunchedThreads) -> dict[str, set[int]]:
    """Return the blocks inside the grid at which threads begin to do otherwise, along axes that have few."""
    sizes = dict(zip(AXES, threads.grid, strict=True))
    inside = {axis: {at for at in blocks if 0 < at < sizes[axis]} for axis, blocks in walked.cuts.items()}
    return {axis: blocks for axis, blocks in inside.items() if 0 < len(blocks) <= _MOST_CUTS}


def _is_exact(threads: LaunchedThreads, walked: Walked) -> bool:
    return not walked.forks and not walked.alike and not any(map(threads.sampled, walked.unsteady))


def _tell(why: str, span: Span | None) -> str:
    where = "" if span is None or " in line " in why else f" (line {span.line})"
    return f"{why}{where}"


def _lacking(found: LaunchCounts, why: str) -> LaunchCounts:
    return replace(found, lacks=(why,))


def _access(i: Instruction, row: np.ndarray, walked: Walked) -> AccessCount:
    numbers = [round(float(n)) for n in row[:, 0]]
    return AccessCount(
        i, numbers[REQUESTS], numbers[LANES], numbers[SECTORS], numbers[PASSES], numbers[LINES],
        walked.lacks.get(i, ""),
    )  # fmt: skip


# --- the work


def _work(
    owner: tuple[Function, Graph], sums: Tallies, walked: Walked, launch: tuple[LaunchedThreads, Holding]
) -> LaunchWork:
    (function, graph), (threads, holding) = owner, launch
    left = find_unrolling(function, graph)
    kinds = block_kinds(function, graph, left, _trips(graph, sums, left))
    counts: dict[str, float] = {}
    batches = inside = beside = flops = wide = 0.0
    for name, warps in sums.visits.items():
        one, lanes = kinds[name], float(sums.lanes[name][0])
        for kind, count in one.instructions.items():
            counts[kind] = counts.get(kind, 0.0) + count * float(warps[0])
        batches += one.batches * float(warps[0])
        inside += one.shared_batches * float(warps[0])
        beside += one.beside * float(warps[0])
        flops, wide = flops + one.flops * lanes, wide + one.wide * lanes
    kept = find_unrolled(function, graph).accesses
    rows = {i: row[:, 0] * left.share.get(i, 1.0) for i, row in sums.requests.items() if i not in kept}
    of_global = {i: row for i, row in rows.items() if row[LINES] > 0}
    reads = [i for i in of_global if i.op == "load" or i.op.startswith("atomic")]
    writes = [i for i in of_global if i.op != "load"]
    touching, writer = BlockSpans(owner, walked, threads, holding.running_blocks), walked.writer
    orders = order_of(owner, (*reads, *writes), writer)
    about = {i: _asked(touching, i, row) for i, row in of_global.items()}
    sweeps = sweeps_of(about, orders, writer, LoopTrips.of(function, graph, sums))
    fetched = [i for i in reads if i not in orders or not orders[i].stored]
    return LaunchWork(
        blocks=prod(threads.grid),
        block_warps=threads.warps,
        resident_blocks=holding.resident_blocks,
        running_blocks=holding.running_blocks,
        instructions=WarpInstructions(**counts),
        requests=_sum(rows.values(), REQUESTS),
        load_sectors=_sum((of_global[i] for i in of_global if i.op == "load"), SECTORS),
        store_sectors=_sum((of_global[i] for i in writes), SECTORS),
        lines=_sum(of_global.values(), LINES),
        passes=_sum((row for i, row in rows.items() if _space(i) == "shared"), PASSES),
        local_sectors=_sum((row for i, row in rows.items() if _space(i) == "local"), SECTORS),
        words=_sum((row for i, row in rows.items() if _space(i) == "constant"), PASSES),
        batches=batches,
        shared_batches=inside,
        beside=beside,
        read=touching.of(reads),
        written=touching.of(writes),
        fetched=touching.of(fetched) if len(fetched) < len(reads) else None,
        sweeps=tuple(sweeps[i] for i in reads if i in sweeps),
        stores=tuple(sweeps[i] for i in writes if i.op == "store" and i in sweeps),
        shared_bytes=holding.shared_bytes,
        flops=flops,
        wide=wide / flops if flops else 0.0,
    )


def _trips(graph: Graph, sums: Tallies, left: Unrolling) -> dict[str, float]:
    """Return how many iterations loops that run long have, on average over the warps that come to them."""
    found: dict[str, float] = {}
    for end, header in left.rare_ends.items():
        comes = sums.visits.get(graph.dominator[header])
        goes = sums.visits.get(header)
        if comes is not None and goes is not None and comes[0] > 0:
            # one that is tested first is tested once more than it is gone through
            found[header] = float(goes[0]) / float(comes[0]) - (header not in graph.successors[end])
    return found


def _sum(rows: Iterable[Column], at: int) -> float:
    return float(sum(row[at] for row in rows))


def _asked(touching: BlockSpans, i: Instruction, row: np.ndarray) -> tuple[float, float]:
    """Return which part is left where blocks touch the same, and the sectors that one of them asks for."""
    shared, active = touching.shared(i)
    return shared, float(row[SECTORS]) / max(1, active)


def _space(i: Instruction) -> str:
    assert isinstance(i.detail, Memory)
    return i.detail.space
