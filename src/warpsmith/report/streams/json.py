"""A run of host code over streams as one JSON document."""

from __future__ import annotations

import json

from warpsmith.report.json_parts import Json
from warpsmith.report.streams.model import StreamReport

__all__ = ["streams_json"]


def streams_json(report: StreamReport) -> str:
    """Return a run as JSON."""
    document: Json = {
        "command": "simulate",
        "input": report.input,
        "host": report.host,
        "status": report.status,
        "exit_code": report.exit_code,
        "passes": [
            {"kernel": one.kernel, "line": one.line, "arguments": list(one.arguments), "height": one.height,
             "width": one.width, "warp_instructions": one.warp_instructions,
             "lane_instructions": one.lane_instructions}
            for one in report.passes
        ],
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
