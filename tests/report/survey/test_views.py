"""A survey in every form: text that is short, JSON and SARIF of their schemas, HTML that asks nobody for anything."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import msgspec.structs
import pytest

from warpsmith.base.findings import Finding
from warpsmith.report.port.json import schema
from warpsmith.report.survey.constructs import blockers, construct
from warpsmith.report.survey.html import survey_html
from warpsmith.report.survey.json import survey_json
from warpsmith.report.survey.model import Spot, SurveyDependence, SurveyLoop, SurveyReason, SurveyReport
from warpsmith.report.survey.sarif import survey_sarif
from warpsmith.report.survey.text import survey_text

FILE = "src/a file.c"


def _loop(number: int, category: str, reason: SurveyReason) -> SurveyLoop:
    label = "for i" if category != "unanalyzable" else "while"
    return SurveyLoop(
        id=f"f{number}/i",
        spot=Spot(FILE, number, 5, number + 2, 6),
        head='for (int i = 0; i < n && "<b>"; i++)',
        function=f"f{number}",
        variable="i",
        label=label,
        depth=1,
        category=category,
        reasons=(reason,),
        assumptions=(("n >= 1", "guarded"),),
        units=(FILE,),
        construct=construct(category, label, (reason,)),
        share=1 / number,
        own=0.01,
        work=3.0,
    )


def _report() -> SurveyReport:
    here, there = Spot(FILE, 9, 9, 9, 12), Spot("/usr/include/k.h", 8, 1, 8, 2)
    witness = "n = 3: S(1) writes a[1] & S(2) reads it"
    pair = SurveyDependence("flow", "a", here, there, (1, None), ("<", "*"), "i", witness)
    carried = SurveyReason("POR003", "carries a flow dependence on a", None, ("<none>",), pair)
    unknown = SurveyReason("POR006", "calls solve, which is not defined here", Spot("b.c", 3, 1, 3, 9))
    uncounted = SurveyReason("POR008", "not a counted loop: only running it", None)
    loops = [
        _loop(1, "parallel", SurveyReason("POR001", "no carried dependence (proven)", None)),
        _loop(2, "sequential", carried),
        _loop(3, "unanalyzable", unknown),
        *(_loop(number, "unanalyzable", uncounted) for number in range(4, 60)),
    ]
    finding = Finding("PRJ006", "error", "the build failed: <make> & more", None, ("repair it",))
    return SurveyReport(
        inputs=(FILE,),
        status="incomplete",
        root="/home/me/p",
        units=1,
        read=1,
        lines=1234,
        loops=tuple(loops),
        blockers=blockers(loops),
        findings=(finding,),
        timing_s={"read": 0.1},
    )


def test_the_text_has_the_summary_first_and_only_the_loops_that_matter() -> None:
    text = survey_text(_report())
    lines = text.split("\n")
    assert lines[0] == "/home/me/p: 1 file, 1,234 lines, 59 loops"
    assert "… and 39 more: --all lists them" in text
    assert "call of solve(), whose text is not given" in text
    assert "a file.c:58" not in text
    assert "a file.c:58" in survey_text(_report(), everything=True)


def test_work_that_is_in_no_loop_is_told() -> None:
    loop = msgspec.structs.replace(_report().loops[0], own=0.75)
    text = survey_text(msgspec.structs.replace(_report(), loops=(loop,), blockers=()))
    assert [line.split() for line in text.split("\n")[2:4]] == [["parallel", "1", "75.0%"], ["elsewhere", "25.0%"]]


def test_many_conditions_are_counted_and_few_are_listed() -> None:
    def why(count: int) -> str:
        conditions = tuple((f"a and b{n} are apart", "guarded") for n in range(count))
        reason = SurveyReason("POR001", f"no carried dependence (if {'; '.join(text for text, _ in conditions)})", None)
        loop = msgspec.structs.replace(_report().loops[0], assumptions=conditions, reasons=(reason,))
        return " ".join(survey_text(msgspec.structs.replace(_report(), loops=(loop,), blockers=())).split())

    assert "no carried dependence (9 conditions tested at run time)" in why(9)
    assert "b1 are" in why(2)


def test_the_page_has_what_a_run_has_shown() -> None:
    loop = msgspec.structs.replace(
        _report().loops[0], measured=True, entries=1.0, iterations=9.0, seconds=0.5, bytes=72.0, copied=144.0,
        gain_alone=0.25, gain_kept=0.375,
    )  # fmt: skip
    page = survey_html(msgspec.structs.replace(_report(), loops=(loop,)))
    assert "measured: entered once, 9 iterations, 0.5 s, 72 bytes touched, 144 bytes to copy" in page
    assert "saves 0.25 s alone, 0.38 s where its data are kept" in page and "of the time" in page
    text = survey_text(msgspec.structs.replace(_report(), loops=(loop,)))
    assert "1 x 9" in " ".join(text.split()) and "72 B" in text


def test_json_is_of_the_reports_schema() -> None:
    document = json.loads(survey_json(_report()))
    jsonschema.validate(document, schema())
    assert document["survey"]["total"] == len(document["loops"]) == 59
    assert [entry["id"] for entry in document["survey"]["first"]] == ["f1/i"]
    assert sum(document["survey"]["categories"].values()) == 59
    assert sum(entry["loops"] for entry in document["survey"]["blockers"]) == 58
    measured = msgspec.structs.replace(_report().loops[0], measured=True, entries=1.0, iterations=9.0, seconds=0.5)
    jsonschema.validate(json.loads(survey_json(msgspec.structs.replace(_report(), loops=(measured,)))), schema())


def test_sarif_is_of_the_standard() -> None:
    parts = json.loads((Path(__file__).parents[1] / "sarif_parts.json").read_text())
    log = json.loads(survey_sarif(_report()))
    jsonschema.validate(log, parts)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == 59
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uriBaseId"] in run["originalUriBaseIds"]
        assert place["uri"] == "src/a%20file.c"
    related = run["results"][1]["relatedLocations"]
    assert related[1]["physicalLocation"]["artifactLocation"] == {"uri": "file:///usr/include/k.h"}


@pytest.mark.parametrize("broken", [{"level": "warning"}, {"kind": "fine"}, {"rank": 101}, {"extra": 1}])
def test_the_schema_of_sarif_catches_what_is_wrong(broken: dict[str, object]) -> None:
    parts = json.loads((Path(__file__).parents[1] / "sarif_parts.json").read_text())
    log = json.loads(survey_sarif(_report()))
    log["runs"][0]["results"][0] |= broken
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, parts)


class _Page(HTMLParser):
    """Notes what a page asks for, its open tags, and its rows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.asked: list[str] = []
        self.rows = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asked += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "action", "data", "srcset")]
        self.asked += [tag] if tag in ("link", "img", "iframe", "object") else []
        self.rows += tag == "tr"
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_is_one_whole_page_without_requests_and_with_every_loop() -> None:
    page = _Page()
    page.feed(survey_html(_report()))
    page.close()
    assert not page.open
    assert not page.asked
    heads, categories, constructs = 3, 3, 3
    assert page.rows == heads + categories + constructs + 59 + 2, "the one worth porting, and its head"
    text = "".join(page.text)
    # what the user wrote is text, never markup
    assert "the build failed: <make> & more" in text
    assert "would help: <none>" in text
    assert "@import" not in text
    assert "url(" not in text


