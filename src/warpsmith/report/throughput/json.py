"""The report on threads a second as JSON, of the report's schema."""

from __future__ import annotations

from warpsmith.report.analysis.predicted import predicted_json
from warpsmith.report.json_parts import Json, document, finding_json
from warpsmith.report.throughput.model import GpuThroughput, ThroughputReport, ThroughputRow

__all__ = ["throughput_json"]


def throughput_json(report: ThroughputReport) -> str:
    """Return the document."""
    paths = list(dict.fromkeys(row.path for row in report.rows))
    diagnostics = [one for row in report.rows for one in row.findings]
    return document("analyze", paths, {"throughput": [_row(row) for row in report.rows]}, report.status, diagnostics)


def _row(row: ThroughputRow) -> Json:
    made: Json = {"path": row.path, "kernel": row.kernel, "findings": [finding_json(one) for one in row.findings]}
    if not row.gpus:
        return made
    launch: Json = {"block": list(row.block), "grid": list(row.grid), "guessed": list(row.guessed)}
    return made | launch | {"gpus": [_gpu(one) for one in row.gpus]}


def _gpu(one: GpuThroughput) -> Json:
    found, sass = one.throughput, one.sass
    return {
        "device": one.device.name, "title": one.device.title, "arch": one.device.arch, "registers": one.registers,
        "registers_source": "estimate" if sass is None else "ptxas", "spill_bytes": one.spill_bytes,
        "unread": one.unread,
        "sass_instructions": None if sass is None else sass.instructions,
        "loads": None if sass is None else sass.loads,
        "cycles_a_warp": None if found is None else found.cycles,
        "mega_threads_per_second": None if found is None else found.mega_threads,
        "decides": None if found is None else found.decides,
        "at_least": list(one.predicted.forks), "lacks": list(one.predicted.lacks),
        "predicted": predicted_json(one.predicted, None),
    }  # fmt: skip
