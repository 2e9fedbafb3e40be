"""`warpsmith explain FILE:LINE`: the category of a loop, what stands in its way, what would help; or its accesses, or
the ways to map it to threads."""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.app.cli.options import compiler_arguments, texts
from warpsmith.flows.accesses import explain_accesses
from warpsmith.flows.explain_loop import explain_loop
from warpsmith.front.load import FrontOptions
from warpsmith.report.accesses.html import accesses_html
from warpsmith.report.accesses.json import accesses_json
from warpsmith.report.accesses.text import accesses_text
from warpsmith.report.mappings.json import mappings_json
from warpsmith.report.mappings.text import mappings_text
from warpsmith.report.model import Report
from warpsmith.report.port.json import report_json
from warpsmith.report.port.loop import loop_text
from warpsmith.tree.effects.file import users_effects

__all__ = ["explained_accesses", "explained_loop", "explained_mappings"]


def explained_loop(file: str, subject: str, given: Mapping[str, object], *, as_json: bool) -> str:
    """Return what is known of the loop `subject` (FILE:LINE), as text or JSON."""
    entry = explain_loop(file, subject, _front(given))
    return report_json(Report("explain", (file,), "ok", loops=(entry,))) if as_json else loop_text(entry)


def explained_accesses(file: str, subject: str, given: Mapping[str, object], format: str) -> str:
    """Return the access patterns of the nest `subject` (FILE:LINE) as `format`: text, html or json."""
    report = explain_accesses(file, subject, _front(given))
    writers = {"text": accesses_text, "html": accesses_html, "json": accesses_json}
    return writers[format](report)


def explained_mappings(file: str, subject: str, given: Mapping[str, object], *, as_json: bool) -> str:
    """Return the ways to map the nest `subject` (FILE:LINE) to threads, as text or JSON."""
    # loaded where it is wanted: times are predicted from the text of kernels
    from warpsmith.flows.placing.mappings import explain_mappings

    report = explain_mappings(file, subject, _front(given))
    return mappings_json(report) if as_json else mappings_text(report)


def _front(given: Mapping[str, object]) -> FrontOptions:
    return FrontOptions(arguments=compiler_arguments(given), effects=users_effects(texts(given["effects"])))
