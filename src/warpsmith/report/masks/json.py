"""Masks of a wave as one JSON document; masks are hexadecimal, bit 0 is lane 0."""

from __future__ import annotations

import json

from warpsmith.report.json_parts import Json
from warpsmith.report.masks.model import MaskReport

__all__ = ["masks_json"]


def masks_json(report: MaskReport) -> str:
    """Return a run as JSON."""
    document: Json = {
        "command": "simulate",
        "program": report.title,
        "machine": report.machine,
        "lanes": report.lanes,
        "waves": report.waves,
        "instructions": report.instructions,
        "shown": report.shown,
        "executed": report.executed,
        "masks": [{"line": step.line, "text": step.text, "mask": f"{step.mask:#x}"} for step in report.steps],
        "outputs": [
            {"name": row.name, "type": row.type, "elements": row.elements, "changed": row.changed,
             "first": list(row.first), "file": row.file}
            for row in report.outputs
        ],
        "findings": [
            {"rule": one.rule, "severity": one.severity, "message": one.message, "help": list(one.help),
             "line": one.span.line if one.span else None}
            for one in report.findings
        ],
    }  # fmt: skip
    return json.dumps(document, indent=2, ensure_ascii=False)
