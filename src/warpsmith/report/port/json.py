"""The report as JSON (schema `warpsmith-report/1`, shipped beside this file). Keys without a value are absent."""

from __future__ import annotations

import json
from math import prod

import msgspec.structs

from warpsmith import __version__
from warpsmith.base.source import readable
from warpsmith.base.verdict import Dependence, Reason
from warpsmith.offload.plan import LoopTiles, Transfer
from warpsmith.report.hints import hint_json
from warpsmith.report.json_parts import SCHEMA, Json, finding_json, schema, span_json
from warpsmith.report.mappings.printed import print_json
from warpsmith.report.model import KernelEntry, LoopEntry, Report, StepEntry
from warpsmith.report.placement.json import placement_json
from warpsmith.report.port.hottest import hottest_json
from warpsmith.report.port.moved import moved_json
from warpsmith.report.port.predicted import prediction_json
from warpsmith.report.search.json import search_json
from warpsmith.run.verification import LiveOut, Race, Verification

__all__ = ["SCHEMA", "Json", "finding_json", "report_json", "schema"]


def report_json(report: Report) -> str:
    """Return the report as one JSON document."""
    document: Json = {
        "schema": SCHEMA,
        "command": report.command,
        "version": __version__,
        "inputs": list(report.inputs),
        "status": report.status,
        "diagnostics": [finding_json(f) for f in report.diagnostics],
        "loops": [_loop(loop) for loop in report.loops],
        "kernels": [_kernel(k) for k in report.kernels],
        "transfers": [_transfer(t) for t in report.transfers],
        "outputs": list(report.outputs),
        "verify": None if report.verify is None else _verification(report.verify),
        "findings": [finding_json(f) for f in report.findings],
        "devices": [msgspec.structs.asdict(device) for device in report.devices],
        "tools": [msgspec.structs.asdict(tool) for tool in report.tools],
        "steps": [_step(step) for step in report.steps],
        "hottest": None if report.hottest is None else hottest_json(report.hottest),
        "moved": None if report.moved is None else moved_json(report.moved),
        "predicted": None if report.predicted is None else prediction_json(report.predicted),
        "search": None if report.search is None else search_json(report.search),
        "placement": None if report.placement is None else placement_json(report.placement),
        "timing_s": {key: round(value, 4) for key, value in report.timing_s.items()},
    }
    required = ("schema", "command", "version", "inputs", "status", "diagnostics")
    kept = {key: value for key, value in document.items() if key in required or value not in (None, [], {})}
    return json.dumps(kept, indent=2, ensure_ascii=False)


def _dependence(dependence: Dependence) -> Json:
    return {
        "kind": dependence.kind,
        "variable": readable(dependence.variable),
        "distance": None if None in dependence.distance else list(dependence.distance),
        "direction": list(dependence.direction),
        "carried_by": dependence.carried_by,
        "from": span_json(dependence.source),
        "to": span_json(dependence.sink),
        "witness": readable(dependence.witness),
    }


def _reason(reason: Reason) -> Json:
    entry: Json = {"rule": reason.rule, "text": readable(reason.text)}
    if reason.span is not None:
        entry["span"] = span_json(reason.span)
    if reason.dependence is not None:
        entry["dependence"] = _dependence(reason.dependence)
    if reason.assumptions:
        entry["assumptions"] = [readable(text) for text in reason.assumptions]
    if reason.legal_if:
        entry["legal_if"] = list(reason.legal_if)
    return entry


def _loop(loop: LoopEntry) -> Json:
    added: Json = {"steps": list(loop.steps)} if loop.steps else {}
    if loop.holds_at:
        added["holds_at"] = dict(loop.holds_at)
    return {
        "id": loop.id,
        "span": span_json(loop.span),
        "function": loop.function,
        "variable": loop.variable,
        "depth": loop.depth,
        "category": loop.category,
        "ported": loop.ported,
        "kernel": loop.kernel,
        "assumptions": [{"text": readable(text), "kind": kind} for text, kind in loop.assumptions],
        "reasons": [_reason(r) for r in loop.reasons],
        **added,
        **({"hints": [hint_json(hint) for hint in loop.hints]} if loop.hints else {}),
    }


