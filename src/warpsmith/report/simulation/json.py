"""A run of a kernel as one JSON document of the report's schema."""

from __future__ import annotations

import json

from warpsmith import __version__
from warpsmith.base.source import Span, readable
from warpsmith.report.json_parts import SCHEMA, Json, finding_json, span_json
from warpsmith.report.simulation.caches import caches_json
from warpsmith.report.simulation.model import (
    BlockRow,
    Check,
    MemoryRow,
    Mistake,
    PolicyRow,
    SimulationReport,
    TimelineGroup,
)

__all__ = ["simulation_json"]

_KEYS: dict[Check, str] = {
    "race": "races",
    "oob": "out_of_bounds",
    "uninit": "uninitialized",
    "barrier": "barrier_errors",
    "fault": "faults",
}


def simulation_json(report: SimulationReport) -> str:
    """Return the report as JSON; the key of a check that was not asked for is absent."""
    document: Json = {
        "schema": SCHEMA,
        "command": "simulate",
        "version": __version__,
        "inputs": list(report.inputs),
        "status": report.status,
        "diagnostics": [finding_json(finding) for finding in report.diagnostics],
    }
    if report.work is not None:
        document["findings"] = [finding_json(mistake.finding) for mistake in report.mistakes]
        document["simulation"] = _simulation(report)
        document["timing_s"] = {key: round(value, 4) for key, value in report.timing_s.items()}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _simulation(report: SimulationReport) -> Json:
    work, launch = report.work, report.launch
    assert work is not None
    assert launch is not None
    entry: Json = {
        "kernel": report.kernel,
        "device": report.device,
        "launch": {
            "grid": list(launch.grid),
            "block": list(launch.block),
            "shared_bytes": launch.shared_bytes,
            "arguments": list(launch.arguments),
            "seed": launch.seed,
            "warps": launch.warps,
            **({"counted_blocks": list(launch.counted_blocks)} if launch.counted_blocks else {}),
            **({"counted_warps": list(launch.counted_warps)} if launch.counted_warps else {}),
        },
        "warp_width": report.warp_width,
        "policy": "maximal reconvergence",
        "warp_instructions": work.warp_instructions,
        "lane_instructions": work.lane_instructions,
        "issued_lane_slots": work.issued_slots,
        "unfilled_lane_slots": work.unfilled_slots,
        "simd_efficiency": round(work.efficiency, 6),
        "branches": [
            _place_json(row.span)
            | {
                "op": row.op,
                "visits": row.visits,
                "divergences": row.divergences,
                "lost_lane_slots": row.lost_lane_slots,
            }
            for row in report.branches
        ],
        "memory": [_memory(row) for row in report.memory],
        "checks": list(report.checks),
        "outputs": [
            {"name": row.name, "type": row.type, "elements": row.elements, "changed": row.changed}
            | {"first": list(row.first)}
            | ({"file": row.file} if row.file else {})
            for row in report.outputs
        ],
    }
    for check in (*report.checks, "fault"):
        found = [_mistake(mistake) for mistake in report.mistakes if mistake.check == check]
        if found or check != "fault":
            entry[_KEYS[check]] = found
    if report.blocks:
        entry["blocks"] = [_block(row) for row in report.blocks]
    if report.caches is not None:
        entry["caches"] = caches_json(report.caches)
    if report.policies:
        entry["policies"] = [_policy(row) for row in report.policies]
    return entry | ({"timeline": [_group(group) for group in report.timeline]} if report.timeline else {})


def _memory(row: MemoryRow) -> Json:
    return _place_json(row.span) | {
        "kind": row.kind,
        "space": row.space,
        "variable": readable(row.variable),
        "requests": row.requests,
        "lanes": row.lanes,
        "sectors": row.sectors,
        "ideal_sectors": row.ideal,
        "bank_conflicts": row.bank_conflicts,
    }


def _block(row: BlockRow) -> Json:
    return _place_json(row.span) | {
        "instructions": row.instructions,
        "visits": row.visits,
        "lanes": row.lanes,
        "lost_lane_slots": row.lost_lane_slots,
    }


def _policy(row: PolicyRow) -> Json:
    return {
        "policy": row.policy,
        "warp_instructions": row.warp_instructions,
        "lane_instructions": row.lane_instructions,
        "issued_lane_slots": row.issued_slots,
        "lost_lane_slots": row.lost_lane_slots,
        "waiting_sets": row.waiting,
        "differs": [readable(name) for name in row.differs],
        **({"stopped": row.stopped} if row.stopped else {}),
    }


def _place_json(span: Span | None) -> Json:
    return {} if span is None else {"span": span_json(span)}


def _mistake(mistake: Mistake) -> Json:
    entry: Json = {
        "text": readable(mistake.finding.message),
        "block": mistake.block,
        "thread": mistake.thread,
        "times": mistake.times,
    }
    entry |= {"variable": mistake.variable} if mistake.variable else {}
    if mistake.other is not None:
        place = _place_json(mistake.finding.related[0].span if mistake.finding.related else None)
        entry["other"] = {"block": mistake.other[0], "thread": mistake.other[1]} | place
    return entry | _place_json(mistake.finding.span)


def _group(group: TimelineGroup) -> Json:
    return {
        "steps": [{"first": s.first, "count": s.count, "line": s.line} for s in group.steps],
        "columns": [
            {"warps": [list(warp) for warp in column.warps], "masks": [f"{mask:#x}" for mask in column.masks]}
            for column in group.columns
        ],
    }
