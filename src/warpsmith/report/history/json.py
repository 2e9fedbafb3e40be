"""A run of a machine with clocks as one JSON document: its sums, and what is to be said of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from warpsmith.base.findings import Finding
from warpsmith.report.history.model import History, shares
from warpsmith.report.history.profile_text import profile_json
from warpsmith.report.json_parts import Json
from warpsmith.simt.clocks.model import CACHES, STATES

__all__ = ["history_json"]


def history_json(history: History, findings: Sequence[Finding], *, profile: bool = False) -> str:
    """Return sums of a run, clocks of slots and of lanes by state, events of caches, and findings; lines by lost lane
    clocks where a profile is asked for."""
    totals = history.run.totals
    document: Json = {
        "command": "simulate",
        "program": history.title,
        "machine": history.machine.title,
        "clocks": totals.clocks,
        "instructions": totals.instructions,
        "lane_instructions": totals.lane_instructions,
        "slots_per_core": history.run.slots,
        "slot_clocks": dict(zip(STATES, totals.slot_clocks, strict=True)),
        "lane_clocks": shares(history),
        "alu_clocks": totals.alu_clocks,
        "caches": {
            name: dict(zip(("hits", "misses", "evictions"), events, strict=True))
            for name, events in zip(CACHES, totals.cache_events, strict=True)
        },
        "dram_bytes": totals.dram_bytes,
        "findings": [
            {"rule": one.rule, "severity": one.severity, "message": one.message, "help": list(one.help),
             "line": one.span.line if one.span else None}
            for one in findings
        ],
    }  # fmt: skip
    if profile:
        document["profile"] = profile_json(history)
    return json.dumps(document, indent=2, ensure_ascii=False)
