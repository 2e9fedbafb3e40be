"""`warpsmith explain FILE:LINE`: the category of a loop, what stands in its way, what would help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from warpsmith.app.cli.options import compiler_arguments, texts
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.select import find_loop
from warpsmith.front.load import FrontOptions
from warpsmith.loops.remedies import remedy
from warpsmith.report.build import loop_entries
from warpsmith.report.claims import claim_reasons
from warpsmith.report.json_form import report_json
from warpsmith.report.loop_text import loop_text
from warpsmith.report.model import Report
from warpsmith.tree.effects_file import users_effects
from warpsmith.tree.nodes import For

__all__ = ["explained_loop"]


def explained_loop(file: str, subject: str, given: Mapping[str, object], *, as_json: bool) -> str:
    """Return what is known of the loop `subject` (FILE:LINE), as text or JSON."""
    front = FrontOptions(arguments=compiler_arguments(given), effects=users_effects(texts(given["effects"])))
    result = port([file], PortOptions(front=front, survey=True))
    wanted = find_loop(result.program, subject)
    entries = loop_entries(result.prepared, None)
    facts = [loop for function in result.facts.functions for loop in function.loops]
    entry, known = next((e, loop) for e, loop in zip(entries, facts, strict=True) if loop.loop is wanted)
    entry = replace(entry, reasons=(*entry.reasons, *claim_reasons(known)))
    if isinstance(wanted, For) and entry.category in ("sequential", "unanalyzable"):
        entry = replace(entry, reasons=(*entry.reasons, remedy(result.facts, wanted)))
    return report_json(Report("explain", (file,), "ok", loops=(entry,))) if as_json else loop_text(entry)