def test_constructs_have_names() -> None:
    def named(text: str, rule: str = "POR008", label: str = "for i") -> str:
        return construct("unanalyzable", label, (SurveyReason(rule, text, None),))

    assert named("not a counted loop: its condition", label="while") == "while loop of unknown length"
    assert named("calls solve, which is not defined here", "POR006") == "call of solve(), whose text is not given"
    assert named("what s->u points to is not known", "POR005") == "pointer that is a member of a struct"
    assert named("what rows[i] points to is not known", "POR005") == "pointer that is an element of an array (T **)"
    assert named("the loop may be left early by break") == "loop that may be left early by break"
    assert named("a construct that is not modelled: inline assembly") == "inline assembly"
    assert named("a construct that is not modelled: its header is the macro EACH") == "loop whose header is a macro"
    assert named("not a counted loop: it does not set its counter") == "for loop without a counter"
    assert named("calls f, a function pointer", "POR006") == "call through a function pointer"
    assert named("memcpy(a, b, 8) may touch any part of a").startswith("call of memcpy(), which may touch")
    assert construct("parallel", "for i", (SurveyReason("POR001", "anything", None),)) == ""
    blocked = SurveyReason("POR006", "calls puts, which writes output", None)
    assert construct("parallel", "for i", (blocked,)) == "call of puts(), which writes output"
