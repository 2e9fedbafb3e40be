"""What a machine with clocks is asked, and what a run tells.

A history is kept as runs: one `Stretch` for as long as a slot stays as it is.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.simt.mask.nodes import MaskProgram
from warpsmith.simt.mask.resources import Views
from warpsmith.simt.mask.run import Groups
from warpsmith.simt.mask.stack import MaskFault

__all__ = [
    "CACHES",
    "STATES",
    "THREAD_STATES",
    "AluStretch",
    "CacheEvents",
    "CacheName",
    "ClockLaunch",
    "ClockRun",
    "ClockTotals",
    "LeftLanes",
    "SlotState",
    "Stretch",
    "ThreadClocks",
    "ThreadState",
]

SlotState = Literal["empty", "active", "memory", "dependency", "ready"]
STATES: Final[tuple[SlotState, ...]] = get_args(SlotState)
"""No wave; an instruction is issued or still taken in; waits for memory or the sampler; for an ALU's result; could
issue."""
CacheName = Literal["l1", "l2", "sampler"]
CACHES: Final[tuple[CacheName, ...]] = get_args(CacheName)


ThreadState = Literal["active", "masked", "stalled", "ready"]
THREAD_STATES: Final[tuple[ThreadState, ...]] = get_args(ThreadState)
"""An instruction counts for the thread; its wave is there without it; waits; could issue."""
ThreadClocks = npt.NDArray[np.int64]


class ClockLaunch(Struct, frozen=True, eq=False):
    """A program on a machine; `recorded`: whether the history is kept; it is stopped after `most` clocks."""

    program: MaskProgram
    machine: ClockMachine
    views: Views
    groups: Groups
    most: int = 10_000_000
    recorded: bool = True


class Stretch(Struct, frozen=True, order=True):
    """Clocks from `start` up to `end` in which a slot of a core is in one state, with one wave, instruction, mask."""

    core: int
    slot: int
    start: int
    end: int
    state: SlotState
    wave: int = -1
    index: int = -1
    mask: int = 0


class AluStretch(Struct, frozen=True, order=True):
    """Clocks in which an ALU takes an instruction of a wave."""

    core: int
    alu: int
    start: int
    end: int
    wave: int


class CacheEvents(Struct, frozen=True, order=True):
    """What happens in a cache in one clock; of `l2` there is one, which is told for the core that asks."""

    clock: int
    core: int
    cache: CacheName
    hits: int
    misses: int
    evictions: int


class LeftLanes(Struct, frozen=True, order=True):
    """Lanes of a wave that wait on the mask stack when it ends, and so never go on."""

    wave: int
    index: int
    lanes: int


class ClockTotals(Struct, frozen=True):
    """Sums: clocks; instructions of waves, and of their active lanes; clocks of slots by state (STATES); clocks of ALUs
    that took an instruction; hits, misses, evictions by cache (CACHES); bytes from and to DRAM."""

    clocks: int
    instructions: int
    lane_instructions: int
    slot_clocks: tuple[int, ...]
    alu_clocks: int
    cache_events: tuple[tuple[int, int, int], ...]
    dram_bytes: int


class ClockRun(Struct, frozen=True, eq=False):
    """What a run tells. `slots`: waves that a core had room for, or rows of formed waves. `thread_clocks`: of each
    thread by state (THREAD_STATES). Histories and they are empty where they were not recorded."""

    totals: ClockTotals
    slots: int
    views: Views
    fault: MaskFault | None
    left: tuple[LeftLanes, ...]
    stretches: tuple[Stretch, ...]
    alus: tuple[AluStretch, ...]
    caches: tuple[CacheEvents, ...]
    thread_clocks: ThreadClocks
