"""Memory that the compiled kernel and Python share: records of 64-bit words, numbered here once for both.

State    one for a launch: what the kernel asks of its launch, where its tables are, why it stopped
Region   one for each variable and buffer: where it is for the kernel and for the host
Site     one for each instruction that accesses memory: the region that it last touched, so that it is found at once
Request  one for each site and region: sums of what the requests of warps cost
Cell     16 bytes for each granule of watched memory, see observers/races.py
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import numpy as np

__all__ = [
    "GIVES_WAY",
    "ROOM",
    "STOPS",
    "Array",
    "LaunchWords",
    "RegionWords",
    "RequestWords",
    "SiteWords",
    "Stop",
    "new_state",
]  # fmt: skip

Array = np.ndarray[Any, Any]


class LaunchWords(IntEnum):
    """Words of the launch. STOP is 0 while all is well; what stands behind it is about the first cause. LEAVE is 0
    until the kernel has to return: it stopped, or is asked to by another thread, which writes no other word. FULL and
    PARTIAL: counters of whole warps, and of those with fewer threads. INDICES: tid.x, .y, .z of all threads, PADDED
    numbers each. CLEARED: (address, bytes) of what is zero when a block starts. REDUCED: how many threads brought true
    to the last barrier, and how many came. PLACES: where each variable is; BYTES: of dynamic shared memory. WAITING:
    sets of lanes of a warp that waited for their turn at most, where a policy is shown. ASK: a function of Python that
    answers what is not compiled (ops/asked.py). PASSED: a bit for each block of the kernel that lanes have ended in
    (writing/ends.py). WIDTH: lanes of a warp. DEPTH: calls that the warp is in; LEVELS: how many of them are of each
    function that has arrays for each call; ARRAYS: the regions of those; STRIDE: from such an array to that of the next
    level; LEVEL_BYTES: of a level of the local memory of all threads; MOST_LEVELS: for how many there is memory. ROOMS:
    a row for each block that is resident together with the others (ROOM); GRID: how many barriers of the grid have
    opened, at bit GRID_BIT (observers/races.py). SLICE: how often the warp may begin a loop again that may wait for
    others before it gives way. TRACE: what requests are written down in (simt/memory.py)."""

    STOP = 0
    STOP_SITE = 1
    STOP_THREAD = 2
    STOP_BLOCK = 3
    STOP_ADDRESS = 4
    BUDGET = 5
    REGIONS = 6
    REGION_COUNT = 7
    SITES = 8
    PARAMETERS = 9
    INDICES = 10
    PADDED = 11
    THREADS = 12
    WARPS = 13
    BLOCK = 14
    EPOCH = 15
    FULL = 16
    PARTIAL = 17
    FRAMES = 18
    STATUS = 19
    WARP_EPOCHS = 20
    LOG = 21
    LOGS = 22
    LOST = 23
    CLEARED = 24
    CLEARED_COUNT = 25
    WIDTH = 26
    REDUCED = 27
    NTID_X = 28
    NTID_Y = 29
    NTID_Z = 30
    NCTAID_X = 31
    NCTAID_Y = 32
    NCTAID_Z = 33
    CTAID_X = 34
    CTAID_Y = 35
    CTAID_Z = 36
    DYNAMIC = 37
    PLACES = 38
    BYTES = 39
    LOG_BYTES = 40
    FRAME_BYTES = 41
    LEAVE = 42
    WAITING = 43
    ASK = 44
    PASSED = 45
    DEPTH = 46
    LEVELS = 47
    ARRAYS = 48
    STRIDE = 49
    LEVEL_BYTES = 50
    MOST_LEVELS = 51
    ROOMS = 52
    GRID = 53
    SLICE = 54
    TRACE = 55


def new_state() -> Array:
    """Return the record of a launch that has not begun, and that nobody has asked to leave."""
    return np.zeros(len(LaunchWords), "<i8")


ROOM: Final = (
    LaunchWords.REGIONS,
    LaunchWords.SITES,
    LaunchWords.FRAMES,
    LaunchWords.STATUS,
    LaunchWords.WARP_EPOCHS,
    LaunchWords.LOGS,
    LaunchWords.REDUCED,
    LaunchWords.EPOCH,
    LaunchWords.PASSED,
)
"""Words that each of the blocks has for itself that are resident together, in the order of its row; behind them the
number of the barrier at which it waits."""
GIVES_WAY: Final = -1
"""What a warp, or a block, returns in place of the number of a barrier where it can go on, and lets others do so."""


class RegionWords(IntEnum):
    """Words of a region. A byte at address a of the kernel is at a + DELTA + thread × STRIDE of the host; whether it is
    known, at a + KNOWN + thread × STRIDE (KNOWN 0: all is). CELLS: its first cell, 0 where no races are looked for.
    CONSTANT: the reason to stop where it is written, 0 where it may be."""

    LOW = 0
    LENGTH = 1
    DELTA = 2
    STRIDE = 3
    KNOWN = 4
    CELLS = 5
    CONSTANT = 6
    NUMBER = 7


class SiteWords(IntEnum):
    """Words of a site: a copy of the region that it last touched (its words first), and how far an access may start
    from LOW, plus one; 0 while there is none. SUMS: its first request sums."""

    SPAN = 8
    SIZE = 9
    SUMS = 10


class RequestWords(IntEnum):
    """Sums over the requests of one site that touched one region."""

    REQUESTS = 0
    LANES = 1
    SECTORS = 2
    IDEAL = 3
    CONFLICTS = 4


class Stop(IntEnum):
    """Why a compiled kernel stopped, or what it saw that the interpreter has to tell."""

    NONE = 0
    BOUNDS = 1
    ALIGNMENT = 2
    CONSTANT = 3
    UNINITIALIZED = 4
    RACE = 5
    BUDGET = 6
    TRAP = 7
    UNREACHABLE = 8
    BARRIER = 9
    EXCHANGE = 10
    INTERRUPTED = 12
    OVERFLOW = 13
    WRITTEN = 14
    ASKED = 15
    DEPTH = 16
    LEVELS = 17
    ROOM = 18
    WAITS = 19


STOPS = {
    Stop.BOUNDS: "an access out of bounds",
    Stop.ALIGNMENT: "an address out of step",
    Stop.CONSTANT: "a write to constant memory",
    Stop.UNINITIALIZED: "a read of what was never written",
    Stop.RACE: "a data race",
    Stop.BUDGET: "more steps than are allowed",
    Stop.TRAP: "a trap",
    Stop.UNREACHABLE: "control at a place that it never should get to",
    Stop.BARRIER: "a barrier that not all threads come to together",
    Stop.EXCHANGE: "an exchange between lanes that are not together",
    Stop.INTERRUPTED: "an interruption",
    Stop.OVERFLOW: "a signed number that overflows",
    Stop.WRITTEN: "a write to what was taken for memory that is only read",
    Stop.ASKED: "a function that has no result here",
    Stop.DEPTH: "a function that is called too deep",
    Stop.LEVELS: "local arrays of more calls than there is memory for",
    Stop.WAITS: "a block that seems to wait for others",
    Stop.ROOM: "blocks that wait for each other, which need more memory together than they get",
}
"""In words."""
