"""PolyBench programs with their loops on other axes, and in blocks of other shapes: does the model rank them as the
device does?

    plain         the port as it is
    32x8 …        blocks of that shape for every kernel with two or three loops as threads, the loops on the axes they
                  have; those with tiles keep theirs
    swapped       the innermost two loops change their axes
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.loops.step import Step
from warpsmith.offload.steps.map import Map
from warpsmith.recipes.placement import placing_steps, recorded_steps

__all__ = ["VARIANTS", "variants"]

VARIANTS: dict[str, tuple[tuple[int, int], bool]] = {
    "256x1": ((256, 1), False),
    "64x4": ((64, 4), False),
    "32x8": ((32, 8), False),
    "16x16": ((16, 16), False),
    "8x32": ((8, 32), False),
    "32x8-swapped": ((32, 8), True),
    "16x16-swapped": ((16, 16), True),
}
"""By name, the threads along x and y, and whether axes are swapped."""


def variants(path: Path, arguments: tuple[str, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Yield the name of each variant of a program and the steps of its port; those that change nothing are left out."""
    options = PortOptions(front=FrontOptions(arguments=arguments), verify=False)
    made = port([str(path)], options)
    if made.plan is None or not made.plan.fragments:
        return
    steps = recorded_steps([applied.step for applied in made.prepared.applied], made.plan)
    tiled = {str(getattr(step, "loop", "")) for step in placing_steps(made.plan) if not isinstance(step, Map)}
    yield "plain", steps
    seen = {steps}
    for name, (block, swapped) in VARIANTS.items():
        changed = tuple(_mapped(step, block, swapped, tiled) for step in steps)
        if changed not in seen:
            seen.add(changed)
            yield name, changed


def _mapped(step: Step, block: tuple[int, int], swapped: bool, tiled: set[str]) -> Step:
    """Return a step with the shape; one of another kind, or of a kernel with one loop or with tiles, stays."""
    if not isinstance(step, Map) or len(step.axes) < 2:
        return step
    if any(loop.startswith(f"{step.loop}/") or loop == step.loop for loop in tiled):
        return step
    *outer, second, first = step.axes
    axes = (*outer, first, second) if swapped else step.axes
    return replace(step, axes=axes, block=(*block, 1)[: len(axes)])
