"""A history as a trace that ui.perfetto.dev opens: a process for each core, a track for each slot.

Complete events that never overlap in a track; clocks are written as microseconds, and `otherData` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from warpsmith.report.history.model import History, line_of
from warpsmith.report.json_parts import Json

__all__ = ["history_perfetto"]


def history_perfetto(history: History) -> str:
    """Return all of a history as a trace."""
    document: Json = {
        "traceEvents": [*_names(history), *_events(history)],
        "displayTimeUnit": "ms",
        "otherData": {"clock": "clocks of the machine, as microseconds", "machine": history.machine.title},
    }
    return json.dumps(document, ensure_ascii=False)


def _names(history: History) -> Iterator[Json]:
    for core in range(history.machine.cores):
        yield {"ph": "M", "name": "process_name", "pid": core, "args": {"name": f"core {core}"}}
        for slot in range(history.run.slots):
            yield {"ph": "M", "name": "thread_name", "pid": core, "tid": slot, "args": {"name": f"slot {slot:02}"}}


def _events(history: History) -> Iterator[Json]:
    digits = max(1, history.machine.width // 4)
    for one in history.run.stretches:
        if one.state == "empty":
            continue
        line, text = line_of(history, one.index)
        mask = {"mask": f"0x{one.mask:0{digits}x}", "active": one.mask.bit_count()}
        seen = {"state": one.state, "wave": one.wave, **mask, "line": line}
        name = text if one.state == "active" else f"{one.state}: {text}"
        yield {"ph": "X", "name": name, "cat": one.state, "pid": one.core, "tid": one.slot, "ts": one.start,
               "dur": one.end - one.start, "args": seen}  # fmt: skip
