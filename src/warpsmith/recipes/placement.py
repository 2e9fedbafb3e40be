"""The planner's decisions as steps, so that a recipe holds the whole port."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from warpsmith.loops.step import Step
from warpsmith.offload.plan import Fragment, Plan
from warpsmith.offload.steps.double_buffer import DoubleBuffer
from warpsmith.offload.steps.halo_tile import HaloTile
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.offload import Offload
from warpsmith.offload.steps.register_tile import RegisterTile
from warpsmith.offload.steps.shared_tile import SharedTile
from warpsmith.offload.steps.vector_load import VectorLoad

__all__ = ["mapped_loop", "placing_steps", "recorded_steps"]


def recorded_steps(applied: Sequence[Step], plan: Plan | None) -> tuple[Step, ...]:
    """Return the steps that make the same port again: those applied, and where the plan's kernels run. What steps said
    of that before is left out: the plan honors it."""
    if plan is None:
        return tuple(applied)
    kept = (step for step in applied if not isinstance(step, Map | Offload) and not _is_tiled(step))
    return (*kept, *placing_steps(plan))


def _is_tiled(step: Step) -> bool:
    """Whether a step asks for tiles, or for several iterations a thread, which the plan has then; one that asks for
    none is kept."""
    if isinstance(step, SharedTile):
        return step.width > 0
    if isinstance(step, VectorLoad):
        return step.elements > 1
    return isinstance(step, HaloTile | DoubleBuffer) or (
        isinstance(step, RegisterTile) and step.rows * step.columns > 1
    )


def placing_steps(plan: Plan) -> tuple[Step, ...]:
    """Return a map step for every kernel whose loops are threads, in the plan's order, and steps for each loop of
    theirs with tiles, and each kernel that loads neighbors together. Runs of statements that one thread executes follow
    from them, and have no step."""
    nests = [fragment for fragment in plan.fragments if fragment.kind == "nest"]
    tiles = (SharedTile(one.loop, one.width, one.arrays, one.padding) for fragment in nests for one in fragment.tiles)
    halos = (_halo(fragment) for fragment in nests if fragment.halos and not fragment.iterations)
    several = (_elements(fragment) for fragment in nests if prod(fragment.kernel.elements) > 1)
    doubled = (DoubleBuffer(one.loop) for fragment in nests for one in fragment.tiles if one.doubled)
    wide = (VectorLoad(one.loop, one.wide) for fragment in nests for one in fragment.tiles if one.wide > 1)
    return (*(_step(fragment) for fragment in nests), *tiles, *halos, *several, *doubled, *wide)


def _halo(fragment: Fragment) -> Step:
    return HaloTile(fragment.region, tuple(sorted({one.array for one in fragment.halos})))


def _elements(fragment: Fragment) -> Step:
    columns, rows, _ = fragment.kernel.elements
    return RegisterTile(fragment.tiles[0].loop, rows, columns)


def _step(fragment: Fragment) -> Step:
    axes = tuple(mapped.axis for mapped in fragment.kernel.mapped)
    if not axes:
        return Offload(fragment.region)
    # a block that nobody has asked for may have fewer threads at a launch, and these may share loops
    return Map(mapped_loop(fragment), axes, () if fragment.kernel.few else fragment.kernel.block[: len(axes)])


def mapped_loop(fragment: Fragment) -> str:
    """Return the loop that a map step of a fragment names: of a loop of passes the first nest says what becomes
    threads."""
    return fragment.loops[1] if fragment.iterations else fragment.region
