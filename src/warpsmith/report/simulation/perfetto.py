"""A run of a kernel as a trace that ui.perfetto.dev and chrome://tracing open: a track for each warp.

Complete events only, which never overlap in a track: a run of instructions of one line with one mask. Time is the
number of the warp's instruction, written as microseconds: it is no time, and `otherData` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from warpsmith.report.json_parts import Json
from warpsmith.report.simulation.model import SimulationReport

__all__ = ["simulation_perfetto"]

_MOST: Final = 100_000


def simulation_perfetto(report: SimulationReport) -> str:
    """Return the timeline of a report as a trace."""
    events = list(_events(report))
    if len(events) > _MOST:
        end = events[_MOST]["ts"]
        note = {
            "name": f"cut off: {len(events) - _MOST:,} more events",
            "ph": "i",
            "s": "g",
            "ts": end,
            "pid": 0,
            "tid": 0,
        }
        events = [*events[:_MOST], note]
    document: Json = {
        "traceEvents": [*_names(report), *events],
        "displayTimeUnit": "ms",
        "otherData": {"clock": "instructions of the warp, as microseconds", "kernel": report.kernel},
    }
    return json.dumps(document, ensure_ascii=False)


def _names(report: SimulationReport) -> Iterator[Json]:
    warps = sorted({warp for group in report.timeline for column in group.columns for warp in column.warps})
    wide = len(str(max((warp for _, warp in warps), default=0)))
    for block in sorted({block for block, _ in warps}):
        yield {"ph": "M", "name": "process_name", "pid": block, "args": {"name": f"block {block}"}}
    for block, warp in warps:
        name = {"name": f"warp {warp:0{max(2, wide)}}"}
        yield {"ph": "M", "name": "thread_name", "pid": block, "tid": warp, "args": name}


def _events(report: SimulationReport) -> Iterator[Json]:
    digits = report.warp_width // 4
    for group in report.timeline:
        for column in group.columns:
            for block, warp in column.warps:
                for step, mask in zip(group.steps, column.masks, strict=True):
                    seen = {"mask": f"0x{mask:0{digits}x}", "active": mask.bit_count(), "line": step.line}
                    place = {"pid": block, "tid": warp, "ts": step.first, "dur": step.count}
                    yield {"ph": "X", "name": step.text or "?", "cat": "warp", **place, "args": seen}
