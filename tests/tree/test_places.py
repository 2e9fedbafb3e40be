"""Places for added lines: where lines are spliced nothing comes between."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.text.conditionals import open_conditionals
from warpsmith.tree.text.places import place_after, place_at, place_before

_BLANKS = ("\\\n", "\\\r\n", "\\ \t\n")


@pytest.mark.parametrize("splice", _BLANKS)
def test_a_macros_text_takes_no_line(splice: str) -> None:
    file = SourceFile("a.c", f"#define F {splice}  for (;;);\n")
    with pytest.raises(RefusedError, match="macro"):
        place_at(file, file.text.index("for"), "")


@pytest.mark.parametrize("splice", _BLANKS)
def test_behind_a_branch_whose_line_goes_on_there_is_no_place(splice: str) -> None:
    file = SourceFile("a.c", f"#if A\n#elif B && {splice} C\n  x;\n")
    with pytest.raises(RefusedError, match="branch"):
        place_after(file, file.text.index("C") + 1)


@pytest.mark.parametrize("splice", _BLANKS)
def test_behind_a_comment_that_goes_on_the_line_is_split(splice: str) -> None:
    file = SourceFile("a.c", f"x; // b {splice}  c\ny;\n")
    assert place_after(file, 2).splits


def test_a_splice_before_an_empty_line_does_not_reach_the_next() -> None:
    file = SourceFile("a.c", "int a \\\n\n;\n\n  b;\n")
    assert not place_at(file, file.text.index(";\n\n"), "").splits
    assert not place_at(file, file.text.index("b;"), "  ").splits


@pytest.mark.parametrize("splice", _BLANKS)
def test_an_opening_conditional_is_as_compiled_as_what_stands_before_it(splice: str) -> None:
    text = f"#ifdef A {splice} // b"
    file = SourceFile("a.c", f"x;\n{text}\ny;\n#endif\n")
    first = Span(file, 3, 3 + len(text))
    assert place_before(file, first, first.end, 2).offset == 3


@pytest.mark.parametrize("splice", _BLANKS)
def test_a_condition_is_shown_on_one_line(splice: str) -> None:
    text = f"#if A && {splice} B\nx"
    assert [c.text for c in open_conditionals(text, len(text))] == ["'#if A && B'"]
