"""A survey as one HTML file: no requests, readable without JavaScript, which only sorts and filters the table."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.report.pages.page import page
from warpsmith.report.survey.model import SurveyLoop, SurveyReport
from warpsmith.report.survey.rank import ranking
from warpsmith.report.survey.text import FIRST

__all__ = ["survey_html"]


def survey_html(report: SurveyReport) -> str:
    """Return the survey as one HTML document."""
    return page(
        "survey/survey.html",
        report=report,
        shares={name: _share(report, name) for name in report.categories},
        first=ranking(report.loops).first[:FIRST],
        details=_details,
    )


def _share(report: SurveyReport, category: str) -> float:
    """Return the part of all work that the loops of a category are, from 0 to 1."""
    return sum(loop.own for loop in report.loops if loop.category == category)


def _details(loop: SurveyLoop) -> tuple[str, ...]:
    """Return what is to be said of a loop after its first reason."""
    return (
        *(reason.text for reason in loop.reasons[1:]),
        *_dependences(loop),
        *_list_measured(loop),
        *_list_assumed(loop),
    )


def _dependences(loop: SurveyLoop) -> Iterator[str]:
    """Yield the dependences of a loop, each with what would make it legal."""
    for reason in loop.reasons:
        if reason.dependence is not None:
            pair = reason.dependence
            shown = f": {pair.witness}" if pair.witness else ""
            yield f"line {pair.source.line} → line {pair.sink.line}{shown}"
        yield from (f"would help: {words}" for words in reason.legal_if)


def _list_assumed(loop: SurveyLoop) -> Iterator[str]:
    yield from (f"assumes {text} ({kind})" for text, kind in loop.assumptions)


def _list_measured(loop: SurveyLoop) -> Iterator[str]:
    """Yield what a run has shown of a loop."""
    if loop.seconds is None or not loop.entries:
        return
    often = "once" if loop.entries == 1 else f"{loop.entries:,.0f} times"
    words = f"entered {often}, {loop.iterations or 0:,.0f} iterations, {loop.seconds:.3g} s"
    words += f", {loop.bytes:,.0f} bytes touched" if loop.bytes is not None else ""
    words += f", {loop.copied:,.0f} bytes to copy where it is moved alone" if loop.copied is not None else ""
    if loop.gain_alone is not None and loop.gain_kept is not None:
        words += f", saves {loop.gain_alone:.2g} s alone, {loop.gain_kept:.2g} s where its data are kept on the device"
    yield f"measured: {words}"
