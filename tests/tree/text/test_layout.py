"""Lines and indentation."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.text.layout import (
    indent_at,
    indent_text,
    indentation_unit,
    line_end,
    outdent,
    own_line,
    slice_text,
    starts_line,
)


def test_moving_text_does_not_touch_strings() -> None:
    text = 'if (a)\n\t\tg("x\\\n\ty");'
    assert outdent(text, "\t") == 'if (a)\n\tg("x\\\n\ty");'
    assert indent_text(outdent(text, "\t"), "  ") == 'if (a)\n  \tg("x\\\n\ty");'
    assert indent_text("a\n\nb", "  ") == "a\n\n  b"


def test_line_ends_and_units() -> None:
    assert (line_end("a\r\nb\r\nc\n"), line_end("a\nb"), line_end("")) == ("\r\n", "\n", "\n")
    assert indentation_unit("{\n  a\n  {\n    b\n") == "  "
    assert indentation_unit("{\n\ta\n") == "\t"
    assert indentation_unit("a") == "    "


def test_a_statement_alone_on_its_line_owns_the_line() -> None:
    file = SourceFile("a.c", "  a;  \n  b; c;\nd;")

    def owned(text: str) -> str:
        start = file.text.index(text)
        return own_line(Span(file, start, start + len(text))).text

    assert owned("a;") == "  a;  \n"
    assert owned("b;") == "b;"
    assert owned("c;") == "c;"
    assert owned("d;") == "d;"


def test_a_line_inside_a_word_is_not_indented() -> None:
    assert indent_text("a\nfoo\\\nbar\\\n  baz", "  ") == "a\n  foo\\\nbar\\\n    baz"


@pytest.mark.parametrize(
    ("text", "unit"),
    [("a\n  b\n", "  "), ("a\n\tb\n\t\tc\n", "\t"), ("a\nb\n", "    "), ("a\n     b\n", "    "), ("", "    "),
     ("a\n   b\n\n      c\na\n  d\n", "   ")],
)  # fmt: skip
def test_one_level_is_the_usual_step(text: str, unit: str) -> None:
    assert indentation_unit(text) == unit


def test_text_is_moved_with_its_shape() -> None:
    file = SourceFile("a.c", "x\n    for (;;)\n\n        a;\n   b;\n")
    start = file.text.index("for")
    assert indent_at(file, start) == "    " and starts_line(file, start) and not starts_line(file, start + 3)
    moved = slice_text(Span(file, start, file.text.index("b;") + 2))
    assert moved == "for (;;)\n\n    a;\nb;"
    assert indent_text(moved, "\t") == "for (;;)\n\n\t    a;\n\tb;"
    assert indent_text("a", "\t") == "a" and indent_text("a\nb", "") == "a\nb"
    assert outdent("a\r\n  b", "  ") == "a\nb" and outdent("a\n b", "    ") == "a\nb"
