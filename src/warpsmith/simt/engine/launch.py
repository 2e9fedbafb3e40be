"""One launch of a compiled kernel: it runs, and its counters are read.

It runs apart (apart.py): Ctrl-C and time limits reach another thread, which sets State.LEAVE. Every loop of the kernel
looks at it, so counters are whole whenever the machine code returns. Blocks run a few at a time, so that it can be
reported how far it is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.progress import Activity, Progress
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.compile import CompiledKernel
from warpsmith.simt.engine.counts import EngineCounts, RequestSum
from warpsmith.simt.engine.instructions import len_of_site
from warpsmith.simt.engine.stopped import Stopped
from warpsmith.simt.engine.tables import LaunchTables
from warpsmith.simt.engine.words import Array, LaunchWords, RequestWords, Stop
from warpsmith.simt.engine.writing.blocks import COUNTERS
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory, allocate_shared
from warpsmith.simt.tally import Totals
from warpsmith.ssa.nodes import Module

__all__ = ["Ended", "run_launch"]

_Entry = Callable[[int, int, int], None]
_CHUNK = 1 << 16
"""Threads that run before it is reported how far the launch is, at least a block."""


class Ended(Struct, frozen=True):
    """How a launch ended: why it was stopped, where; what was counted so far."""

    stopped: Stopped
    counts: EngineCounts


def run_launch(
    code: CompiledKernel, module: Module, launch: Launch, memory: LaunchMemory, *, state: Array, progress: Progress
) -> Ended:
    """Run a compiled kernel on `memory`, whose buffers it changes; `state` is its record, as new_state makes it."""
    tables = LaunchTables(code, module, launch, memory, places=allocate_shared(module, memory), state=state)
    run: _Entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(code.entry)
    sizes = np.array([segment.count for segment in code.segments])
    step = max(1, _CHUNK // launch.threads)
    for first in range(0, launch.blocks, step):
        done = sum(tables.full[1::COUNTERS]) + sum(tables.partial[1::COUNTERS])
        progress(Activity("simulating", f"blocks, {done:,} visits of lanes", first, launch.blocks))
        run(state.ctypes.data, first, min(first + step, launch.blocks))
        if state[LaunchWords.LEAVE] or int((tables.full + tables.partial)[1::COUNTERS] @ sizes) > launch.max_steps:
            break
    counts = _counts(tables)
    why = Stop(int(state[LaunchWords.STOP]))
    if why is Stop.NONE and state[LaunchWords.LEAVE]:
        why = Stop.INTERRUPTED
    if why is Stop.NONE and counts.totals.lane_instructions > launch.max_steps:
        why = Stop.BUDGET
    return Ended(_find_stop(why, tables), counts)


def _find_stop(why: Stop, tables: LaunchTables) -> Stopped:
    """Return where a launch stopped."""
    code, words = tables.code, [int(word) for word in tables.state]
    found = Stopped(why, words[LaunchWords.STOP_BLOCK], words[LaunchWords.STOP_THREAD])
    if words[LaunchWords.STOP_SITE]:
        number = (words[LaunchWords.STOP_SITE] - words[LaunchWords.SITES]) // (8 * len_of_site())
        access = code.sites[number]
        return replace(found, access=access, address=words[LaunchWords.STOP_ADDRESS] % 2**64, size=code.sizes[access])
    blocks, at = code.function.blocks, words[LaunchWords.STOP_ADDRESS]
    return replace(found, at=blocks[at]) if words[LaunchWords.STOP] and 0 <= at < len(blocks) else found


def _counts(tables: LaunchTables) -> EngineCounts:
    """Return what was counted."""
    width, launch = tables.code.width, tables.launch
    rest = launch.threads % width
    totals, rows = Totals(), {block: [0, 0, 0, 0] for block in tables.code.function.blocks}
    for number, segment in enumerate(tables.code.segments):
        size, at = segment.count, COUNTERS * number
        whole, part = ([int(n) for n in counters[at : at + COUNTERS]] for counters in (tables.full, tables.partial))
        visits, lanes, divergences = (one + other for one, other in zip(whole, part, strict=True))
        totals.warp_instructions += visits * size
        totals.lane_instructions += lanes * size
        totals.issued_slots += visits * size * width
        totals.unfilled += part[0] * size * (width - rest)
        begins = segment.start == 0
        lost = (whole[0] * width + part[0] * rest - lanes) * size
        for column, more in enumerate((visits * begins, lanes * begins, divergences, lost)):
            rows[segment.block][column] += more
    for number, block in enumerate(tables.code.function.blocks):
        if tables.lost[number]:
            totals.lost[block.terminator] = int(tables.lost[number])
    blocks = {block: BlockCount(*row) for block, row in rows.items()}
    waiting = int(tables.state[LaunchWords.WAITING])
    return EngineCounts(blocks, totals, tuple(_requests(tables)), waiting)


def _requests(tables: LaunchTables) -> Iterator[RequestSum]:
    """Yield the sums of the requests of each site to each region."""
    count = len(tables.code.sites) * len(tables.rows)
    rows = tables.requests[: count * len(RequestWords)].reshape(count, len(RequestWords))
    for number, row in enumerate(rows):
        if row[RequestWords.REQUESTS]:
            site, region = divmod(number, len(tables.rows))
            place = tables.places[region]
            yield RequestSum(tables.code.sites[site], place.space, place.address, *(int(n) for n in row))
