"""What the model says of a configuration: its source is read with the defines, and its launch predicted, in process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.tuning_spaces.spaces import Configuration, Space, text_of
from msgspec import Struct

from warpsmith.analysis.counts.count import walk_launch
from warpsmith.analysis.counts.prediction import HeldKernel, predict_launch
from warpsmith.analysis.resources.resources import resources
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import Device
from warpsmith.machine.time.predict import Prediction
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function

__all__ = ["Predicted", "predict_configuration", "read_kernel"]

MOST_WORK = 400_000
"""Visits of blocks of code before a count is given up: more than `analyze` has, which shall answer at once."""


class Predicted(Struct, frozen=True):
    """`prediction` None: `lacks` says why."""

    prediction: Prediction | None
    lacks: str = ""
    registers: int = 0


def read_kernel(space: Space, hub: Path, configuration: Configuration) -> tuple[KernelUnit, Function] | str:
    """Return the kernel of a configuration; a text: why it cannot be read."""
    suffix = "cl" if space.language == "opencl" else "cu"
    include = (f"-I{hub / space.include}",) if space.include else ()
    text = text_of(space, hub, configuration)
    unit = read_unit(KernelFile(f"{space.name}.{suffix}", space.language, include, text=text))
    if isinstance(unit, Finding):
        return unit.message
    for function in unit.module.functions:
        # names of C++ are mangled
        if function.kernel and function.blocks and space.kernel in function.name:
            return unit, function
    errors = [one.message for one in unit.findings if one.severity == "error"]
    return errors[0] if errors else f"there is no kernel {space.kernel}"


def predict_configuration(
    space: Space, read: tuple[KernelUnit, Function], configuration: Configuration, devices: Sequence[Device]
) -> list[Predicted]:
    """Return the predicted time of a configuration on each device; its warps walk once for all. What memory decides
    is taken as if it had the same everywhere, where an address is made of it, and as either, where a branch is."""
    (unit, function), (block, grid) = read, space.launch(configuration)
    owner = unit.module, function, Graph.of(function)
    warp = devices[0].warp_width
    walk = walk_launch(owner, (block, grid, warp), space.arguments, MOST_WORK, both=True, alike=True)
    found: list[Predicted] = []
    for device in devices:
        held = resources(owner, device, block, 0)
        kernel = HeldKernel(unit.module, function, device, held)
        one = predict_launch(kernel, LaunchShape(block, grid, space.arguments), walk=walk)
        found.append(Predicted(one.prediction, "; ".join(one.lacks), held.registers))
    return found
