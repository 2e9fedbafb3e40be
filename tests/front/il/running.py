"""Programs of IL are run as kernels: by the interpreter, or by the compiled machine."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from warpsmith.base.source import SourceFile
from warpsmith.front.il.code import KERNEL, translate_il
from warpsmith.front.il.nodes import IlProgram
from warpsmith.front.il.read import parse_il
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.verify import faults

__all__ = ["IlRun", "module_of", "parse", "run_program", "sort_pass"]


def parse(text: str) -> IlProgram:
    """Return the program that a text is."""
    return parse_il(SourceFile("p.il", text))


class IlRun(Struct, frozen=True):
    """How a pixel shader is launched: arrays of words by name (`t0`, `cb0`), sizes by name, how many threads."""

    arrays: Mapping[str, Sequence[int]]
    width: int
    height: int = 1
    sizes: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=lambda: {"o0": 1})
    block: tuple[int, int, int] = (32, 1, 1)
    compiled: bool = False


def run_program(module: Module, how: IlRun) -> dict[str, list[int]]:
    """Return what each output holds, as words."""
    assert not faults(module.functions[0])
    memory = LaunchMemory(checks=not how.compiled)
    arguments = {name: struct.pack("<i", value) for name, value in how.sizes.items()}
    arguments |= {"width": struct.pack("<i", how.width), "height": struct.pack("<i", how.height)}
    for name, words in how.arrays.items():
        arguments[name] = struct.pack("<Q", memory.allocate(name, array("I", words).tobytes()).address)
    made = {}
    for name, channels in how.outputs.items():
        made[name] = memory.allocate(name, bytes(4 * channels * how.width * how.height), known=False)
        arguments[name] = struct.pack("<Q", made[name].address)
    x, y, _ = how.block
    grid = (-(-how.width // x), -(-how.height // y), 1)
    launch = Launch(grid, how.block, arguments=arguments, max_steps=(1 << 40 if how.compiled else 300_000))
    if how.compiled:
        checks = Checks(lost=False, requests=False, uninitialized=False, races=False, quick=True)
        ended = run(module, KERNEL, launch, memory, checks)
        assert not ended.why, ended.why
    else:
        outcome = interpret(module, KERNEL, launch, memory)
        assert outcome.complete and not outcome.problems, [one.message for one in outcome.problems]
    found: dict[str, list[int]] = {}
    for name, buffer in made.items():
        words = array("I")
        words.frombytes(bytes(buffer.data))
        found[name] = list(words)
    return found


def sort_pass(
    module: Module, words: Sequence[int], stage: int, distance: int, row: int = 0, *, fast: bool
) -> list[int]:
    """Return the numbers after one pass of a bitonic sort; `row`: the width of a row where addresses are translated."""
    constants = [stage, 0, 0, 0, distance, 0, 0, 0, 2 * distance, 0, 0, 0] + ([row, 0, 0, 0] if row else [])
    width, height = (row, len(words) // row) if row else (len(words), 1)
    sizes = {"t0_width": width} | ({"t0_height": height} if row else {})
    how = IlRun({"t0": words, "cb0": constants}, width, height, sizes, compiled=fast)
    return run_program(module, how)["o0"]


def module_of(text: str) -> Module:
    """Return the module of a program's text."""
    return translate_il(parse(text))
