"""The access patterns of a nest as JSON: the key `patterns` of schema `warpsmith-report/1`."""

from __future__ import annotations

import json

from warpsmith import __version__
from warpsmith.base.source import readable
from warpsmith.offload.mapping.landing import Landing
from warpsmith.poly.patterns.model import ArrayReference, MatrixRow
from warpsmith.report.accesses.model import AccessFigures, AccessReport, SpaceEntry, direction_lists, sharing_words
from warpsmith.report.json_parts import SCHEMA, Json, count_json, span_json

__all__ = ["accesses_json", "space_json"]


def accesses_json(report: AccessReport) -> str:
    """Return the report as one JSON document."""
    document: Json = {
        "schema": SCHEMA,
        "command": "explain",
        "version": __version__,
        "inputs": [report.file],
        "status": "ok",
        "diagnostics": [],
        "patterns": {
            "loop": report.nest.loop,
            "span": span_json(report.nest.header),
            "spaces": [space_json(entry) for entry in report.spaces],
            **({"refused": report.refused} if report.refused else {}),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def space_json(entry: SpaceEntry) -> Json:
    """Return one run of loops with its references."""
    space = entry.space
    made: Json = {
        "counters": [{"name": c.name, "loop": c.loop} for c in space.counters],
        "parameters": list(space.parameters),
        "references": [_reference(entry, reference) for reference in space.references],
        "groups": [
            {
                "earlier": group.earlier,
                "later": group.later,
                "direction": list(group.direction),
                **_lands(entry.group_lands(group)),
            }
            for group in space.groups
        ],
        "alike": [{"arrays": [a.first, a.second], "rows": list(a.rows)} for a in space.alike],
        "one_nest": [list(direction) for direction in space.one_nest],
    }
    if words := sharing_words(space):
        made["sharing"] = words
    if entry.figures:
        made["directions"] = direction_lists(space)
    if entry.place is not None:
        made["kernels"] = list(dict.fromkeys(filter(None, entry.kernels)))
        made["mapping"] = list(entry.place.loops)
        made["block"] = list(entry.place.block)
    return made


def _reference(entry: SpaceEntry, reference: ArrayReference) -> Json:
    made: Json = {
        "text": readable(reference.text),
        "array": reference.array,
        "reads": reference.reads,
        "writes": reference.writes,
        "matrix": [_row(row) for row in reference.rows],
        "rank": reference.rank,
        "depth": entry.space.depth,
        "classes": list(reference.classes),
        "reuse": [{"direction": list(d), **_lands(entry.reuse_lands(reference, d))} for d in reference.reuse],
    }
    made |= {} if reference.span is None else {"span": span_json(reference.span)}
    if entry.figures:
        made |= _figures(entry.figures[entry.space.references.index(reference)])
    return made


def _figures(figures: AccessFigures) -> Json:
    return {
        "sectors_per_request": count_json(figures.sectors),
        "ideal_sectors": figures.ideal,
        "bank_ways": count_json(figures.bank_ways),
        "instructions": figures.cases,
    }


def _row(row: MatrixRow) -> Json:
    made: Json = {"subscript": readable(row.text)}
    if row.irregular:
        return {**made, "irregular": True, "follows": list(row.follows)}
    return {
        **made,
        "counters": list(row.counters),
        "parameters": list(row.parameters),
        "constant": row.constant,
    }


def _lands(found: Landing | None) -> Json:
    return {} if found is None else {"lands": found}
