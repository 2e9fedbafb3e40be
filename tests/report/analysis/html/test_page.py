"""An analysis as one HTML file: cards, excerpts, certainty. That no name is markup: tests/report/pages/test_page.py."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import FILE, report, reported
from warpsmith.base.findings import Note
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.analysis.groups import group_findings
from warpsmith.report.analysis.html.page import Card, ExcerptLine, _card, _excerpt, analysis_html
from warpsmith.report.analysis.model import Reported


def card(*found: Reported) -> Card:
    (group,) = group_findings(found)
    return _card(group)


def test_a_finding_has_its_lines_and_those_related_to_it() -> None:
    one = card(reported())
    assert [[line.number for line in excerpt] for excerpt in one.excerpts] == [["1", "2", "3", "4", "5"], list("1234")]
    assert one.excerpts[0][2] == ExcerptLine("3", "", "line", " 3;", "the label")
    assert one.excerpts[0][1] == ExcerptLine("2", "line 2;")
    assert one.certainty == "proven" and not one.folded and one.others is None
    assert len(one.evidence) == 1 and one.evidence[0][1] is None


def test_notes_are_folded_and_conditions_said() -> None:
    assert card(reported(severity="note")).folded
    without = replace(reported(severity="note", line=None))
    bare = replace(without, finding=replace(without.finding, related=()))
    assert not card(bare).folded and card(bare).excerpts == ()
    assert card(reported(certainty="conditional")).certainty == "conditional, if n >= 8"


def test_other_places() -> None:
    assert card(reported(), reported(line=9)).others == ("1 other place", "line 9")
    two = card(reported(), reported(line=9), reported(line=7, message="less")).others
    assert two == ("2 other places", "line 9; line 7 (less)")


def test_excerpts_at_the_ends_of_a_file_and_of_several_lines() -> None:
    last = _excerpt(Note(Span(FILE, FILE.offset(30), FILE.offset(30) + 4), ""))
    assert [line.number for line in last][:3] == ["28", "29", "30"]
    long = _excerpt(Note(Span(FILE, FILE.offset(3) + 2, FILE.offset(5) + 2), "x"))
    assert long[2] == ExcerptLine("3", "li", "ne 3;", "", "x")
    wide = SourceFile("w.cu", "x" * 2000)
    (line,) = _excerpt(Note(Span(wide, 1000, 1010), ""))
    assert (len(line.before), line.marked, len(line.after)) == (400, "x" * 10, 400)


def test_the_page_has_the_kernels_and_every_cause_once() -> None:
    said = "uncoalesced store to out"
    text = analysis_html(report(findings=(reported(), reported(line=9), reported("DIV008", 5, "a check", "note"))))
    assert text.count(said) == analysis_html(report()).count(said) > 0
    assert "Found 1 warning, 1 note at 3 places in 1 kernel" in text
    assert "nothing" in analysis_html(report(inputs=()))
