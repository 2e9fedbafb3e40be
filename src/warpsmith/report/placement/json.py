"""Where a policy puts the arrays of each nest, as JSON: the key `placement` of schema `warpsmith-report/1`."""

from __future__ import annotations

from warpsmith.base.source import readable
from warpsmith.report.json_parts import Json, span_json
from warpsmith.report.placed import ArrayRow, PolicyReport

__all__ = ["placement_json"]


def placement_json(found: PolicyReport) -> Json:
    """Return what a policy has decided."""
    return {
        "policy": found.policy,
        "platform": found.platform,
        "device": found.device,
        "shared_bytes": found.capacity,
        "steps": [readable(step) for step in found.steps],
        "nests": [
            {
                "kernel": nest.kernel,
                "loop": nest.loop,
                "span": span_json(nest.span),
                "counters": list(nest.counters),
                "arrays": [_row(row) for row in nest.rows],
            }
            for nest in found.nests
        ],
    }


def _row(row: ArrayRow) -> Json:
    array = row.placed.array
    made: Json = {
        "array": array.name,
        "reference": readable(row.reference),
        "more_references": row.more,
        "classes": list(row.classes),
        "rank": array.rank,
        "depth": array.depth,
        "walk": array.walk,
        "bytes": array.bytes,
        "location": row.placed.location,
        "rule": row.placed.rule,
        "overflows": row.placed.overflows,
        "ported": row.ported,
        "effect": "removes redundant access" if row.removes_redundant_access else "none",
    }
    return {**made, "why": readable(row.why)} if row.why else made
