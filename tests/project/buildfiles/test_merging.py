"""Generated files that somebody has edited: a new port is merged into them, or the lines of both are named."""

from __future__ import annotations

from tests.project.buildfiles.projects import run
from warpsmith.project.buildfiles.merging import MergeConflict, merge_texts

LINES = "".join(f"line {number}\n" for number in range(40))


def test_edits_on_both_sides_are_merged() -> None:
    mine, theirs = LINES.replace("line 3\n", "mine\n"), LINES.replace("line 30\n", "theirs\n")
    assert merge_texts("k.cu", LINES, mine, theirs, run) == mine.replace("line 30\n", "theirs\n")
    assert merge_texts("k.cu", LINES, LINES, theirs, run) == theirs
    assert merge_texts("k.cu", LINES, mine, LINES, run) == mine
    assert merge_texts("k.cu", LINES, theirs, theirs, run) == theirs


def test_a_conflict_names_the_line_of_the_user() -> None:
    mine, theirs = LINES.replace("line 30\n", "mine\n"), LINES.replace("line 30\n", "theirs\n")
    assert merge_texts("k.cu", LINES, mine, theirs, run) == (MergeConflict("k.cu", 31, "mine"),)
    found = merge_texts("k.cu", None, mine, theirs, run)
    assert isinstance(found, tuple)
    assert found[0].line == 1


def test_each_conflict_has_its_own_line_and_words() -> None:
    mine = LINES.replace("line 3\n", "mine\n").replace("line 20\n", "").replace("line 30\n", "mine\n")
    theirs = LINES.replace("line 3\n", "a\n").replace("line 20\n", "b\n").replace("line 30\n", "c\n")
    found = merge_texts("k.cu", LINES, mine, theirs, run)
    assert isinstance(found, tuple)
    assert [(one.line, one.text) for one in found] == [(4, "mine"), (5, "lines were taken out here"), (30, "mine")]


def test_without_git_nothing_is_written() -> None:
    mine, theirs = LINES.replace("line 3\n", "mine\n"), LINES.replace("line 30\n", "theirs\n")
    found = merge_texts("k.cu", LINES, mine, theirs, lambda command, folder: (127, ""))
    assert isinstance(found, tuple) and "is git there?" in found[0].text


def test_bytes_and_line_ends_stay() -> None:
    text = LINES.replace("\n", "\r\n").replace("line 9\r", "\xe9\r")
    mine, theirs = text.replace("line 3\r", "mine\r"), text.replace("line 30\r", "theirs\r")
    assert merge_texts("k.cu", text, mine, theirs, run) == mine.replace("line 30\r", "theirs\r")
