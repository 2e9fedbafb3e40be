from __future__ import annotations

from itertools import pairwise

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.c.scan import Scan, bare


def scan(text: str) -> Scan:
    return Scan.of(SourceFile("case.c", text))


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


def test_bare_text_has_no_space_and_no_comments() -> None:
    assert bare(" a /* b */ + // c\n d") == "a+d"
