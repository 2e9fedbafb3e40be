"""Findings that say the same thing are reported once; mistakes are told one by one."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import TEXT, reported
from warpsmith.base.source import SourceFile
from warpsmith.report.analysis.groups import GroupBy, group_findings, headings, name_spokesmen
from warpsmith.report.analysis.model import Reported


def shape(*found: Reported) -> list[tuple[tuple[str, ...], int]]:
    return [(group.kernels, group.number) for group in group_findings(found)]


def test_instances_of_a_template_are_one() -> None:
    assert shape(reported(kernel="k<int>"), reported(kernel="k<float>")) == [(("k<int>", "k<float>"), 1)]
    assert shape(reported(kernel="a"), reported(kernel="b", line=4)) == [(("a",), 1), (("b",), 1)]


def test_places_with_one_cause_are_one() -> None:
    assert shape(reported(), reported(line=4, message="another")) == [(("k",), 2)]
    for other in (
        reported(line=4, severity="error"),
        reported(line=4, certainty="heuristic"),
        reported("MEM002", 4),
        replace(reported(line=4), input="other.cu"),
    ):
        assert shape(reported(), other) == [(("k",), 1), (("k",), 1)]


def test_mistakes_are_each_of_its_own() -> None:
    assert len(shape(reported("SYN002", 3), reported("SYN002", 4))) == 2
    assert len(shape(reported("MEM020", 3), reported("MEM020", 4))) == 2
    assert len(shape(reported("SYN006", 3), reported("SYN006", 4))) == 1
    # exchanges with one reason are one
    assert len(shape(reported("SYN005", 3), reported("SYN005", 4))) == 1
    other = reported("SYN005", 4)
    assert len(shape(reported("SYN005", 3), replace(other, finding=replace(other.finding, why=())))) == 2


def test_without_a_place_a_finding_is_known_by_its_fingerprint() -> None:
    one, two = reported(line=None), replace(reported(line=None), fingerprint="other")
    assert shape(one, one) == [(("k",), 1)]
    assert shape(one, two) == [(("k",), 2)]
    nameless = replace(one, fingerprint="")
    assert shape(nameless, replace(nameless)) == [(("k",), 2)]


def test_the_other_places_are_listed_by_what_is_said_of_them() -> None:
    header = SourceFile("h.cuh", TEXT)
    (group,) = group_findings([
        reported(line=3), reported(line=9, message="less"), reported(line=7), reported(line=8),
        replace(reported(line=2, file=header), input="src/k.cu"), replace(reported(line=None), fingerprint="z"),
    ])  # fmt: skip
    assert group.elsewhere() == [("the same", "lines 7, 8, h.cuh:2, src/k.cu"), ("less", "line 9")]


def titles(by: GroupBy) -> list[tuple[str, int]]:
    found = (reported(), reported("DIV001", 5, kernel="other"), reported("MEM001", None, kernel="", message="x"))
    return [(title, len(below)) for title, below in headings(group_findings(found), by)]


def test_headings() -> None:
    assert titles("") == [("", 3)]
    assert titles("kernel") == [("kernel k", 1), ("kernel other", 1), ("src/k.cu", 1)]
    assert titles("rule") == [("MEM001", 2), ("DIV001", 1)]
    assert titles("file") == [("src/k.cu", 3)]
    assert headings([], "") == [] == headings([], "rule")


def _caused(one: Reported, cause: str) -> Reported:
    return replace(one, finding=replace(one.finding, cause=cause))


def test_mistakes_with_a_cause_in_common_are_one_and_the_most_certain_speaks() -> None:
    first, second, third = reported("SYN002", 3, certainty="conditional"), reported("SYN002", 4), reported("SYN002", 5)
    assert shape(_caused(first, "a"), _caused(second, "a"), _caused(third, "b")) == [(("k",), 2), (("k",), 1)]
    group = group_findings([_caused(first, "a"), _caused(second, "a")])[0]
    assert group.first.finding.certainty == "proven" and group.elsewhere() == [("the same", "line 3")]


def test_places_on_one_line_are_one_place_in_words() -> None:
    group = group_findings(
        [reported("MEM001", 3), reported("MEM001", 4), replace(reported("MEM001", 4), fingerprint="x")]
    )
    assert group[0].elsewhere() == [("the same", "line 4")]


def test_instances_of_a_template_that_say_other_numbers_are_one() -> None:
    races = [
        _caused(reported("SYN002", 3, kernel="k<64>", message="race on s at byte 4"), "a"),
        _caused(reported("SYN002", 4, kernel="k<64>", message="race on s at byte 8"), "a"),
        _caused(reported("SYN002", 3, kernel="k<128>", message="race on s at byte 16"), "a"),
    ]
    assert shape(*races) == [(("k<64>", "k<128>"), 2)]
    assert group_findings(races)[0].elsewhere() == [("race on s at byte 8", "line 4")]
    assert shape(races[0], _caused(reported("SYN002", 3, kernel="other<128>"), "a")) == [
        (("k<64>",), 1),
        (("other<128>",), 1),
    ]


def test_each_finding_knows_which_one_is_told_in_its_place() -> None:
    found = [reported(line=3), reported(line=4), reported("MEM002", 4), replace(reported(line=3), kernel="k")]
    told = name_spokesmen(found)
    assert [one is found[0] for one in told] == [True, True, False, True] and told[2] is found[2]
