"""The mappings of a nest as JSON: the key `mappings` of schema `warpsmith-report/1`."""

from __future__ import annotations

from warpsmith.base.source import readable
from warpsmith.machine.tables import TableScore
from warpsmith.offload.mapping.candidates import ReferenceScore, ScoredMapping
from warpsmith.report.json_parts import Json, document, span_json
from warpsmith.report.mappings.model import MappingsReport, NestMappings

__all__ = ["mappings_json"]


def mappings_json(report: MappingsReport) -> str:
    """Return the report as one JSON document."""
    found: Json = {
        "loop": report.loop,
        "span": span_json(report.header),
        "nests": [_nest(nest) for nest in report.nests],
        **({"refused": readable(report.refused)} if report.refused else {}),
    }
    return document("explain", [report.file], {"mappings": found})


def _nest(nest: NestMappings) -> Json:
    return {
        "kernel": nest.kernel,
        "loop": nest.loop,
        "span": span_json(nest.header),
        "counters": list(nest.counters),
        "references": [
            {"text": readable(one.text), "reads": one.reads, "writes": one.writes, "weight": one.weight}
            for one in nest.references
        ],
        "choices": [_choice(nest, place) for place in range(len(nest.mappings))],
        "winners": [{"model": one.chooser, "choice": one.place, "ties": one.ties} for one in nest.winners],
        "port": {"axes": list(nest.port[0]), "block": list(nest.port[1]), "tiled": nest.tiled},
        "assumed": [readable(text) for text in nest.assumed],
    }


def _choice(nest: NestMappings, place: int) -> Json:
    one: ScoredMapping = nest.mappings[place]
    made: Json = {
        "axes": list(one.axes),
        "block": list(one.block),
        "sectors_per_request": one.sectors,
        "lines_per_thread": one.lines,
        "counted": one.counted,
        "scores": [_score(one.scores[reference.score]) for reference in nest.references],
    }
    made |= {} if one.printed is None else {"printed_lines_per_thread": one.printed}
    return made if nest.seconds[place] is None else {**made, "seconds": nest.seconds[place]}


def _score(score: ReferenceScore) -> Json:
    made: Json = {"sectors": score.sectors, "lines_per_thread": score.lines}
    return made if score.table is None else {**made, "table": _table(score.table, mistaken=score.is_mistaken)}


def _table(found: TableScore, *, mistaken: bool) -> Json:
    entry = found.entry
    made: Json = {
        "entry": entry.name,
        "printed": entry.printed,
        "verdict": entry.verdict,
        "lines_per_thread": found.lines,
        "right": found.right,
        "mistaken": mistaken,
    }
    return {**made, "restored": entry.restored} if entry.restored else made
