"""Comments that silence the findings that there are."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import reported
from warpsmith.base.source import SourceFile, Span
from warpsmith.report.analysis.silenced.ignores import can_ignore, ignores
from warpsmith.report.analysis.silenced.suppressions import suppressions

CODE = "int a;\n    b = 1;\n#define X \\\n    c\nd;\n"
FILE = SourceFile("k.cu", CODE)


def silenced(file: SourceFile, *found: tuple[str, int]) -> str:
    text = file.text
    for edit in reversed(list(ignores(file, [reported(rule, line, file=file) for rule, line in found]))):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def test_a_comment_above_each_line_with_all_its_rules() -> None:
    made = silenced(FILE, ("MEM010", 2), ("MEM001", 2), ("MEM001", 2), ("DIV001", 1))
    assert made.split("\n")[:4] == [
        "// warpsmith: ignore[DIV001] TODO: say why", "int a;",
        "    // warpsmith: ignore[MEM001, MEM010] TODO: say why", "    b = 1;",
    ]  # fmt: skip
    assert [one.codes for one in suppressions(SourceFile("k.cu", made))] == [("DIV001",), ("MEM001", "MEM010")]


def test_lines_end_as_those_of_the_file_do() -> None:
    made = silenced(SourceFile("k.cu", CODE.replace("\n", "\r\n")), ("MEM001", 2))
    assert "why\r\n    b = 1;\r\n" in made


def test_below_a_line_that_goes_on_there_is_no_place_for_a_comment() -> None:
    assert silenced(FILE, ("MEM001", 4)) == CODE
    assert not can_ignore(FILE, reported(line=4, file=FILE)) and can_ignore(FILE, reported(line=5, file=FILE))


def test_what_is_not_in_the_file() -> None:
    other = SourceFile("h.cuh", CODE)
    assert not can_ignore(FILE, reported(file=other)) and not can_ignore(FILE, reported(line=None))
    assert list(ignores(FILE, [reported(file=other), reported(line=None)])) == []
    longer = SourceFile("k.cu", CODE + "e;\n" * 9)
    beyond = replace(reported().finding, span=Span(longer, longer.offset(12), longer.offset(12) + 1))
    assert not can_ignore(FILE, replace(reported(), finding=beyond))
