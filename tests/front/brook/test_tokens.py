"""Words of Brook+ with macros in place, each at its place in the text."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.brook.tokens import MOST_WORDS, BrookTextError, split_words


def words(text: str) -> list[str]:
    """Return the words of a text, without its end."""
    return [word.text for word in split_words(SourceFile("k.br", text))[:-1]]


def test_words_have_their_places() -> None:
    found = split_words(SourceFile("k.br", "float a<>; // b\n  a[i]+=1.5f;"))
    assert [(word.text, word.span.line, word.span.column) for word in found[:5]] == [
        ("float", 1, 1), ("a", 1, 7), ("<", 1, 8), (">", 1, 9), (";", 1, 10)
    ]  # fmt: skip
    assert found[-2].text == ";" and found[-1].kind == "end" and found[5].span.line == 2


def test_a_macro_stands_where_it_is_used() -> None:
    text = "#define N (2 * M)\n#define M 8\nfloat s<N>;\n#undef M\nN"
    assert words(text) == ["float", "s", "<", "(", "2", "*", "8", ")", ">", ";", "(", "2", "*", "M", ")"]
    (eight,) = (word for word in split_words(SourceFile("k.br", text)) if word.text == "8")
    assert (eight.span.line, eight.span.text) == (3, "N")


def test_a_macro_does_not_stand_for_itself() -> None:
    assert words("#define a b\n#define b a + 1\na") == ["a", "+", "1"]


def test_headers_and_pragmas_are_passed_over() -> None:
    assert words('#include <stdio.h>\n#include "common.h"\n#pragma once\nx') == ["x"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x\n#assert a\n", 2, "#assert is not read here"),
        ("x\n @", 2, "'@' is no word of Brook+"),
        ("\x07", 1, r"'\x07' is no word of Brook+"),
    ],
)
def test_what_is_no_word_is_told_with_its_place(text: str, line: int, said: str) -> None:
    with pytest.raises(BrookTextError) as caught:
        words(text)
    assert caught.value.finding.message == said
    assert caught.value.finding.span is not None and caught.value.finding.span.line == line


@pytest.mark.parametrize(
    "text", ["( " * (MOST_WORDS + 1), "\n" * (3 * MOST_WORDS), "#define a b b\n#define b c c c\n" + "a " * 60_000]
)
def test_more_words_than_anybody_writes_are_refused(text: str) -> None:
    with pytest.raises(BrookTextError, match="more than"):
        words(text)
