"""A launch on the compiled machine: what it is given, and its rows as the records of model.py.

It goes on in parts of some million clocks, between which Ctrl-C and time limits are heard.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from warpsmith.simt.clocks.build import compiled_library
from warpsmith.simt.clocks.encode import encode_parameters, encode_program, encode_views
from warpsmith.simt.clocks.model import (
    CACHES,
    STATES,
    THREAD_STATES,
    AluStretch,
    CacheEvents,
    ClockLaunch,
    ClockRun,
    ClockTotals,
    LeftLanes,
    Stretch,
)
from warpsmith.simt.clocks.reference import run_reference, slots_for
from warpsmith.simt.mask.resources import place_views
from warpsmith.simt.mask.stack import FAULTS, MaskFault

__all__ = ["PACKAGE", "declare", "library", "run_clocks", "run_compiled"]

PACKAGE: Final = "warpsmith.simt.clocks"

_PART: Final = 2_000_000
_TOTALS: Final = 30
_LANES: Final = (1 << 64) - 1
Rows = npt.NDArray[np.int64]


def run_clocks(launch: ClockLaunch) -> ClockRun:
    """Run a launch: compiled, or by the reference where that cannot be; raises UsageError where the program does not
    fit the machine or its views."""
    return run_compiled(launch) if library(launch.machine.width) is not None else run_reference(launch)


def run_compiled(launch: ClockLaunch) -> ClockRun:
    """Run a launch on the compiled machine; raises UsageError as `run_clocks`, RuntimeError where there is none."""
    compiled = library(launch.machine.width)
    if compiled is None:
        raise RuntimeError("compiled/machine.c cannot be compiled here")
    slots = slots_for(launch)
    views = place_views(launch.program, launch.views)
    waves = _waves(launch)
    table, numbers = encode_views(views)
    program = encode_program(launch.program.instructions, numbers)
    parameters = encode_parameters(launch, slots, len(waves))
    machine = compiled.ws_begin(*[one.ctypes.data for one in (parameters, program, table, waves)])
    try:
        until = _PART
        while not compiled.ws_advance(machine, until, launch.most):
            until += _PART
        totals = np.zeros(_TOTALS, np.int64)
        compiled.ws_totals(machine, totals.ctypes.data)
        counted = [int(one) for one in totals]
        threads = launch.groups.size * launch.groups.count if launch.recorded else 0
        clocks = _words(compiled.ws_threads(machine), threads, len(THREAD_STATES))
        rows = [_rows(compiled, machine, kind, counted[25 + kind]) for kind in range(4)]
    finally:
        compiled.ws_end(machine)
    left = tuple(sorted(LeftLanes(wave, index, lanes & _LANES) for wave, index, lanes in rows[3][:, :3].tolist()))
    return ClockRun(
        _totals(counted),
        counted[29],
        views,
        _fault(counted[19:25]),
        left,
        _stretches(rows[0]),
        _alus(rows[1]),
        _events(rows[2]),
        clocks,
    )


def _waves(launch: ClockLaunch) -> Rows:
    """Return what `waves_of` does, of millions of waves too."""
    size, width = launch.groups.size, launch.machine.width
    starts = np.arange(0, size, width, dtype=np.int64)
    firsts = np.add.outer(np.arange(launch.groups.count, dtype=np.int64) * size, starts)
    lanes = np.broadcast_to(np.minimum(width, size - starts), firsts.shape)
    return np.stack([firsts.ravel(), lanes.ravel()], axis=1)


def _rows(compiled: ctypes.CDLL, machine: int, kind: int, count: int) -> Rows:
    """Return a copy of rows of eight words."""
    return _words(compiled.ws_rows(machine, kind), count, 8)


def _words(place: int, count: int, size: int) -> Rows:
    """Return a copy of what lies at an address."""
    if not count:
        return np.zeros((0, size), np.int64)
    held = (ctypes.c_int64 * (size * count)).from_address(place)
    rows: Rows = np.frombuffer(memoryview(held).cast("B"), np.int64).reshape(count, size).copy()
    return rows


def _totals(words: list[int]) -> ClockTotals:
    clocks, instructions, lanes = words[:3]
    events = tuple((words[9 + n], words[10 + n], words[11 + n]) for n in (0, 3, 6))
    return ClockTotals(clocks, instructions, lanes, tuple(words[3:8]), words[8], events, words[18])


def _fault(words: list[int]) -> MaskFault | None:
    kind, index, wave, lane, first, second = words
    return MaskFault(FAULTS[kind], index, wave, lane, (first, second)) if kind else None


def _stretches(rows: Rows) -> tuple[Stretch, ...]:
    order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
    return tuple(
        Stretch(core, slot, start, end, STATES[state], wave, index, mask & _LANES)
        for core, slot, start, end, state, wave, index, mask in rows[order].tolist()
    )


def _alus(rows: Rows) -> tuple[AluStretch, ...]:
    return tuple(sorted(AluStretch(*row) for row in rows[:, :5].tolist()))


def _events(rows: Rows) -> tuple[CacheEvents, ...]:
    counts: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for clock, core, which, event in rows[:, :4].tolist():
        counts[clock, core, which][event] += 1
    return tuple(sorted(CacheEvents(clock, core, CACHES[which], *n) for (clock, core, which), n in counts.items()))


# --- the library


@cache
def library(width: int) -> ctypes.CDLL | None:
    """Return the compiled machine for waves of so many lanes, None where it cannot be compiled."""
    found = compiled_library(PACKAGE, "machine.c", (f"-DWS_WIDTH={width}",))
    return None if found is None else declare(found)


def declare(found: ctypes.CDLL) -> ctypes.CDLL:
    """Return the library with the types of its functions."""
    pointer = ctypes.c_void_p
    found.ws_begin.argtypes, found.ws_begin.restype = [pointer] * 4, pointer
    found.ws_advance.argtypes, found.ws_advance.restype = [pointer, ctypes.c_int64, ctypes.c_int64], ctypes.c_int
    found.ws_totals.argtypes, found.ws_totals.restype = [pointer, pointer], None
    found.ws_threads.argtypes, found.ws_threads.restype = [pointer], pointer
    found.ws_rows.argtypes, found.ws_rows.restype = [pointer, ctypes.c_int], pointer
    found.ws_end.argtypes, found.ws_end.restype = [pointer], None
    return found
