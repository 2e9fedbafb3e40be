"""Kernels of the corpus are run as their files say."""

from __future__ import annotations

import random
import struct

from tests.corpus.inputs import Inputs
from tests.corpus.reading import Run
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Module

__all__ = ["ran"]


def ran(
    module: Module, run: Run, given: int | Inputs, observer: Observer | None = None, memory: LaunchMemory | None = None
) -> tuple[Outcome, dict[str, bytes]]:
    """Run a kernel on inputs of its own for each seed; return how it ended and what its buffers hold."""
    inputs = given if isinstance(given, Inputs) else Inputs(given)
    seed = inputs.seed
    function = module.function(run.kernel)
    assert function is not None, run.kernel
    chosen, memory = random.Random(f"{run.kernel} {seed}"), memory or LaunchMemory(checks=False)
    arguments, buffers = {}, {}
    for parameter in function.parameters:
        content = run.buffer(parameter.name, chosen)
        if content is None:
            arguments[parameter.name] = run.scalar(parameter.name, parameter.bytes, seed)
        else:
            buffers[parameter.name] = memory.allocate(parameter.name, content)
            arguments[parameter.name] = struct.pack("<q", buffers[parameter.name].address)
    for address, word in inputs.words.items():
        for buffer in buffers.values():
            if buffer.address <= address <= buffer.end - len(word):
                buffer.data[address - buffer.address : address - buffer.address + len(word)] = word
    arguments = inputs.instead(arguments)
    launch = Launch(
        run.grid, run.block, arguments, shared=run.shared, seed=seed, max_steps=3_000_000, lanes=inputs.lanes
    )
    outcome = interpret(module, run.kernel, launch, memory, observer)
    return outcome, {name: bytes(buffer.data) for name, buffer in buffers.items()}
