"""An experiment as one JSON document of the report's schema."""

from __future__ import annotations

from warpsmith.base.source import readable
from warpsmith.report.experiment.model import ExperimentReport, ExperimentRun
from warpsmith.report.json_parts import Json, document, span_json

__all__ = ["experiment_json"]


def experiment_json(report: ExperimentReport) -> str:
    """Return the report as JSON."""
    rows: Json = {}
    if report.points:
        points = [_point(point) for point in report.points]
        rows = {"experiment": {"kernel": readable(report.kernel), "varied": report.varied, "points": points}}
    return document("experiment", report.inputs, rows, report.status, report.diagnostics)


def _point(point: ExperimentRun) -> Json:
    entry: Json = {"value": point.value, "input": point.input}
    if point.stopped:
        return entry | {"stopped": point.stopped}
    counts: Json = {
        "warp_instructions": point.warp_instructions,
        "lane_instructions": point.lane_instructions,
        "issued_lane_slots": point.issued_slots,
        "lost_lane_slots": point.lost_lane_slots,
        "cost": round(point.cost, 6),
    }
    if point.clocks:
        counts["clocks"] = point.clocks
    if point.hot is None:
        return entry | counts
    return (
        entry | counts | {"hot": {"span": span_json(point.hot), "visits": point.hot_visits, "lanes": point.hot_lanes}}
    )
