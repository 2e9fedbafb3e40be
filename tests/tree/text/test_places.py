"""Places for added lines: where lines are spliced nothing comes between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsmith.base.c_lexer import GAPS, lex
from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.text import places
from warpsmith.tree.text.places import (
    binds,
    bound_pragmas,
    cut_conditionals,
    cut_pragmas,
    end_of,
    is_balanced,
    place_after,
    place_at,
    place_before,
    place_between,
)

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


PRAGMAS = """void f(int n)
{
    n++;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (;;) n--;  /* behind */
#pragma omp barrier
    n = 2; n = 3;
#if A
    n = 4;
#else
    n = 5;
#endif
}
"""


def span_of(file: SourceFile, text: str) -> Span:
    start = file.text.index(text)
    return Span(file, start, start + len(text))


def test_what_binds_stands_with_its_statement() -> None:
    file = SourceFile("a.c", PRAGMAS)
    loop, second, third = (span_of(file, text) for text in ("for (;;) n--;", "n = 2;", "n = 3;"))
    before = place_before(file, loop, loop.end, 0)
    assert (before.offset, before.indent, before.splits, before.above) == (PRAGMAS.index("#ifdef"), "    ", False, True)
    assert place_after(file, loop.end).offset == PRAGMAS.index("#pragma omp barrier")
    # a pragma that stands alone does not bind
    assert place_before(file, second, second.end, 0).offset == PRAGMAS.index("    n = 2;")
    split = place_before(file, third, third.end, 0)
    assert split.splits and split.offset == second.end
    assert place_after(file, second.end).splits
    assert [d.word for d in bound_pragmas(file, 0, loop.start, [])] == ["pragma"]
    assert bound_pragmas(file, 0, second.start, []) == []
    assert [s.text for s in cut_pragmas(file, 0, loop.start)] == ["#pragma omp parallel for"]


def test_code_of_another_build_is_passed_where_a_pragma_would_be_cut_off() -> None:
    text = "void f(int n)\n{\n#ifdef AWAY\n    {\n#pragma omp target\n#endif\n    for (;;) n--;\n}\n"
    file = SourceFile("a.c", text)
    loop = span_of(file, "for (;;) n--;")
    with pytest.raises(RefusedError):
        place_before(file, loop, loop.end, 0)
    left_out = [(text.index("    {\n"), text.index("#endif"))]
    place = place_before(file, loop, loop.end, 0, left_out)
    assert (place.offset, place.above) == (text.index("#ifdef"), True)


def test_a_statement_that_cuts_a_conditional_has_no_place() -> None:
    file = SourceFile("a.c", PRAGMAS)
    start = PRAGMAS.index("n = 4;")
    with pytest.raises(RefusedError, match="conditional starts or ends inside"):
        place_before(file, span_of(file, "n = 4;"), PRAGMAS.index("n = 5;"), PRAGMAS.index("n = 2"))
    assert place_before(file, span_of(file, "n = 4;"), start + 6, 0).offset == PRAGMAS.index("    n = 4;")


def test_between_two_statements_it_is_the_outermost_conditional() -> None:
    file = SourceFile("a.c", "a;\n#if A\n#if B\n#endif\n#pragma omp for\n#endif\nb;\n#define N\nc;\n")
    lower, end = 2, file.text.index("b;")
    assert place_between(file, lower, end, "", early=True).offset == file.text.index("#if A")
    # nothing comes between the pragma and what it binds to
    assert place_between(file, lower, end, "", early=False).offset == file.text.index("#if A")
    last = file.text.index("c;")
    assert place_between(file, end + 2, last, "", early=True).offset == file.text.index("#define")
    assert place_between(file, end + 2, last, "", early=False).offset == last


@pytest.mark.parametrize(
    ("text", "balanced"),
    [("", True), ("a\n#if A\n#else\n#endif\n", True), ("#if A\n", False), ("#endif\n", False), ("#else\n", False),
     ("#endif\n#if A\n", False), ("#if A\n#if B\n#else\n#endif\n#endif", True)],
)  # fmt: skip
def test_balance(text: str, balanced: bool) -> None:
    assert is_balanced(text) is balanced


@pytest.mark.parametrize(
    ("pragma", "bound"),
    [("#pragma omp parallel for", True), ("# pragma omp barrier", False), ("#pragma acc wait", False),
     ("#pragma GCC diagnostic push", False), ("#pragma GCC ivdep", True), ("#pragma unroll", True),
     ("#pragma once", False), ("#pragma omp single", True), ("#pragma omp flush(a)", False)],
)  # fmt: skip
def test_which_pragmas_belong_to_what_is_under_them(pragma: str, bound: bool) -> None:
    assert binds(pragma) is bound


_PIECES = [
    "#if A\n",
    "#pragma x\n",
    "#endif\n",
    " ",
    "\n",
    "a",
    "b;",
    "{",
    "(",
    "/* c */",
    "// d\n",
    '"s"',
    "\\\n",
    ",",
    "#",
]


def _last_code(file: SourceFile, lower: int, start: int, outside: tuple[int, int]) -> int:
    """Return where the last code ends, by every token of the text."""
    found = [t for t in lex(file.text[lower:start]) if t.kind not in GAPS and not t.directive]
    inside = [t for t in found if not outside[0] <= lower + t.start < outside[1]]
    return lower + inside[-1].end if inside else lower


_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=14).map("".join)


@given(_TEXTS, st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_code_ends_where_its_last_token_does(text: str, at: list[int]) -> None:
    lower, start = sorted(min(place, len(text)) for place in at[:2])
    file, (first, last) = SourceFile("a.c", text), sorted(at[2:])
    assert vars(places)["_floor"](file, lower, start, [(first, last)]) == _last_code(file, lower, start, (first, last))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a;", (0, 0)),
        ("#ifdef A\n#endif\n", (0, 0)),
        ("for {\n#endif\n a;\n#ifdef A\n}", (1, 1)),
        ("#if A\n#if B\n#endif\n", (0, 1)),
        ("#endif\n#endif\n#if A\n#else\n#endif\n", (2, 0)),
    ],
)
def test_conditionals_that_cut_through_a_text(text: str, cut: tuple[int, int]) -> None:
    assert cut_conditionals(text) == cut


@pytest.mark.parametrize(
    ("behind", "taken"),
    [
        ("\n#endif\nb;\n", "\n#endif"),
        (" /* end */\n\n#endif // A\nb;\n", " /* end */\n\n#endif"),
        ("\nb;\n#endif\n", ""),
        ("\n#else\nb;\n#endif\n", ""),
        ("\n", ""),
    ],
)
def test_a_statement_ends_behind_the_conditional_of_its_end(behind: str, taken: str) -> None:
    statement = "for {\n#endif\n a;\n#ifdef A\n}"
    file = SourceFile("a.c", f"#ifdef A\n{statement}{behind}")
    start, end = 9, 9 + len(statement)
    found = end_of(file, start, end)
    assert file.text[end:found].startswith(taken) and (found > end) == bool(taken)
    assert end_of(file, 9, 14) == 14
