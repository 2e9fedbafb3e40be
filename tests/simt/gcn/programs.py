"""Programs for tests: a few lines run by one wave, and what is in its registers then."""

from __future__ import annotations

import numpy as np

from warpsmith.base.source import SourceFile
from warpsmith.simt.gcn.memory import Array, GcnMemory
from warpsmith.simt.gcn.nodes import GcnProgram
from warpsmith.simt.gcn.run import step_gcn
from warpsmith.simt.gcn.text.read import read_gcn
from warpsmith.simt.gcn.wave import CODE, GcnWave, Symbols
from warpsmith.simt.memory import LaunchMemory

__all__ = ["floats", "masks", "program", "ran", "wave_of"]

_MOST = 100_000


def program(text: str) -> GcnProgram:
    """Return the program that a text is."""
    return read_gcn(SourceFile("test.s", text))


def wave_of(made: GcnProgram, memory: LaunchMemory | None = None, shared: int = 256, lanes: int = 64) -> GcnWave:
    """Return a wave before a program; v0 is the number of the lane."""
    held = GcnMemory(memory or LaunchMemory(checks=False), np.zeros(shared, np.uint8), 64, made.wave)
    symbols = Symbols({name: CODE + 8 * index for name, index in made.labels.items()})
    wave = GcnWave(made.wave, min(lanes, made.wave), symbols, held)
    wave.v[0] = np.arange(made.wave)
    return wave


def ran(text: str, wave: GcnWave | None = None, *, architecture: str = "gfx900") -> GcnWave:
    """Return a wave behind a program, to whose end s_endpgm is added."""
    made = program(f'.amdgcn_target "amdgcn-amd-amdhsa--{architecture}"\n{text}\ns_endpgm\n')
    found = wave if wave is not None else wave_of(made)
    found.pc = 0
    found.ended = False
    with np.errstate(all="ignore"):
        while not found.ended:
            assert found.steps < _MOST
            step_gcn(found, made.instructions[found.pc])
    return found


def masks(text: str, width: int = 64) -> list[int]:
    """Return the mask before each instruction that is executed."""
    made = program(text)
    wave, seen = wave_of(made, lanes=width), list[int]()
    while not wave.ended:
        assert wave.steps < _MOST
        seen.append(wave.mask)
        step_gcn(wave, made.instructions[wave.pc])
    return seen


def floats(wave: GcnWave, register: int) -> Array:
    """Return a register as floats."""
    return np.asarray(wave.v[register].view(np.float32))
