"""A launch as the arrays of numbers that the compiled machine reads: structs of compiled/machine.h, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from warpsmith.machine.simt.parameters import CacheShape, ClockMachine
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.nodes import (
    Immediate,
    LaneBuiltin,
    LaneRegister,
    MaskInstruction,
    MaskSource,
    ViewOperand,
    sources_of,
)
from warpsmith.simt.mask.resources import ViewKey, Views, is_pixel

__all__ = ["INSTRUCTION_WORDS", "encode_parameters", "encode_program", "encode_views"]

_UNITS: Final = {"alu": 0, "memory": 1, "sampler": 2, "control": 3}
_BUILTINS: Final = {"thread_id": 2, "lane_id": 3, "wave_id": 4, "clock": 5}
_SCHEDULERS: Final = {"greedy": 0, "round-robin": 1, "oldest": 2, "majority": 3}
_FORMATIONS: Final = {"none": 0, "homes": 1, "crossbar": 2}
INSTRUCTION_WORDS: Final = 58


def encode_program(instructions: Sequence[MaskInstruction], numbers: Mapping[ViewKey, int]) -> npt.NDArray[np.int32]:
    """Return `struct instruction` for each instruction; `numbers`: of the views in their array."""
    rows = [_instruction(one, numbers) for one in instructions]
    return np.array(rows, np.int64).astype(np.uint32).view(np.int32).reshape(len(rows), INSTRUCTION_WORDS)


def _instruction(instruction: MaskInstruction, numbers: Mapping[ViewKey, int]) -> list[int]:
    op, to, sources = instruction.op, instruction.destination, sources_of(instruction)
    components = () if to is None else to.components
    view = next((one for one in instruction.operands if isinstance(one, ViewOperand) and one.kind != "s"), None)
    which = _moved(instruction, view, components)
    number = -1 if view is None or view.kind == "s" else numbers[view.kind, view.number]
    locked = sorted({one.number for one in instruction.operands if isinstance(one, LaneRegister)})
    return [
        op.code, _UNITS[op.unit], op.clocks, int(op.writes), -1 if to is None else to.number,
        len(components), *_padded(components),
        len(sources), *[word for one in sources for word in _source(one)], *[0] * (11 * (3 - len(sources))),
        number, int(op.form == "store" and is_pixel(instruction)), len(which), *_padded(which),
        *_padded(instruction.targets, 2), len(locked), *_padded(locked),
    ]  # fmt: skip


def _moved(instruction: MaskInstruction, view: ViewOperand | None, components: Sequence[int]) -> tuple[int, ...]:
    """Return which words or channels of a view are moved."""
    if view is None:
        return ()
    if view.components:
        return view.components
    if instruction.op.writes:
        return tuple(range(len(components)))
    value = sources_of(instruction)[1]
    return tuple(range(_source(value)[2]))


def _source(source: MaskSource) -> list[int]:
    """Return `struct source_of`: kind, number, how many components, which, and words."""
    match source:
        case LaneRegister(number=number, components=components):
            return [0, number, len(components), *_padded(components), *_padded(())]
        case Immediate(words=words):
            return [1, 0, len(words), *_padded(()), *_padded(words)]
        case LaneBuiltin(name=name):
            return [_BUILTINS[name], 0, 1, *_padded(()), *_padded(())]


def _padded(numbers: Sequence[int], size: int = 4) -> list[int]:
    return [*numbers, *[0] * (size - len(numbers))]


def encode_parameters(launch: ClockLaunch, slots: int, waves: int) -> npt.NDArray[np.int64]:
    """Return `struct parameters`."""
    machine: ClockMachine = launch.machine
    numbers = [
        machine.width, machine.lanes_per_alu, machine.cores, slots, machine.alus, machine.issue,
        int(machine.threading == "interleaved"), _SCHEDULERS[machine.scheduler], machine.pipe, machine.stack,
        machine.control_clocks, machine.line, launch.program.registers, _FORMATIONS[machine.formation], machine.late,
        *_cache(machine.l1, machine.line), *_cache(machine.l2, machine.line), *_cache(machine.sampler, machine.line),
        machine.dram.latency, machine.dram.bandwidth, int(launch.recorded), len(launch.program.instructions), waves,
    ]  # fmt: skip
    return np.array(numbers, np.int64)


def _cache(shape: CacheShape, line: int) -> tuple[int, int, int, int]:
    return shape.sets(line), shape.ways, shape.latency, int(shape.replacement == "lru")


def encode_views(views: Views) -> tuple[npt.NDArray[np.int64], dict[ViewKey, int]]:
    """Return `struct view` for each view, and their numbers; the words stay where they are."""
    numbers = {key: number for number, key in enumerate(views)}
    rows = [[view.words.ctypes.data, view.size, view.width, view.height, view.base] for view in views.values()]
    return np.array(rows or [[0] * 5], np.int64), numbers
