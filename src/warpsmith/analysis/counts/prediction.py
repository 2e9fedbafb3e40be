"""The predicted time of a launch, and of the same threads in other blocks: what `analyze --metrics` prints.

facts of a kernel ──► occupancy, counts (count.py) ──► machine/time ──► PredictedTime, or what is lacking for one
"""

from __future__ import annotations

from typing import Final

from warpsmith.analysis.counts.count import Holding, count_launch
from warpsmith.analysis.counts.predicted import BlockChoice, PredictedTime
from warpsmith.analysis.counts.shapes import covering, other_blocks, why_bound_to_block
from warpsmith.analysis.counts.walk import MOST_WORK
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts
from warpsmith.machine.limits import MAX_GRID
from warpsmith.machine.occupancy import occupancy
from warpsmith.machine.time.predict import predict
from warpsmith.ssa.graph import Graph

__all__ = ["predict_blocks", "predict_time"]


TIE: Final = 1.1
"""A time that is less than so much longer is the same: models of this kind do not tell more (memory-and-cost, D)."""


def predict_time(facts: KernelFacts, launch: tuple[Dim, Dim] | None = None, most: int = MOST_WORK) -> PredictedTime:
    """Return the predicted time of a kernel as it is launched, or in another block and grid; `most`: work of counting
    before it is given up."""
    block, grid = launch or (facts.block, facts.shape.grid)
    if grid is None:
        return PredictedTime(block, None, lacks=("the grid (--grid)",))
    held = facts.resources
    shared = held.shared_bytes + held.dynamic_shared_bytes
    threads = block[0] * block[1] * block[2]
    if facts.device.vendor != "nvidia":
        return PredictedTime(block, grid, lacks=(f"the occupancy rules of {facts.device.title}",))
    found = occupancy(facts.device, threads, held.registers, shared)
    if not found.blocks:
        return PredictedTime(block, grid, lacks=("a multiprocessor on which a block fits",), occupancy=found)
    holding = Holding(found.blocks, found.blocks * facts.device.units, shared)
    owner = facts.module, facts.function, Graph.of(facts.function)
    shape = block, grid, facts.device.warp_width
    counts = count_launch(owner, shape, facts.shape.arguments, holding, most)
    prediction = None if counts.work is None else predict(facts.device, counts.work)
    lacks = counts.lacks
    if counts.work is not None and prediction is None:
        lacks = (f"what a multiprocessor of {facts.device.arch} does in a clock",)
    return PredictedTime(
        block, grid, prediction, counts.work, counts.exact, counts.looked_at, lacks, found
    )  # fmt: skip


def predict_blocks(facts: KernelFacts) -> BlockChoice:
    """Return what other blocks are predicted to take."""
    grid = facts.shape.grid
    if grid is None:
        return BlockChoice(why="it lacks the grid (--grid)")
    if why := why_bound_to_block(facts.function):
        return BlockChoice(why=why)
    threads = [facts.block[at] * grid[at] for at in range(3)]
    shapes = [(block, covering(threads, block)) for block in other_blocks(facts.block, grid)]
    taken = [shape for shape in shapes if all(a <= b for a, b in zip(shape[1], MAX_GRID, strict=True))]
    found = [predict_time(facts, shape, MOST_WORK // max(1, len(taken))) for shape in taken]
    done = [one for one in found if one.prediction is not None]
    if not done:
        lacks = found[0].lacks if found else ("a block that covers the grid",)
        return BlockChoice(why=f"it lacks {lacks[0]}")
    least = min(_seconds(one) for one in done)
    ties = sum(_seconds(one) <= TIE * least for one in done)
    return BlockChoice(tuple(sorted(done, key=lambda one: _rank(one, least))), ties=ties)


def _seconds(one: PredictedTime) -> float:
    assert one.prediction is not None
    return one.prediction.seconds


def _rank(one: PredictedTime, least: float) -> tuple[float, bool, int, int]:
    """Order by time; of those that tie with the fastest, whole warps along x first, then fewer waves of blocks."""
    assert one.work is not None
    seconds = _seconds(one)
    waves = -(-one.work.blocks // one.work.running_blocks)
    return 0.0 if seconds <= TIE * least else seconds, one.block[0] % 32 != 0, waves, -one.block[0]
