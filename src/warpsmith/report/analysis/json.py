"""An analysis as JSON: one document of the report's schema, or one line a finding (jsonl)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from warpsmith import __version__
from warpsmith.analysis.uniformity.simulated import SimulatedAccess
from warpsmith.base.fixes import Fix
from warpsmith.base.source import readable
from warpsmith.report.accesses.json import space_json
from warpsmith.report.analysis.groups import name_spokesmen
from warpsmith.report.analysis.model import AccessEntry, AnalysisReport, AnalyzedKernel, BranchEntry, Reported
from warpsmith.report.analysis.predicted import predicted_json
from warpsmith.report.analysis.races import race_json
from warpsmith.report.json_parts import SCHEMA, Json, count_json, finding_json, span_json
from warpsmith.report.legible import legible
from warpsmith.report.rules import load_rules

__all__ = ["analysis_json", "analysis_jsonl"]


def analysis_json(report: AnalysisReport, *, suppressed: bool = False) -> str:
    """Return the report as one JSON document; `suppressed`: with the findings that are kept back."""
    document: Json = {
        "schema": SCHEMA,
        "command": "analyze",
        "version": __version__,
        "inputs": list(report.inputs),
        "status": report.status,
        "diagnostics": [finding_json(finding) for finding in report.diagnostics],
    }
    more: Json = {
        "kernels": [_kernel(report, kernel) for kernel in report.kernels],
        "findings": _findings(report.findings),
        "kept_back": [_report_json(one) for one in report.kept_back] if suppressed else [],
        "branches": [_branch(branch) for branch in report.branches],
        "accesses": [_access(access) for access in report.accesses],
        "hidden": _count_hidden(report),
        "timing_s": {key: round(value, 4) for key, value in report.timing_s.items()},
    }
    kept = {key: value for key, value in more.items() if value not in ([], {})}
    return json.dumps(document | kept, indent=2, ensure_ascii=False)


def analysis_jsonl(report: AnalysisReport) -> str:
    """Return a line each diagnostic, kernel and finding; every line is a document of its own."""
    rows: list[Json] = [{"type": "diagnostic", **finding_json(finding)} for finding in report.diagnostics]
    rows += [{"type": "kernel", **_kernel(report, kernel)} for kernel in report.kernels]
    rows += [{"type": "finding", **entry} for entry in _findings(report.findings)]
    rows.append(
        {"type": "end", "schema": SCHEMA, "version": __version__, "status": report.status, **_count_hidden(report)}
    )
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _count_hidden(report: AnalysisReport) -> Json:
    counts = {
        "suppressed": sum(one.hidden == "suppressed" for one in report.kept_back),
        "baseline": sum(one.hidden == "baseline" for one in report.kept_back),
        "less_certain": report.below,
    }
    return {key: count for key, count in counts.items() if count}


def _kernel(report: AnalysisReport, kernel: AnalyzedKernel) -> Json:
    held = kernel.resources
    entry: Json = {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "input": kernel.input,
        "device": kernel.device,
        "loops": [],
        "grid": [str(n) for n in kernel.grid] if kernel.grid is not None else ["unknown"] * 3,
        "block": list(kernel.block),
        "mapping": {},
        "assumed": [*kernel.block_assumed, *kernel.grid_assumed],
        "branches": {"total": kernel.branches, "divergent": kernel.divergent_branches},
        "races": race_json(report, kernel),
        "resources": {
            "registers": held.registers,
            "shared_bytes": held.shared_bytes,
            "dynamic_shared_bytes": held.dynamic_shared_bytes,
            "local_bytes": held.local_bytes,
            "spill_bytes": held.spill_bytes,
            "source": held.source,
        },
    }
    if kernel.span is not None:
        entry["span"] = span_json(kernel.span)
    if kernel.patterns:
        entry["patterns"] = [space_json(space) for space in kernel.patterns]
    if held.occupancy is not None:
        entry["occupancy"] = {
            "device": kernel.device,
            "warps": held.occupancy.warps,
            "limit": held.occupancy.limit,
            "limited_by": held.occupancy.limited_by,
        }
    if kernel.predicted is not None:
        entry["predicted"] = predicted_json(kernel.predicted, kernel.other_blocks)
    return entry


def _branch(branch: BranchEntry) -> Json:
    why = [{"text": text} | ({} if span is None else {"span": span_json(span)}) for text, span in branch.why]
    entry: Json = {"kernel": branch.kernel, "op": branch.op, "warp": branch.warp, "block": branch.block, "why": why}
    return entry if branch.span is None else entry | {"span": span_json(branch.span)}


def _access(access: AccessEntry) -> Json:
    entry: Json = {
        "kernel": access.kernel,
        "variable": access.variable,
        "kind": access.kind,
        "space": access.space,
        "bytes": access.bytes,
        "pattern": access.pattern,
        "stride_bytes": access.stride_bytes,
        "index": legible(access.index),
        "sectors_per_request": count_json(access.sectors),
        "ideal_sectors": access.ideal_sectors,
        "bank_ways": count_json(access.bank_ways),
        "certainty": access.certainty,
        "assumptions": [legible(text) for text in access.assumptions],
    }
    entry |= {"blocked": legible(access.blocked)} if access.blocked else {}
    entry |= {"simulated": _simulated(access.simulated)} if access.simulated is not None else {}
    return entry if access.span is None else entry | {"span": span_json(access.span)}


def _simulated(seen: SimulatedAccess) -> Json:
    """Return what the first run counted; `runs`: in how many it was counted."""
    first = seen.runs[0]
    return {
        "requests": first.requests,
        "lanes": first.lanes,
        "sectors": first.sectors,
        "ideal": first.ideal,
        "bank_conflicts": first.conflicts,
        "runs": len(seen.runs),
        "certainty": seen.certainty,
        "assumptions": [legible(text) for text in seen.assumptions],
        "replay": legible(seen.replay),
    }


def _fix(fix: Fix) -> Json:
    edits = [{"span": span_json(edit.span), "text": readable(edit.text)} for edit in fix.edits]
    return {"title": legible(fix.title), "safe": fix.safe, "edits": edits}


def _findings(found: Sequence[Reported]) -> list[Json]:
    """Return each finding; those that another one of the same cause speaks for name it."""
    spokesmen = name_spokesmen(found)
    return [
        _report_json(one) | ({} if first is one else {"same_as": first.fingerprint})
        for one, first in zip(found, spokesmen, strict=True)
    ]


def _report_json(one: Reported) -> Json:
    finding = one.finding
    entry: Json = {
        "rule": finding.rule,
        "name": load_rules()[finding.rule].name,
        "severity": one.severity,
        "certainty": finding.certainty,
        "assumptions": [legible(text) for text in finding.assumptions],
        "message": legible(finding.message),
        "kernel": one.kernel,
        "devices": list(one.devices),
        "related": [{"span": span_json(note.span), "text": legible(note.text)} for note in finding.related],
        "why": [
            {"text": legible(step.text)} | ({} if step.span is None else {"span": span_json(step.span)})
            for step in finding.why
        ],
        "evidence": [
            {"title": legible(table.title), "columns": list(table.columns), "rows": [list(row) for row in table.rows]}
            for table in finding.evidence
        ],
        "help": [legible(text) for text in finding.help],
        "fix": None if one.fix is None else _fix(one.fix),
        "fingerprint": one.fingerprint,
    }
    if finding.span is not None:
        entry["span"] = span_json(finding.span)
    if finding.estimate is not None:
        known = finding.estimate
        entry["estimate"] = {"metric": known.metric, "value": known.value, "unit": known.unit, "basis": known.basis}
    if one.hidden:
        entry["hidden"] = {"by": one.hidden, "reason": legible(one.reason)}
    return entry
