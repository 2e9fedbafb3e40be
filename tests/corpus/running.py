"""Kernels of the corpus are run as their files say."""

from __future__ import annotations

import random
import struct

from tests.corpus.reading import Run
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import Memory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.nodes import Module

__all__ = ["ran"]


def ran(
    module: Module, run: Run, seed: int, observer: Observer | None = None, *, checks: bool = False
) -> tuple[Outcome, dict[str, bytes]]:
    """Run a kernel on inputs of its own for each `seed`; return how it ended and what its buffers hold."""
    function = module.function(run.kernel)
    assert function is not None, run.kernel
    chosen, memory = random.Random(f"{run.kernel} {seed}"), Memory(checks=checks)
    arguments, buffers = {}, {}
    for parameter in function.parameters:
        content = run.buffer(parameter.name, chosen)
        if content is None:
            arguments[parameter.name] = run.scalar(parameter.name, parameter.bytes, seed)
        else:
            buffers[parameter.name] = memory.allocate(parameter.name, content)
            arguments[parameter.name] = struct.pack("<q", buffers[parameter.name].address)
    launch = Launch(run.grid, run.block, arguments, shared=run.shared, seed=seed, max_steps=3_000_000)
    outcome = interpret(module, run.kernel, launch, memory, observer)
    return outcome, {name: bytes(buffer.data) for name, buffer in buffers.items()}
