"""How a finding looks, and what an error is worth."""

from __future__ import annotations

from warpsmith.base.findings import Finding, Note, marked_line, render_finding
from warpsmith.base.source import SourceFile, Span, decode_text
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown

FILE = SourceFile("heat.c", "void f(void)\r\n{\r\n\tfor (t = 0; t < T; t++)\r\n\t\tstep();\r\n}\r\n")


def span(text: str) -> Span:
    start = FILE.text.index(text)
    return Span(FILE, start, start + len(text))


def test_carets_stand_under_the_span_also_behind_tabs() -> None:
    finding = Finding("POR003", "error", "not parallel", span("for (t = 0; t < T; t++)"), help=("look",))
    assert render_finding(finding).split("\n") == [
        "heat.c:3:2: error[POR003] not parallel",
        "  |",
        "3 | \tfor (t = 0; t < T; t++)",
        "  | \t^^^^^^^^^^^^^^^^^^^^^^^",
        "   = help: look",
    ]


def test_a_span_over_lines_is_marked_to_the_end_of_its_first() -> None:
    text = render_finding(Finding("X", "note", "m", span("t++)\r\n\t\tstep();")))
    assert text.endswith("\n  | \t                   ^^^^")


def test_related_places_and_assumptions() -> None:
    related = (Note(span("step"), "here"),)
    finding = Finding("X", "warning", "m", span("{"), related=related, assumptions=("n < 5",), certainty="conditional")
    lines = render_finding(finding).split("\n")
    assert lines[-2:] == ["  | \t\t^^^^ here", "   = assumes: n < 5"]


def test_a_finding_about_nothing_in_particular() -> None:
    assert render_finding(Finding("INP001", "error", "no compiler")) == "error[INP001] no compiler"


def test_verdicts_are_values() -> None:
    reason = Reason("POR003", "carried")
    assert Refuted((reason,)) == Refuted((Reason("POR003", "carried"),))
    assert Proved() == Proved(())
    assert Unknown((reason,)) == Unknown((reason,), ())


def test_spaces_of_web_pages_are_shown_as_blanks_and_letters_stay_whole() -> None:
    file = SourceFile("k.br", decode_text("\N{NO-BREAK SPACE}o = voilà\n"))
    assert marked_line(Span(file, 2, len(file.text) - 1)) == (" o = voilà", f" {'^' * 9}")
