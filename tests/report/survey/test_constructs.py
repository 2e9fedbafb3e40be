"""Names for what keeps a loop on the host."""

from __future__ import annotations

import msgspec.structs

from tests.report.survey.samples import report
from warpsmith.report.survey.constructs import blockers, construct
from warpsmith.report.survey.model import SurveyReason


def test_constructs_have_names() -> None:
    def named(text: str, rule: str = "POR008", label: str = "for i") -> str:
        return construct("unanalyzable", label, (SurveyReason(rule, text, None),))

    assert named("not a counted loop: its condition", label="while") == "while loop of unknown length"
    assert named("calls solve, which is not defined here", "POR006") == "call of solve(), whose text is not given"
    assert named("what s->u points to is not known", "POR005") == "pointer that is a member of a struct"
    assert named("what rows[i] points to is not known", "POR005") == "pointer that is an element of an array (T **)"
    late = "whether its iterations depend on each other was not worked out: 20 s of processor time were up"
    assert named(late, "POR005") == "more work than a loop may take"
    assert named("the loop may be left early by break") == "loop that may be left early by break"
    assert named("a construct that is not modelled: inline assembly") == "inline assembly"
    assert named("a construct that is not modelled: its header is the macro EACH") == "loop whose header is a macro"
    assert named("not a counted loop: it does not set its counter") == "for loop without a counter"
    assert named("calls f, a function pointer", "POR006") == "call through a function pointer"
    assert named("memcpy(a, b, 8) may touch any part of a").startswith("call of memcpy(), which may touch")
    assert construct("parallel", "for i", (SurveyReason("POR001", "anything", None),)) == ""
    blocked = SurveyReason("POR006", "calls puts, which writes output", None)
    assert construct("parallel", "for i", (blocked,)) == "call of puts(), which writes output"


def test_a_loop_that_nothing_keeps_has_no_construct() -> None:
    assert construct("unanalyzable", "for i", ()) == "" and construct("scan", "for i", ()) == ""


def test_what_stands_in_the_way_of_the_most_work_comes_first() -> None:
    one, two, three = (
        msgspec.structs.replace(report().loops[0], construct=name, own=own, id=name)
        for name, own in (("goto", 0.2), ("asm", 0.6), ("goto", 0.3))
    )
    found = blockers((one, two, three, msgspec.structs.replace(one, construct="")))
    assert [(b.construct, b.count, b.share) for b in found] == [("asm", 1, 0.6), ("goto", 2, 0.5)]
    assert blockers((msgspec.structs.replace(two, own=0.7), msgspec.structs.replace(two, own=0.7)))[0].share == 1.0
