"""Findings as workflow commands: what a command ends with is told from what it holds."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import FILE, TEXT, report, reported
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.analysis.github import analysis_github


def lines(**changes: object) -> list[str]:
    return analysis_github(report(**changes)).split("\n")


def test_a_command_for_each_diagnostic_and_finding() -> None:
    lost, warning, note = lines()
    assert lost.startswith(
        "::error file=src/k.cu,line=1,col=1,endLine=1,endColumn=4,title=INP001::no such file%0Ahelp:"
    )
    assert warning.startswith("::warning file=src/k.cu,line=3,col=1,endLine=3,endColumn=4,title=MEM001 unc")
    assert warning.endswith("::uncoalesced store to out%0Akernel: k%0Ahelp: swap the loops")
    assert note.startswith("::notice ")


def test_what_is_assumed_is_said() -> None:
    assert "%0Aholds if n >= 8%0A" in lines(findings=(reported(certainty="conditional"),))[1]


def test_a_finding_without_a_place_and_one_of_several_lines() -> None:
    assert lines(findings=(reported(line=None),))[1].startswith("::warning title=MEM001")
    long = replace(reported().finding, span=Span(FILE, FILE.offset(3), FILE.offset(5) + 2))
    command = lines(findings=(replace(reported(), finding=long),))[1]
    assert "line=3,col=1,endLine=5,title" in command


def test_letters_that_commands_are_made_of() -> None:
    odd = SourceFile("a:b,c%.cu", TEXT)
    command = lines(findings=(reported(message="50% of\r\nall: a, b", file=odd),))[1]
    assert "file=a%3Ab%2Cc%25.cu," in command
    assert "::50%25 of%0D%0Aall: a, b%0A" in command


def test_instances_of_a_template_are_one_and_other_places_have_commands_of_their_own() -> None:
    same = (reported(kernel="k<int>"), reported(kernel="k<float>"), reported(line=9, kernel="k<int>"))
    found = lines(findings=same)[1:]
    assert [("kernel: k<int>, k<float>" in one, "kernel: k<int>%" in one) for one in found] == [
        (True, False), (False, True)
    ]  # fmt: skip
