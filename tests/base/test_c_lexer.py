"""The lexer of C text: kinds and spellings of tokens, the gaps between them, and texts that end too early."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warpsmith.base.c_lexer import (
    C17,
    C23,
    CUDA,
    CXX,
    GAPS,
    TEXTS,
    Dialect,
    Token,
    gap_end,
    goes_on,
    join_splices,
    lex,
    marks,
)
from warpsmith.base.source import SourceFile


def spelled(text: str, dialect: Dialect = CXX) -> list[str]:
    """Return the spellings of the tokens and comments."""
    return [t.spelling for t in lex(text, dialect) if t.kind not in ("blank", "newline")]


def kinds(text: str, dialect: Dialect = CXX) -> list[tuple[str, str]]:
    return [(t.kind, t.spelling) for t in lex(text, dialect) if t.kind not in ("blank", "newline")]


def test_trigraphs_are_off() -> None:
    assert spelled("??=define ??/\nx") == ["?", "?", "=", "define", "?", "?", "/", "x"]


@pytest.mark.parametrize("splice", ["\\\n", "\\\r\n", "\\\r", "\\ \t\n"])
def test_splices_join_words_comments_strings_numbers_and_signs(splice: str) -> None:
    text = "a^b \"c^d\" 'e^f' 1^2e^+^3 <^<^= /^* g ^*^/ /^/ h^i\n j".replace("^", splice)
    assert spelled(text) == ["ab", '"cd"', "'ef'", "12e+3", "<<=", "/* g */", "// hi", "j"]
    assert "".join(t.text for t in lex(text)) == text
    assert join_splices(text) == text.replace(splice, "")


def test_a_splice_between_tokens_is_a_blank_and_one_behind_a_line_comment_belongs_to_it() -> None:
    text = "a\\\n+ \\\nb // c\\\n\n\\\n"
    found = [(t.kind, t.text) for t in lex(text)]
    assert found == [
        ("word", "a"), ("blank", "\\\n"), ("sign", "+"), ("blank", " \\\n"), ("word", "b"), ("blank", " "),
        ("comment", "// c\\\n"), ("newline", "\n"), ("blank", "\\\n"),
    ]  # fmt: skip


def test_a_carriage_return_alone_ends_a_line_and_its_comment() -> None:
    assert kinds("a // b\rc\r#d") == [("word", "a"), ("comment", "// b"), ("word", "c"), ("sign", "#"), ("word", "d")]
    assert [t.directive for t in lex("\r#d")] == [False, True, True]
    assert [t.text for t in lex("a\r\nb") if t.kind == "newline"] == ["\r\n"]


@pytest.mark.parametrize("prefix", ["", "u8", "u", "U", "L"])
def test_raw_strings_keep_splices_and_quotes_and_are_of_cxx_alone(prefix: str) -> None:
    raw = f'{prefix}R"x(a"\\\n)y" // )x"'
    assert kinds(f"f({raw}, 1)")[2] == ("string", raw)
    assert spelled(f'f({prefix}R"(b)")', C17)[2:4] == [f"{prefix}R", '"(b)"']


def test_a_raw_string_says_what_is_written_even_behind_a_splice() -> None:
    text = 'a\\\nb u8\\\nR"\\\n'
    assert kinds(text + "c") == [("word", "ab"), ("word", "u8R"), ("string", '"c')]
    text = 'a\\\nb u8\\\nR"q(\\\n)q"_s c\\\nd'
    assert kinds(text) == [("word", "ab"), ("string", 'u8R"q(\\\n)q"_s'), ("word", "cd")]
    assert next(t for t in lex(text) if t.kind == "string").text == 'u8\\\nR"q(\\\n)q"_s'


def test_what_is_no_raw_string_is_a_word_and_a_string() -> None:
    assert kinds('R"a b(c)a b"') == [("word", "R"), ("string", '"a b(c)a b"')]
    assert kinds('fooR"(x"') == [("word", "fooR"), ("string", '"(x"')]
    assert spelled(f'R"{"m" * 17}("') == ["R", f'"{"m" * 17}("']


def test_strings_and_characters_with_prefixes_escapes_and_suffixes() -> None:
    text = r'''L"a\"b" u8"\\" 'c' '\'' U'd' ""'''
    assert kinds(text) == [
        ("string", r'L"a\"b"'), ("string", r'u8"\\"'), ("character", "'c'"), ("character", r"'\''"),
        ("character", "U'd'"), ("string", '""'),
    ]  # fmt: skip
    assert spelled("u8'a'", C23) == ["u8'a'"]
    assert spelled("u8'a'", C17) == ["u8", "'a'"]
    assert spelled('"a"_x "b"sv \'c\'_y "d"PRId64') == ['"a"_x', '"b"sv', "'c'_y", '"d"', "PRId64"]
    assert spelled('"a"_x', C17) == ['"a"', "_x"]


def test_preprocessing_numbers() -> None:
    assert spelled("1e+5 0x1p-3 .5f 1.e-2 1..2 0xE+1 1+1") == [
        "1e+5", "0x1p-3", ".5f", "1.e-2", "1..2", "0xE+1", "1", "+", "1",
    ]  # fmt: skip
    assert spelled("1'000'000 0x'f'") == ["1'000'000", "0x'f", "'"]
    assert spelled("1'000'", C23) == ["1'000", "'"]
    assert spelled("1'000'", C17) == ["1", "'000'"]


def test_names_hold_dollars_universal_names_and_bytes_of_utf8() -> None:
    text = "k$a $ \\u00e4b c\\U0001F600d " + "grün π".encode().decode("latin-1")
    assert [t.kind for t in lex(text) if t.kind not in GAPS] == ["word"] * 6
    assert spelled("grün + 1") == ["grün", "+", "1"]
    assert kinds("\\u12") == [("other", "\\"), ("word", "u12")]


def test_digraphs() -> None:
    assert spelled("a<::b> x<:::c> <::> <:1:> %:%: <% %>") == [
        "a", "<", "::", "b", ">", "x", "<:", "::", "c", ">", "<:", ":>", "<:", "1", ":>", "%:%:", "<%", "%>",
    ]  # fmt: skip
    assert spelled("a<::b", C17) == ["a", "<:", ":", "b"]
    assert [t.sign for t in lex("<::><%%>%:%:%:[]") if t.kind == "sign"] == ["[", "]", "{", "}", "##", "#", "[", "]"]


def test_signs_are_the_longest() -> None:
    text = "->* ->-- -= >>= >> <<= <=> ... .. ## # && &= || |= ++ += :: != == ^= *= /= %= .*"
    assert spelled(text) == text.replace("->--", "-> --").replace(" .. ", " . . ").split()
    assert spelled("a->*b.*c<=>d", C17) == ["a", "->", "*", "b", ".", "*", "c", "<=", ">", "d"]
    assert spelled("k<<<1, 2>>>(3)", CUDA) == ["k", "<<<", "1", ",", "2", ">>>", "(", "3", ")"]
    assert spelled("k<<<1>>>", CXX) == ["k", "<<", "<", "1", ">>", ">"]
    assert kinds("@ ` \\") == [("other", "@"), ("other", "`"), ("other", "\\")]


def test_headers_have_names_in_preprocessor_lines_alone() -> None:
    assert kinds("# include /* a */ <b//c> // d") == [
        ("sign", "#"), ("word", "include"), ("comment", "/* a */"), ("header", "<b//c>"), ("comment", "// d"),
    ]  # fmt: skip
    assert ("header", '"a\\"') in kinds('%:include_next "a\\"')
    assert ("header", '<a"b>') in kinds('#if defined(X) && __has_include ( <a"b> ) && x<y>z')
    assert spelled("#if a < b > c // <d>")[-1] == "// <d>"
    assert spelled("include <a//b>") == ["include", "<", "a", "//b>"]
    assert spelled("#include <a//b\n>") == ["#", "include", "<", "a", "//b", ">"]
    assert spelled("#include MACRO <a//b>")[-1] == "//b>"


def test_preprocessor_lines_go_on_over_splices_and_comments() -> None:
    text = "a; /* x\n */ # /* b\n */ define c \\\n d '#' // e \\\n f\n# g\nh # i"
    in_lines = [t.spelling for t in lex(text) if t.directive and t.kind not in GAPS]
    assert in_lines == ["#", "g"]
    in_lines = [t.spelling for t in lex(text.removeprefix("a;")) if t.directive and t.kind not in GAPS]
    assert in_lines == ["#", "define", "c", "d", "'#'", "#", "g"]
    assert [t.directive for t in lex("\xef\xbb\xbf#a")] == [False, True, True]


UNFINISHED = (
    '"a',
    "'",
    "L'\\",
    '"\\',
    "/* a *",
    "/*",
    "//",
    "// \\",
    'R"',
    'R"(',
    'u8R"xy(a)x"',
    "\\",
    "#",
    "#include <",
    '#include "a',
    "\\u00",
    "1e+",
    "0x1'",
    "a\\\n",
    "/\\\n",
    '"\\\n',
    'R"(\\\n',
    "#if __has_include(",
    "<:",
    "%:%",
)


@pytest.mark.parametrize("text", UNFINISHED)
@pytest.mark.parametrize("dialect", [C17, CUDA])
def test_a_text_may_end_anywhere(text: str, dialect: Dialect) -> None:
    assert "".join(t.text for t in lex(text, dialect)) == text
    # and strings and characters without an end stop at the end of their line
    if text[:1] in "\"'":
        assert spelled(text.rstrip("\\\n") + "\nnext", dialect)[-1] == "next"


PIECES = (
    "a", "k$a", "\\u00e4", "\xc3\xa4", "R", "u8", "L", "1", "0x1p-3", "1e+5", "1'000", "'", '"', '"s"', "'c'", 'R"(',
    ')"', 'R"x(a)x"', "//", "/*", "*/", "\n", "\r\n", "\r", "\t", " ", "\\\n", "\\ \r\n", "\\", "#", "%:", "<:", "<::",
    ">>>", "<<<", "include", "define", "<a//b>", "__has_include(", "_s", "sv", "...", "->*", ".", "@", "\0", "\x0c",
    "\xff",
)  # fmt: skip
DIALECTS = (C17, C23, CXX, CUDA)
mixed = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(mixed | st.text(st.characters(max_codepoint=255), max_size=60), st.sampled_from(DIALECTS))
def test_tokens_follow_one_another_and_know_their_places(text: str, dialect: Dialect) -> None:
    found = list(lex(text, dialect))
    file = SourceFile("a.c", text)
    assert "".join(token.text for token in found) == text
    end = 0
    for token in found:
        assert (token.start, token.end, token.text) == (end, end + len(token.text), text[end : token.end])
        assert (token.line, token.column) == file.location(token.start)
        assert token.text
        end = token.end


def without_splices(tokens: list[Token]) -> list[tuple[str, str, bool]]:
    return [(t.kind, t.spelling, t.directive) for t in tokens if t.kind not in ("blank", "newline")]


@given(mixed, st.sampled_from(DIALECTS), st.integers(0), st.sampled_from(["\\\n", "\\\r\n", "\\\t\n"]))
def test_a_splice_inside_a_token_changes_no_spelling(text: str, dialect: Dialect, at: int, splice: str) -> None:
    found = list(lex(text, dialect))
    inside = [n for t in found if t.kind != "newline" and "R" not in t.text for n in range(t.start + 1, t.end)]
    assume(inside)
    place = inside[at % len(inside)]
    # behind `\` the splice would be another one; in front of a line end it would take it in
    assume(text[place - 1] not in "\\\n\r" and not any(a in text[place - 1 : place + 1] for a in ("\n", "\r")))
    again = list(lex(text[:place] + splice + text[place:], dialect))
    assert without_splices(again) == without_splices(found)


@given(mixed, st.sampled_from(DIALECTS))
def test_tokens_read_alone_are_themselves(text: str, dialect: Dialect) -> None:
    for token in lex(text, dialect):
        if token.kind != "header":
            assert [t.spelling for t in lex(token.spelling, dialect)] == ([token.spelling] if token.spelling else [])


def test_a_line_that_goes_on() -> None:
    assert goes_on("a \\ \t") and goes_on("a\\\r\n") and not goes_on("a\\ b") and not goes_on("")


DIVIDERS = (*PIECES, "_Pragma", "_PragmaX", "(", ";", "<<", "<<=", ":", "%", "%>", "/", "{", "}", "::")


@given(st.lists(st.sampled_from(DIVIDERS), max_size=30).map("".join), st.sampled_from(DIALECTS), st.booleans())
def test_marks_are_tokens(text: str, dialect: Dialect, brackets: bool) -> None:
    def divides(token: Token) -> bool:
        if token.directive:
            return token.kind != "blank"
        sign = brackets and token.sign in tuple("()[]{};,")
        return token.kind == "comment" or token.kind in TEXTS or sign or token.spelling == "_Pragma"

    wanted = [(t.kind, t.sign, t.start, t.end, t.directive) for t in lex(text, dialect) if divides(t)]
    found = list(marks(text, dialect, brackets=brackets))
    assert [tuple(mark) for mark in found if mark.kind != "newline"] == wanted
    # and each preprocessor line has its end
    ends = [t.start for before, t in pairwise(lex(text, dialect)) if before.directive and not t.directive]
    assert [mark.start for mark in found if mark.kind == "newline"] == ends


@given(mixed, st.sampled_from(DIALECTS))
def test_a_gap_ends_where_the_next_token_starts(text: str, dialect: Dialect) -> None:
    found = [t for t in lex(text, dialect) if not t.text.startswith("\xef\xbb\xbf")]
    starts = [t.start for t in found if t.kind not in GAPS]
    for token in found:
        following = next((start for start in starts if start >= token.start), len(text))
        # `/\\⏎/` alone is a comment that is not looked for there
        if not any(t.kind == "comment" and t.text[:2] not in ("//", "/*") for t in found):
            assert gap_end(text, token.start) == following
