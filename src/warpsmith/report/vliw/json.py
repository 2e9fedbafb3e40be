"""The report on programs of AMD IL as JSON, of the report's schema."""

from __future__ import annotations

from warpsmith.front.il.printing import print_il
from warpsmith.report.json_parts import Json, document, finding_json
from warpsmith.report.vliw.model import VliwReport, VliwRow
from warpsmith.targets.il.optimize import IlStep, Optimized
from warpsmith.targets.r600.assembly import print_r600

__all__ = ["vliw_json"]


def vliw_json(report: VliwReport) -> str:
    """Return the document."""
    paths = [row.path for row in report.rows]
    diagnostics = [one for row in report.rows for one in row.findings]
    return document("analyze", paths, {"programs": [_row(row) for row in report.rows]}, report.status, diagnostics)


def _row(row: VliwRow) -> Json:
    made: Json = {"path": row.path, "about": row.about, "findings": [finding_json(one) for one in row.findings]}
    if row.segments:
        made["segments"] = {
            generation: [
                {"first": one.first, "last": one.last, "bundles": one.bundles, "bound": one.bound,
                 "fetches": one.fetches}
                for one in segments
            ]
            for generation, segments in row.segments.items()
        }  # fmt: skip
    if row.figures is None:
        return made
    made["generations"] = {
        generation: {
            "bundles": code.code.bundles, "bound": code.bound, "fetches": code.code.fetches,
            "registers": code.code.registers, "operations": code.operations, "division": code.divides,
            "assembly": print_r600(code.code),
        }
        for generation, code in row.figures.codes.items()
    }  # fmt: skip
    made["gpus"] = [
        {
            "name": one.gpu.name, "title": one.gpu.title, "chip": one.gpu.chip, "generation": one.gpu.generation,
            "cycles": float(one.cycles), "mega_threads_per_second": one.mega_threads, "source": one.gpu.source,
        }
        for one in row.figures.gpus
    ]  # fmt: skip
    if row.optimized is not None:
        made["shorter"] = _optimized(row.optimized)
    return made


def _optimized(optimized: Optimized) -> Json:
    return {
        "done": [_done(one) for one in optimized.done],
        "offered": [_done(one) for one in optimized.offered],
        "refused": [{"title": one.title, "witness": one.witness} for one in optimized.refused],
        "program": print_il(optimized.program),
    }


def _done(one: IlStep) -> Json:
    return {
        "title": one.title, "line": one.line, "conditions": list(one.conditions), "before": one.before,
        "bundles": one.bundles,
    }  # fmt: skip
