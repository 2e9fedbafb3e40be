from __future__ import annotations

from itertools import pairwise

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.c.scan import ScannedText, bare


def scan(text: str) -> ScannedText:
    return ScannedText.of(SourceFile("case.c", text))


def test_strings_and_comments_hide_punctuation() -> None:
    assert scan('a(\';\', "(;\\")", /* ; */ b); // ;\n').characters == "(,,);"


def test_directives_reach_over_continued_lines_and_comments() -> None:
    found = scan("x;\n  #  define A \\\n  1 /* \n */ 2\n#endif // #if\ny # z;\n").directives
    assert [d.word for d in found] == ["define", "endif"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("for (;;) ;", ("", "", "")),
        ("for(i = f(';', (1)); a[g(x)] /* ; */; i++) ;", ("i = f(';', (1))", " a[g(x)] /* ; */", " i++")),
        ("for /* x */ (int i = ({ 1; }); i < 2; i++) ;", ("int i = ({ 1; })", " i < 2", " i++")),
    ],
)
def test_the_parts_of_for_headers(text: str, parts: tuple[str, str, str]) -> None:
    header = scan(text).for_header(0)
    assert header is not None
    bounds = (header.opening, header.first, header.second, header.closing)
    assert tuple(text[a + 1 : b] for a, b in pairwise(bounds)) == parts


@pytest.mark.parametrize("text", ["FOR(;;) ;", "for (auto x : y) ;", "for (;"])
def test_what_is_no_for_header(text: str) -> None:
    assert scan(text).for_header(0) is None


def test_the_end_of_a_conditional_skips_inner_ones() -> None:
    text = "#if A\n#ifdef B\n#endif\n#else\n#endif\nx\n"
    made = scan(text)
    assert text[: made.end_of_conditional(made.directives[0], len(text))].endswith("#else\n#endif")
    assert made.end_of_conditional(made.directives[3], len(text)) == text.index("\nx")


def test_what_a_conditional_asks_for() -> None:
    text = "#if defined(A) && N > 2\n#elif M\n#ifdef __clang__\n#endif\n#endif\nx\n#ifdef C\n#endif\n"
    made = scan(text)
    whole = frozenset({"defined", "A", "N", "M", "__clang__"})
    assert [made.asked_names(line, 0, len(text)) for line in made.directives[:2]] == [whole, whole]
    assert made.asked_names(made.directives[2], 0, len(text)) == frozenset({"__clang__"})
    assert made.asked_names(made.directives[5], 0, len(text)) == frozenset({"C"})
    assert made.asked_names(made.directives[1], 3, len(text)) is None, "it starts before that"
    assert made.asked_names(made.directives[0], 0, text.index("x")) == whole
    assert made.asked_names(made.directives[5], 0, text.rindex("#")) is None, "it ends behind that"


def test_bare_text_has_no_space_and_no_comments() -> None:
    assert bare(" a /* b */ + // c\n d") == "a+d"


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("f(1'000, g(2'000));", "(,());"),
        ("f(1'0); // '\n(", "();("),
        ("// a\rf();", "();"),
        ("/* a */ f(); //\\ \n g();", "();"),
        ("a<:0:> <% f(); %>", "[]{();}"),
        ('_Pragma("omp barrier") f(); _Pragma(x) _Pragma (L"y") g(_Pragma ( "z" ));', "();()()();"),
        ("my_Pragma(1)", "()"),
    ],
)
def test_punctuation_is_seen_beside_anything(text: str, characters: str) -> None:
    assert scan(text).characters == characters


def test_raw_strings_are_of_cxx_alone() -> None:
    assert ScannedText.of(SourceFile("a.cpp", 'f(R"(;")"); g();')).characters == "();();"
    assert ScannedText.of(SourceFile("a.c", 'f(R"(;");')).characters == "();"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("/* a\n */ # /* b */ if A // c\nx", ["# /* b */ if A // c"]),
        ("%: if A\nx", ["%: if A"]),
        ("#if A\rx\r\n#\\\nif B \\\n\nx", ["#if A", "#\\\nif B \\"]),
        ("#if __has_include(<a/*b>)\nx", ["#if __has_include(<a/*b>)"]),
        ("\xef\xbb\xbf#if A\n", ["#if A"]),
        ("#if A", ["#if A"]),
    ],
)
def test_directives_are_found_however_they_are_written(text: str, lines: list[str]) -> None:
    found = scan(text).directives
    assert [text[d.start : d.end] for d in found] == lines
    assert all(d.word == "if" for d in found)


def test_blanks_are_those_of_c_and_quotes_keep_theirs() -> None:
    assert scan("a \\ \n /* b */ // c\\\n d\r\x0b;").skip(1) == 24
    assert scan("a\xa0b").skip(1) == 1
    assert bare('a + " b // c" \\\n') == 'a+" b // c"'
