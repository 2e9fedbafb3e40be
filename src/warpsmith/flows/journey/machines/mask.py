"""A program of the mask ISA as `lower` writes it, through its assembler, wave by wave under masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.machines.work import Held, MachineWork, RunCall, by_calls, launch_words
from warpsmith.flows.journey.reasons import StoppedError, UnableError
from warpsmith.flows.journey.versions import KernelCall
from warpsmith.kernels.arguments import Array
from warpsmith.simt.mask.assembler import assemble
from warpsmith.simt.mask.resources import BoundView, ViewKey, words_of
from warpsmith.simt.mask.run import Groups, run_masks
from warpsmith.ssa.nodes import Function
from warpsmith.targets.mask.export import export_kernel

__all__ = ["run_as_masks"]

_WIDTH: Final = 32
_DEPTH: Final = 512


def run_as_masks(work: MachineWork) -> Mapping[str, Array]:
    """Return what the programs of the kernels leave."""
    return by_calls(work, lambda kernel: _prepare(work, kernel))


def _prepare(work: MachineWork, kernel: Function) -> RunCall:
    program = assemble(SourceFile(f"{kernel.name}.mask", work.text(kernel.name, "mask")))
    exported = export_kernel(kernel)

    def run(call: KernelCall, held: Held) -> Held:
        launch, axes = call.launch, exported.dimensions
        if any(size > 1 for size in (*launch.block[axes:], *launch.grid[axes:])):
            raise UnableError(f"the program asks for {', '.join('xyz'[:axes])} only, and the launch has more axes")
        views: dict[ViewKey, BoundView] = {}
        for name, number in exported.views.items():
            views["t", number] = views["u", number] = words_of(np.frombuffer(held[name], np.uint32))
        if exported.words:
            views["t", exported.word_view] = words_of(np.array([*launch_words(exported.words, call)], np.uint32))
        ran = run_masks(program, views, Groups(launch.threads, launch.blocks), _WIDTH, depth=_DEPTH)
        if ran.fault is not None:
            at = program.instructions[ran.fault.index].span
            if ran.fault.kind == "endless":
                raise UnableError("the run was given up: a wave takes more than a million instructions")
            raise StoppedError(f"the run was stopped: {ran.fault.kind} at {at}")
        return {name: ran.views["t", number].words.tobytes() for name, number in exported.views.items()}

    return run
