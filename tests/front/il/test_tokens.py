"""Lines of IL as words."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.il.tokens import IlTextError, split_line, split_lines


def test_comments_and_empty_lines_say_nothing() -> None:
    file = SourceFile("p.il", "; one\n\n  mov r0, r1 ; two\nend // three\n")
    assert list(split_lines(file)) == [(9, "mov r0, r1"), (26, "end")]


def test_controls_and_operands_have_their_places() -> None:
    text = "sample_resource(0)_sampler(12) r5, v0.x000"
    line = split_line(SourceFile("p.il", text), 0, text)
    assert (line.word, [(one.name, one.value) for one in line.controls]) == (
        "sample_resource",
        [("", "0"), ("sampler", "12")],
    )
    assert [(one.text, one.span.column) for one in line.operands] == [("r5", 32), ("v0.x000", 36)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("= r0", 1, "'=' begins no line"),
        ("sample_resource(0 r5", 16, "'(' is not closed"),
        ("sample_resource(0)_sampler r5", 1, "'sampler' says nothing in parentheses"),
        ("mov+ r5", 4, "'+' cannot stand in an opcode"),
        ("mov r5,", 8, "an operand is missing"),
        ("mov r5,, r6", 8, "an operand is missing"),
    ],
)
def test_what_is_no_line_is_told_at_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(IlTextError) as caught:
        split_line(SourceFile("p.il", text), 0, text)
    span = caught.value.finding.span
    assert span is not None and (span.column, caught.value.finding.message) == (column, message)


def test_a_message_is_not_as_long_as_a_line() -> None:
    file = SourceFile("p.il", "x")
    from warpsmith.base.source import Span

    assert len(IlTextError(Span(file, 0, 1), "y" * 5000).finding.message) < 200
