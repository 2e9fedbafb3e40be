"""Tokens, preprocessor lines and layout."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from warpsmith.base.c_lexer import GAPS, Token, lex
from warpsmith.tree.text.lexical import directives, find_unbroken, identifiers, map_words, tokens


@given(st.text(alphabet="ab1 \"'\\/*\n\r#R(){}.\t", max_size=80))
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokens(text)) == text
    assert map_words(text, lambda word: word) == text


def test_words_are_found_outside_comments_and_strings() -> None:
    text = 'int a; // b\n/* c */ "d" R"x(e)x" \'f\' 0xg1 L"h" /* i\n*/ j "k\\"l" m'
    assert identifiers(text) == {"int", "a", "j", "m"}
    assert map_words('min(min_, "min") /* min */', lambda w: "x" if w == "min" else w) == 'x(min_, "min") /* min */'


def test_directives() -> None:
    text = '#include <a>\n# if X \\\n  && Y\n  #define Z "#"\n/* c */ #else\nint a; # b\n#endif\nvoid f(){\n#x\n}'
    found = [(d.word, d.depth, d.braces) for d in directives(text)]
    assert found == [("include", 0, 0), ("if", 0, 0), ("define", 1, 0), ("else", 1, 0), ("endif", 0, 0), ("x", 0, 1)]
    assert text[next(d for d in directives(text) if d.word == "if").start :].startswith("# if X \\\n  && Y\n")


@given(st.text(alphabet="a# \"'\\/*\n\r<R(){}", max_size=60))
def test_lines_start_behind_the_line_feeds_of_gaps(text: str) -> None:
    gaps = [token for token in lex(text) if token.kind in GAPS]
    feeds = [t.start + k + 1 for t in gaps for k, letter in enumerate(t.text) if letter == "\n"]
    assert list(find_unbroken(text)) == [0, *feeds]


def _find_with_all_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield word, start and end of the preprocessor lines, by every token of the text."""
    end = Token("newline", "", "", len(text), len(text), 0, 0, False)
    for stands, line in groupby([*lex(text), end], lambda token: token.directive):
        if stands:
            found = list(line)
            yield next((t.spelling for t in found if t.kind == "word"), ""), found[0].start, found[-1].end


@given(
    st.lists(st.sampled_from(["#", "%:", "if", "en\\\ndif", "a", " ", "\n", "\\\n", "/*", "*/", "//", '"', "{", "\r"]))
)
def test_preprocessor_lines_are_those_of_the_tokens(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = list(directives(text))
    known = list(_find_with_all_tokens(text))
    assert [(d.word, d.start) for d in found] == [(word, start) for word, start, _ in known]
    # a line ends where its line end stands, behind its last token
    assert all(
        end <= d.end and text[end : d.end].strip(" \\\n") == "" for d, (_, _, end) in zip(found, known, strict=True)
    )


def test_words_may_be_spliced_and_comments_end_with_a_carriage_return() -> None:
    assert identifiers("in\\\nt a; // b\rc") == {"int", "a", "c"}
    assert map_words("mi\\\nn(ma\\\nx)", lambda w: "y" if w == "min" else w) == "y(ma\\\nx)"


def test_names_of_headers_are_no_comments_and_keep_their_names() -> None:
    text = "#include <h//a.h>\n#include <b/*.h>\nint h;"
    assert identifiers(text) == {"include", "int", "a", "b", "h"}
    assert map_words(text, lambda w: "x" if w == "h" else w) == text.replace("int h", "int x")


def test_preprocessor_lines_behind_a_byte_order_mark_and_with_a_digraph() -> None:
    assert [(d.word, d.start) for d in directives("\xef\xbb\xbf#if A\n%: endif\r#else")] == [
        ("if", 3), ("endif", 9), ("else", 18),
    ]  # fmt: skip
    assert [d.braces for d in directives("<%\n#a\n%>\n#b")] == [1, 0]
