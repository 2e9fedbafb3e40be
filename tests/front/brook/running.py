"""Kernels of Brook+ are run on arrays: by the interpreter, or by the compiled machine."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from warpsmith.base.source import SourceFile
from warpsmith.front.brook.read import BrookText, read_brook
from warpsmith.lower.program import lower
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.verify import faults

__all__ = ["EXAMPLES", "Arrays", "launch", "module_of", "read", "wrong"]

Arrays = Mapping[str, npt.NDArray[Any]]
EXAMPLES: Final = Path(__file__).parents[3] / "examples" / "brook"


def read(text: str) -> BrookText:
    """Return a text that has no mistakes."""
    found = read_brook(SourceFile("k.br", text))
    assert not found.findings, [one.message for one in found.findings]
    return found


def wrong(text: str) -> list[tuple[int, int, str, str]]:
    """Return line, column, message and help of all that is wrong in a text."""
    found = read_brook(SourceFile("k.br", text)).findings
    return [(f.span.line, f.span.column, f.message, f.help[0] if f.help else "") for f in found if f.span is not None]


def module_of(text: str) -> Module:
    """Return the kernels of a text."""
    whole = lower(read(text).program)
    assert not whole.findings, [one.message for one in whole.findings]
    for function in whole.module.functions:
        assert not faults(function)
    return whole.module


def launch(
    module: Module, kernel: str, arrays: Arrays, numbers: Mapping[str, float], shape: tuple[int, int],
    *, compiled: bool = False,
) -> dict[str, npt.NDArray[Any]]:  # fmt: skip
    """Return what the arrays hold after a launch over `shape`, rows and width; `numbers`: constants and sizes, `depth`
    of threads in layers."""
    memory = LaunchMemory(checks=not compiled)
    arguments: dict[str, bytes] = {}
    buffers = {name: memory.allocate(name, np.ascontiguousarray(array).tobytes()) for name, array in arrays.items()}
    arguments |= {name: struct.pack("<Q", buffer.address) for name, buffer in buffers.items()}
    layers = int(numbers.get("depth", 1))
    rows = shape[0] // layers
    sizes = {"width": shape[1], "height": rows}
    for parameter in next(f for f in module.functions if f.name == kernel).parameters:
        value = {**sizes, **numbers}.get(parameter.name)
        if value is not None and parameter.type is not None:
            form = "<i" if parameter.type.kind != "float" else "<f" if parameter.type.bits == 32 else "<d"
            arguments[parameter.name] = struct.pack(form, value)
        elif value is not None:
            arguments[parameter.name] = np.asarray(value).tobytes()
    grid = (-(-shape[1] // 8), -(-rows // 4), layers)
    how = Launch(grid, (8, 4, 1), arguments=arguments, max_steps=1 << 40 if compiled else 3_000_000)
    if compiled:
        checks = Checks(lost=False, requests=False, uninitialized=False, races=False, quick=True)
        ended = run(module, kernel, how, memory, checks)
        assert not ended.why, ended.why
    else:
        outcome = interpret(module, kernel, how, memory)
        assert outcome.complete and not outcome.problems, [one.message for one in outcome.problems]
    return {name: np.frombuffer(bytes(buffers[name].data), arrays[name].dtype).copy() for name in arrays}
