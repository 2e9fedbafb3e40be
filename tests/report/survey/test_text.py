"""A survey as text: the summary first, and only the loops that matter."""

from __future__ import annotations

import msgspec.structs

from tests.report.survey.samples import report
from warpsmith.report.survey.model import SurveyReason
from warpsmith.report.survey.text import survey_text


def test_the_text_has_the_summary_first_and_only_the_loops_that_matter() -> None:
    text = survey_text(report())
    lines = text.split("\n")
    assert lines[0] == "/home/me/p: 1 file, 1,234 lines, 59 loops"
    assert "… and 39 more: --all lists them" in text
    assert "call of solve(), whose text is not given" in text
    assert "a file.c:58" not in text
    assert "a file.c:58" in survey_text(report(), everything=True)


def test_files_without_an_answer_in_time_stand_below_the_first_line() -> None:
    late = ("/home/me/p/src/a.c", *(f"/usr/a-file-of-some-length-{n}.c" for n in range(5)))
    lines = survey_text(msgspec.structs.replace(report(), late=late)).split("\n")[1:4]
    assert (
        lines[0].startswith("not in time (--timeout): src/a.c, /usr/a-file-of-some-length-0.c, ")
        and len(lines[0]) <= 100
    )
    assert all(name in " ".join(lines) for name in late[1:])
    assert "not in time" not in survey_text(report())


def test_work_that_is_in_no_loop_is_told() -> None:
    loop = msgspec.structs.replace(report().loops[0], own=0.75)
    text = survey_text(msgspec.structs.replace(report(), loops=(loop,), blockers=()))
    assert [line.split() for line in text.split("\n")[2:4]] == [["parallel", "1", "75.0%"], ["elsewhere", "25.0%"]]


def test_many_conditions_are_counted_and_few_are_listed() -> None:
    def why(count: int) -> str:
        conditions = tuple((f"a and b{n} are apart", "guarded") for n in range(count))
        reason = SurveyReason("POR001", f"no carried dependence (if {'; '.join(text for text, _ in conditions)})", None)
        loop = msgspec.structs.replace(report().loops[0], assumptions=conditions, reasons=(reason,))
        return " ".join(survey_text(msgspec.structs.replace(report(), loops=(loop,), blockers=())).split())

    assert "no carried dependence (9 conditions tested at run time)" in why(9)
    assert "b1 are" in why(2)


def test_what_a_run_has_shown_stands_beside_each_loop() -> None:
    loop = msgspec.structs.replace(
        report().loops[0], measured=True, entries=2.0, iterations=18.0, seconds=0.5, bytes=72e6
    )
    never = msgspec.structs.replace(report().loops[0], measured=True, entries=0.0, seconds=0.0, id="g/i")
    text = survey_text(msgspec.structs.replace(report(), loops=(loop, never)), everything=True)
    words = " ".join(text.split())
    assert "2 x 9 72 MB" in words and "never ran" in words and "seconds measured" in words and "of the time" in words


def test_what_is_behind_says_where_and_what_else_may_help() -> None:
    parallel, sequential, unknown = (msgspec.structs.replace(loop, own=0.3) for loop in report().loops[:3])
    text = survey_text(msgspec.structs.replace(report(), loops=(parallel, sequential, unknown), blockers=()))
    assert "(line 9 -> line 8)" in " ".join(text.split()) and "`warpsmith port` also looks for steps" in text
    few = survey_text(msgspec.structs.replace(report(), loops=(parallel, unknown), blockers=()))
    assert "also looks for steps" not in few and "more: --all" not in few
    many = msgspec.structs.replace(sequential, measured=True, entries=2.0, iterations=500.0, seconds=0.5)
    assert " 2 x 250 " in " ".join(survey_text(msgspec.structs.replace(report(), loops=(many,))).split())


def test_shares_that_are_next_to_nothing_are_told_from_nothing() -> None:
    def shares(own: float) -> list[str]:
        loop = msgspec.structs.replace(report().loops[0], share=own, own=own)
        text = survey_text(msgspec.structs.replace(report(), loops=(loop,), blockers=()), everything=True)
        (row,) = (line.split() for line in text.split("\n") if "a file.c:1" in line)
        return row[:2]

    assert shares(0.0001) == ["<0.1%", "<0.1%"] and shares(0.0) == ["0.0%", "0.0%"] and shares(0.5) == ["50.0%"] * 2


def test_a_project_without_loops_has_one_line() -> None:
    assert survey_text(msgspec.structs.replace(report(), loops=(), blockers=())).count("\n") == 0
    again = msgspec.structs.replace(report(), loops=(), blockers=(), units=3, inputs=("a.c", "b.c"))
    assert survey_text(again) == "/home/me/p: 2 files (3 compilations), 1,234 lines, 0 loops (1 of 3 read again)"
