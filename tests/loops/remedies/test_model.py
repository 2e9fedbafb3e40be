"""Remedies in words."""

from __future__ import annotations

import pytest

from warpsmith.base.source import Edit, SourceFile, Span
from warpsmith.loops.remedies.model import (
    ApplySteps,
    EditCode,
    GrantAssumption,
    Remedy,
    StepTrial,
    UseOption,
    diff_text,
    remedy_text,
)

FILE, OTHER = SourceFile("a.c", "one\ntwo\n"), SourceFile("b.c", "last")
EDITS = (Edit(Span(FILE, 4, 7), "2"), Edit(Span(OTHER, 0, 4), "LAST"))
DIFF = "--- a.c\n+++ a.c\n@@ -1,2 +1,2 @@\n one\n-two\n+2"


@pytest.mark.parametrize(
    ("remedy", "text"),
    [
        (GrantAssumption("injective(p)"), "if it is true: --assume 'injective(p)'"),
        (ApplySteps(("a=f/i", "b=f/i")), "--transform a=f/i --transform b=f/i"),
        (ApplySteps(("a=f/i",), "makes it parallel"), "--transform a=f/i makes it parallel"),
        (EditCode("do it", EDITS[:1]), f"do it; the results stay the same, bit for bit\n{DIFF}"),
        (EditCode("do it", EDITS[:1], "rounds", ("p", "q")), f"do it; rounds, if p and q\n{DIFF}"),
        (UseOption("--effects", "x = 1\n"), "if that is all that it does, in a file for --effects:\nx = 1\n"),
    ],
)
def test_what_the_user_is_told(remedy: Remedy, text: str) -> None:
    assert remedy_text(remedy) == text


def test_a_diff_has_every_file_once() -> None:
    text = diff_text(EDITS)
    assert text.startswith(DIFF) and text.count("--- ") == 2
    assert text.endswith("-last\n\\ No newline at end of file\n+LAST\n\\ No newline at end of file")
    assert diff_text(()) == ""


def test_the_outcome_of_a_trial() -> None:
    assert StepTrial(ApplySteps(("a=f/i",), "makes it parallel"), ("b", "a")).text == "a=f/i makes it parallel"
    assert StepTrial(None, ("b", "a")).text == "no single step makes it parallel; tried: a, b"
    assert StepTrial(None, ()).text == "there is no step to try on it"
