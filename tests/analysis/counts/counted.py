"""Kernels are walked through, and what was counted is put beside what a run shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tests.analysis.runs import GRID, SHAPES, Launched
from warpsmith.analysis.counts.footprint import touched_units
from warpsmith.analysis.counts.tallies import LANES, LINES, PASSES, REQUESTS, SECTORS, Tallies
from warpsmith.analysis.counts.threads import LaunchedThreads
from warpsmith.analysis.counts.touching import AccessCounter
from warpsmith.analysis.counts.values import LaunchSources
from warpsmith.analysis.counts.walk import Walked, WarpWalk
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Module

__all__ = ["differences", "sums", "touched", "walk_of", "walked"]

Row = list[float]


def walk_of(module: Module, shape: tuple[Dim, Dim, int], arguments: Mapping[str, int]) -> WarpWalk:
    function = module.functions[0]
    threads = LaunchedThreads.of(*shape)
    return WarpWalk(function, Graph.of(function), threads, LaunchSources.of(module, function, threads, arguments))


def walked(module: Module, shape: tuple[Dim, Dim, int], arguments: Mapping[str, int]) -> Walked:
    return walk_of(module, shape, arguments).run()


def sums(found: Walked, weights: Iterable[float]) -> dict[object, Row]:
    """Return all that was counted over all blocks, but for lines: those are of the iterations that are looked at."""
    total: Tallies = found.tallies.added(np.array(list(weights)))
    rows: dict[object, Row] = {name: [float(n[0]), float(total.lanes[name][0])] for name, n in total.visits.items()}
    return rows | {id(i): row[:LINES, 0].tolist() for i, row in total.requests.items()}


def touched(writer: AccessCounter) -> dict[int, object]:
    """Return the sectors of each access, by block and array."""
    found: dict[int, object] = {}
    for i, parts in writer.touched.items():
        units = touched_units([part.found for part in parts], 32)
        found[id(i)] = list(zip(units.group.tolist(), units.low.tolist(), units.high.tolist(), strict=True))
    return found


def differences(seed: int, did: Launched) -> list[str]:
    """Return in what the count of a kernel is not what its run shows; raises NotCountedError where there is no
    count."""
    block, warp = SHAPES[seed % len(SHAPES)]
    arguments = {"n": did.n, "m": did.m, "p": did.base}
    found = walked(did.module, (block, GRID, warp), arguments)
    tallies, wrong = found.tallies, list[str]()
    seen = {name: [len(v), sum(map(len, v.values()))] for name, v in did.there.items() if v}
    counted = {name: [int(n.sum()), int(tallies.lanes[name].sum())] for name, n in tallies.visits.items()}
    wrong += [f"{name}: {counted.get(name)} visits are {seen.get(name)}" for name in seen | counted
              if seen.get(name) != counted.get(name)]  # fmt: skip
    for i, requests in did.requests.items():
        rows = tallies.requests.get(i)
        row = [0] * 4 if rows is None else rows.sum(axis=1).tolist()
        lanes = sum(len(request.addresses) for request in requests)
        if [row[REQUESTS], row[LANES]] != [len(requests), lanes]:
            wrong.append(f"{i.op}: {row} are {len(requests)} requests of {lanes} lanes")
        costs = [sum(request.sectors for request in requests), sum(request.ways for request in requests)]
        if i not in found.lacks and [row[SECTORS], row[PASSES]] != costs:
            wrong.append(f"{i.op}: {row} cost {costs}")
    return wrong
