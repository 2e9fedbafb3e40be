"""The predicted time of a launch, and of the same threads in other blocks: what `analyze --metrics` and `port` print.

a kernel, a device, a launch ──► occupancy, counts (count.py) ──► machine/time ──► PredictedTime, or what it lacks
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.analysis.counts.count import Holding, LaunchWalk, count_walk, walk_launch
from warpsmith.analysis.counts.predicted import BlockChoice, PredictedTime
from warpsmith.analysis.counts.shapes import covering, other_blocks, why_bound_to_block
from warpsmith.analysis.counts.walk import MOST_WORK
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts, LaunchShape, ResourceFact
from warpsmith.machine.devices import Device
from warpsmith.machine.limits import MAX_GRID
from warpsmith.machine.occupancy import occupancy
from warpsmith.machine.time.predict import predict
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Module

__all__ = ["HeldKernel", "predict_blocks", "predict_launch", "predict_time"]


TIE: Final = 1.1
"""A time that is less than so much longer is the same: models of this kind do not tell more (memory-and-cost, D)."""


class HeldKernel(Struct, frozen=True):
    """A kernel on a device; `held`: registers and memory of its threads and blocks."""

    module: Module
    function: Function
    device: Device
    held: ResourceFact


def predict_time(facts: KernelFacts, launch: tuple[Dim, Dim] | None = None, most: int = MOST_WORK) -> PredictedTime:
    """Return the predicted time of a kernel as it is launched, or in another block and grid: at most that time, where
    what is loaded decides which way lanes go; `most`: work of counting before it is given up."""
    block, grid = launch or (facts.block, facts.shape.grid)
    kernel = HeldKernel(facts.module, facts.function, facts.device, facts.resources)
    return predict_launch(kernel, LaunchShape(block, grid, facts.shape.arguments), most, both=True)


def predict_launch(
    kernel: HeldKernel, shape: LaunchShape, most: int = MOST_WORK, *, both: bool = False, walk: LaunchWalk | None = None
) -> PredictedTime:
    """Return the predicted time of a kernel in a launch whose block is known; `both`: at most that time, where it is
    not known which way lanes go; `walk`: its warps have walked already, for another device."""
    block, grid, device, held = shape.block, shape.grid, kernel.device, kernel.held
    assert block is not None
    if grid is None:
        return PredictedTime(block, None, lacks=("the grid (--grid)",))
    if device.vendor != "nvidia":
        return PredictedTime(block, grid, lacks=(f"the occupancy rules of {device.title}",))
    shared = held.shared_bytes + held.dynamic_shared_bytes
    found = occupancy(device, block[0] * block[1] * block[2], held.registers, shared)
    if not found.blocks:
        return PredictedTime(block, grid, lacks=("a multiprocessor on which a block fits",), occupancy=found)
    holding = Holding(found.blocks, found.blocks * device.units, shared)
    if walk is None:
        owner = kernel.module, kernel.function, Graph.of(kernel.function)
        walk = walk_launch(owner, (block, grid, device.warp_width), shape.arguments, most, both=both)
    counts = count_walk(walk, holding)
    prediction = None if counts.work is None else predict(device, counts.work)
    lacks = counts.lacks
    if counts.work is not None and prediction is None:
        lacks = (f"what a multiprocessor of {device.arch} does in a clock",)
    return PredictedTime(
        block, grid, prediction, counts.work, counts.exact, counts.looked_at, lacks, found, counts.forks, counts.alike
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
