"""A survey as JSON: the report's schema (warpsmith-report/1), with `survey` for what only a survey has."""

from __future__ import annotations

from warpsmith import __version__
from warpsmith.report.json_parts import SCHEMA, Json, finding_json
from warpsmith.report.json_text import json_text
from warpsmith.report.survey.model import Spot, SurveyLoop, SurveyReason, SurveyReport
from warpsmith.report.survey.rank import ranking

__all__ = ["survey_json"]


def survey_json(report: SurveyReport) -> str:
    """Return the survey as one JSON document."""
    document: Json = {
        "schema": SCHEMA,
        "command": "survey",
        "version": __version__,
        "inputs": list(report.inputs),
        "status": report.status,
        "diagnostics": [finding_json(finding) for finding in report.findings],
        "loops": [_loop(loop) for loop in report.loops],
        "survey": {
            "root": report.root,
            "units": report.units,
            "read_again": report.read,
            **({"not_in_time": list(report.late)} if report.late else {}),
            "lines": report.lines,
            "total": len(report.loops),
            "categories": dict(report.categories),
            "basis": "measured" if report.measured else "estimated",
            "first": [{"id": loop.id, "span": _span(loop.spot)} for loop in ranking(report.loops).first],
            "blockers": [
                {"construct": b.construct, "loops": b.count, "share": round(b.share, 6), "example": _span(b.example)}
                for b in report.blockers
            ],
        },
        "timing_s": {key: round(value, 4) for key, value in report.timing_s.items()},
    }
    return json_text(document)


def _span(spot: Spot) -> Json:
    return {
        "file": spot.file,
        "line": spot.line,
        "column": spot.column,
        "end_line": spot.end_line,
        "end_column": spot.end_column,
    }


def _loop(loop: SurveyLoop) -> Json:
    weight: Json = {"share": round(loop.share, 6), "own": round(loop.own, 6), "work": loop.work}
    if loop.measured:
        measured: Json = {
            "entries": loop.entries, "iterations": loop.iterations, "seconds": loop.seconds, "bytes": loop.bytes,
            "copied": loop.copied, "gain_s": loop.gain_alone, "gain_kept_s": loop.gain_kept,
        }  # fmt: skip
        weight["measured"] = {key: value for key, value in measured.items() if value is not None}
    return {
        "id": loop.id,
        "span": _span(loop.spot),
        "function": loop.function,
        "variable": loop.variable,
        "depth": loop.depth,
        "category": loop.category,
        "ported": False,
        "kernel": None,
        "assumptions": [{"text": text, "kind": kind} for text, kind in loop.assumptions],
        "reasons": [_reason(reason) for reason in loop.reasons],
        "weight": weight,
        "units": list(loop.units),
        **({"steps": list(loop.steps)} if loop.steps else {}),
        **({"construct": loop.construct} if loop.construct else {}),
    }


def _reason(reason: SurveyReason) -> Json:
    entry: Json = {"rule": reason.rule, "text": reason.text}
    if reason.spot is not None:
        entry["span"] = _span(reason.spot)
    if reason.dependence is not None:
        found = reason.dependence
        entry["dependence"] = {
            "kind": found.kind,
            "variable": found.variable,
            "distance": None if None in found.distance else list(found.distance),
            "direction": list(found.direction),
            "carried_by": found.carried_by,
            "from": _span(found.source),
            "to": _span(found.sink),
            "witness": found.witness,
        }
    if reason.legal_if:
        entry["legal_if"] = list(reason.legal_if)
    return entry