def _tiles(tiles: LoopTiles) -> Json:
    doubled: Json = {"doubled": True} if tiles.doubled else {}
    doubled |= {"wide": tiles.wide} if tiles.wide > 1 else {}
    doubled |= {"padding": tiles.padding} if tiles.padding >= 0 else {}
    return {"loop": tiles.loop, "width": tiles.width, "arrays": list(tiles.arrays), **doubled}


def _kernel(kernel: KernelEntry) -> Json:
    entry: Json = {
        "name": kernel.name,
        "span": span_json(kernel.span),
        "loops": list(kernel.loops),
        "grid": list(kernel.grid),
        "block": list(kernel.block),
        "mapping": dict(kernel.mapping),
    }
    if kernel.tiles:
        entry["tiles"] = [_tiles(tiles) for tiles in kernel.tiles]
    if kernel.constants:
        entry["constants"] = [{"array": c.array, "bytes": c.bytes, "uniform": c.uniform} for c in kernel.constants]
    if kernel.halos:
        entry["halos"] = [{"array": h.array, "extents": list(h.extents)} for h in kernel.halos]
    if kernel.iterations:
        entry["iterations"] = kernel.iterations
    if kernel.few:
        entry["few_threads"] = kernel.few
    if kernel.shared:
        entry["shared_loops"] = {"loops": list(kernel.shared), "by": kernel.shared_by}
    if prod(kernel.elements) > 1:
        entry["elements"] = list(kernel.elements)
    if kernel.model is not None:
        entry["model"] = {
            "sectors_per_request": kernel.model.sectors_per_request,
            "lines_per_thread": kernel.model.lines_per_thread,
            "assumed": list(kernel.model.assumed),
            **print_json(kernel.model),
        }
    return entry


def _step(step: StepEntry) -> Json:
    return {
        "name": step.name,
        "title": step.title,
        "doc": step.doc,
        "parameters": [
            {"name": name, "kind": kind, "required": not default, **({"default": default} if default else {})}
            for name, kind, default in step.parameters
        ],
        "example": dict(step.example),
        "before": step.before,
        "after": step.after,
    }


def _transfer(transfer: Transfer) -> Json:
    return {
        "variable": transfer.variable,
        "direction": "to_device" if transfer.to_device else "to_host",
        "span": span_json(transfer.cause),
        "in_loop": transfer.in_loop,
        "held": transfer.held,
        "unless_shared": transfer.unless_shared,
        "beside": list(transfer.beside),
        "waits": transfer.waits,
        "section": readable(transfer.section),
        "bytes": readable(transfer.bytes),
        "cause": span_json(transfer.cause),
    }


def _live_out(item: LiveOut) -> Json:
    return {
        "region": item.region,
        "instance": item.instance,
        "name": item.name,
        "elements": item.elements,
        "extent_from": item.extent_from,
        "max_abs": _number(item.max_abs),
        "max_rel": _number(item.max_rel),
        "max_ulp": item.max_ulp,
        "first_difference": item.first_difference,
        "compared": item.compared,
        "masked": item.masked,
    }


def _number(value: float) -> float | str:
    """JSON has no infinities and no NaN; they are written as text."""
    return value if value - value == 0 else str(value)


def _race(race: Race) -> Json:
    return {
        "variable": race.variable,
        "index": race.index,
        "threads": list(race.threads),
        "spans": [span_json(s) for s in race.spans],
        "text": race.text,
    }


def _verification(verify: Verification) -> Json:
    return {
        "status": verify.status,
        "executor": verify.executor,
        "schedules": verify.schedules,
        "inputs": verify.inputs,
        "live_out": [_live_out(item) for item in verify.live_out],
        "races": [_race(race) for race in verify.races],
        "output_equal": verify.output_equal,
        "masked_output": list(verify.masked_output),
        "seconds": dict(verify.seconds or {}),
        "tolerance": verify.tolerance,
        "reasons": [finding_json(f) for f in verify.reasons],
        **({} if verify.launches is None else {"launches": dict(verify.launches)}),
        **({} if verify.copies is None else {"copies": msgspec.structs.asdict(verify.copies)}),
    }
