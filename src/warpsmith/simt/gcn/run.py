"""A launch of a GCN program, wave by wave: each goes on until it waits at a barrier, ends, or others have a turn.

Waves are those of hardware: 64 or 32 lanes, in the order of their threads. A barrier lets the waves of a block go on
when all that have not ended are there. `watch` is told of each instruction before it is executed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from warpsmith.simt.gcn.memory import Array, GcnFault, GcnMemory
from warpsmith.simt.gcn.nodes import GcnInstruction, GcnRegisters
from warpsmith.simt.gcn.ops.selected import is_selected, run_selected
from warpsmith.simt.gcn.ops.table import OPERATIONS
from warpsmith.simt.gcn.start import GcnStart, GcnTask, begin_gcn_wave, prepare_start
from warpsmith.simt.gcn.wave import GcnWave
from warpsmith.simt.memory import LaunchMemory

__all__ = ["GcnOutcome", "GcnStop", "GcnWatch", "run_gcn", "step_gcn"]

GcnWatch = Callable[[int, int, int, int], None]
"""Block, wave in it, index of an instruction, and the active lanes before it."""
_TURN: Final = 2_000
"""Instructions of a wave until others have a turn."""


class GcnStop(Struct, frozen=True):
    """Why a run was stopped: in words, the index of the instruction, block and wave, and the lane (-1: all)."""

    kind: Literal["fault", "budget", "barrier"]
    message: str
    index: int
    block: int
    wave: int
    lane: int = -1


class GcnOutcome(Struct, frozen=True):
    """How a run ended, and how many instructions waves executed."""

    steps: int
    stop: GcnStop | None = None


class _Resident(Struct, eq=False):
    """A wave that has begun: its block, and its number in it."""

    block: int
    number: int
    wave: GcnWave


class _Block(Struct, eq=False):
    """Waves of a block that have not ended: those that wait at a barrier, and how many there are in all."""

    left: int
    waiting: list[_Resident]


def run_gcn(task: GcnTask, memory: LaunchMemory, watch: GcnWatch | None = None) -> GcnOutcome:
    """Run a launch to its end; memory is as it leaves it."""
    try:
        start = prepare_start(task, memory)
    except GcnFault as fault:
        return GcnOutcome(0, GcnStop("fault", fault.message, 0, 0, 0))
    return _Run(start, memory, watch).run()


class _Run:
    """One launch while it runs."""

    def __init__(self, start: GcnStart, memory: LaunchMemory, watch: GcnWatch | None) -> None:
        self.start, self.memory, self.watch = start, memory, watch
        self.steps = 0
        self.ready: deque[_Resident] = deque()
        self.blocks: dict[int, _Block] = {}
        self.next_block = 0

    def run(self) -> GcnOutcome:
        """Run all blocks."""
        with np.errstate(all="ignore"):
            while self.ready or self._begin_block():
                stop = self._turn(self.ready.popleft())
                if stop is not None:
                    return GcnOutcome(self.steps, stop)
        for number, block in self.blocks.items():
            if block.waiting:
                one = block.waiting[0]
                message = (
                    f"{len(block.waiting)} waves wait at a barrier that {block.left - len(block.waiting)} do not reach"
                )
                return GcnOutcome(self.steps, GcnStop("barrier", message, one.wave.pc - 1, number, one.number))
        return GcnOutcome(self.steps)

    def _begin_block(self) -> bool:
        """Begin the next block; return whether there was one."""
        number, launch = self.next_block, self.start.task.launch
        if number >= launch.blocks:
            return False
        self.next_block += 1
        width = self.start.task.program.wave
        fixed = self.start.setting("group_segment_fixed_size")
        ends = [part.end for part in launch.parts]
        shared = np.zeros(max(fixed + launch.shared, *ends, 0) if ends else fixed + launch.shared, np.uint8)
        firsts = range(0, launch.threads, width)
        self.blocks[number] = _Block(len(firsts), [])
        for at, first in enumerate(firsts):
            memory = GcnMemory(self.memory, shared, self.start.setting("private_segment_fixed_size"), width)
            self.ready.append(_Resident(number, at, begin_gcn_wave(self.start, number, first, memory)))
        return True

    def _turn(self, one: _Resident) -> GcnStop | None:
        """Let a wave go on."""
        wave, code = one.wave, self.start.task.program.instructions
        for _ in range(_TURN):
            index = wave.pc
            if not 0 <= index < len(code):
                return GcnStop(
                    "fault", "the program goes on behind its last instruction", len(code) - 1, one.block, one.number
                )
            if self.watch is not None:
                self.watch(one.block, one.number, index, wave.mask)
            try:
                step_gcn(wave, code[index])
            except GcnFault as fault:
                return GcnStop("fault", fault.message, index, one.block, one.number, fault.lane)
            self.steps += 1
            if wave.ended or wave.waits:
                self._arrive(one)
                return None
            if self.steps >= self.start.task.launch.max_steps:
                return GcnStop(
                    "budget", f"it is still running after {self.steps:,} instructions", index, one.block, one.number
                )
        # whoever waits for what others do may wait for another block
        self.ready.append(one)
        self._begin_block()
        return None

    def _arrive(self, one: _Resident) -> None:
        """Count a wave that ended, or waits at a barrier."""
        block = self.blocks[one.block]
        if one.wave.ended:
            block.left -= 1
        else:
            block.waiting.append(one)
        if block.waiting and len(block.waiting) == block.left:
            for other in block.waiting:
                other.wave.waits = False
            self.ready.extend(block.waiting)
            block.waiting = []


def step_gcn(wave: GcnWave, i: GcnInstruction) -> None:
    """Execute the instruction at the wave's program counter; raises GcnFault."""
    wave.pc += 1
    wave.steps += 1
    if i.beside is not None:
        _both(wave, i)
    else:
        _one(wave, i)


def _one(wave: GcnWave, i: GcnInstruction) -> None:
    op = OPERATIONS[i.name]
    if is_selected(i):
        run_selected(wave, i, op)
    else:
        op.run(wave, i)


def _both(wave: GcnWave, i: GcnInstruction) -> None:
    """Execute two instructions at once: both read before either writes."""
    assert i.beside is not None
    before = wave.v.copy()
    _one(wave, i)
    first: Array = wave.v
    wave.v = before
    _one(wave, i.beside)
    # what the second one did not change is what the first one left
    target = i.beside.operands[0]
    assert isinstance(target, GcnRegisters), "what is written beside another one is a register"
    first[target.first] = wave.v[target.first]
    wave.v = first
