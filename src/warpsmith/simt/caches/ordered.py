"""A launch is run, and its requests put into the order in which caches are taken to see them.

engine:     block by block, between two barriers warp by warp          (simt/memory.py)
here:       of each block, between two barriers, the first request of each warp, then the second of each …
"""

from __future__ import annotations

from typing import Final

import numpy as np

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.simt.caches.model import OrderedRequests
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.support import why_refused
from warpsmith.simt.engine.words import Array
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory, Trace
from warpsmith.ssa.nodes import Module

__all__ = ["order_requests", "trace_launch"]

_RECORDS: Final = 1 << 25
_SECTORS: Final = 1 << 27
"""What is written down at most: 1.6 GB, of which a launch takes what it uses."""
_PLAIN: Final = Checks(lost=False, requests=False, uninitialized=False, races=False)


def trace_launch(
    module: Module, kernel: str, launch: Launch, memory: LaunchMemory, progress: Progress = ignore_progress
) -> OrderedRequests | str:
    """Run a launch on `memory`, whose buffers it changes; return its requests to buffers, in order, or why there are
    none. Raises KeyError where there is no such kernel."""
    function = module.function(kernel)
    if function is None:
        raise KeyError(kernel)
    if why := why_refused(module, function, launch):
        return f"the compiled machine does not take the kernel: {why}"
    memory.trace = trace = Trace(_RECORDS, _SECTORS)
    ended = run(module, kernel, launch, memory, _PLAIN, progress=progress)
    if ended.why:
        return f"the run was stopped: {ended.why}"
    if trace.cut:
        return f"the launch has more than {_RECORDS:,} requests, or {_SECTORS:,} sectors: make it smaller"
    starts = np.array(sorted(buffer.address for buffer in memory.buffers), "<i8")
    return order_requests(*trace.written(), launch.blocks, starts)


def order_requests(records: Array, sectors: Array, blocks: int, arrays: Array) -> OrderedRequests:
    """Return the requests of a trace in the order in which they are served; `arrays`: where each begins, in bytes, in
    the order of their numbers."""
    block, epoch = records[:, 0] >> 32, records[:, 0] & 0xFFFFFFFF
    warp, kind, count = records[:, 1] >> 16, records[:, 1] >> 8 & 0xFF, records[:, 1] & 0xFF
    # how many requests of the same warp between the same barriers stand before each
    grouped = np.lexsort((warp, epoch, block))
    fresh = np.append(True, np.any([np.diff(one[grouped]) != 0 for one in (block, epoch, warp)], axis=0))
    place = np.arange(len(records))
    rank = np.empty(len(records), "<i8")
    rank[grouped] = place - np.maximum.accumulate(np.where(fresh[: len(records)], place, 0))
    order = np.lexsort((warp, rank, epoch, block))
    begins = np.cumsum(count) - count
    moved = np.repeat(begins[order] - (np.cumsum(count[order]) - count[order]), count[order])
    served = sectors[np.arange(len(sectors)) + moved]
    places = np.append(0, np.cumsum(count[order]))
    first = served[places[:-1]] * 32
    return OrderedRequests(
        np.searchsorted(block[order], np.arange(blocks + 1)),
        kind[order],
        np.maximum(0, np.searchsorted(arrays, first, "right") - 1),
        places,
        served,
    )
