"""`warpsmith explain FILE:LINE`: the category of a loop, what stands in its way, what would help."""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.app.cli.options import compiler_arguments, texts
from warpsmith.flows.explain_loop import explain_loop
from warpsmith.front.load import FrontOptions
from warpsmith.report.model import Report
from warpsmith.report.port.json import report_json
from warpsmith.report.port.loop import loop_text
from warpsmith.tree.effects.file import users_effects

__all__ = ["explained_loop"]


def explained_loop(file: str, subject: str, given: Mapping[str, object], *, as_json: bool) -> str:
    """Return what is known of the loop `subject` (FILE:LINE), as text or JSON."""
    front = FrontOptions(arguments=compiler_arguments(given), effects=users_effects(texts(given["effects"])))
    entry = explain_loop(file, subject, front)
    return report_json(Report("explain", (file,), "ok", loops=(entry,))) if as_json else loop_text(entry)
