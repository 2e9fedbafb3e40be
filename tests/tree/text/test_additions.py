"""Text behind `#ifdef WARPSMITH`: put in, distinguished, taken out again."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, apply_edits
from warpsmith.tree.text.additions import Addition, additions, as_edits, remove_additions, wrap_in_ifdef
from warpsmith.tree.text.places import InsertionPoint


def written(file: SourceFile, *added: Addition) -> str:
    text = file.text
    for edit in sorted(as_edits(file, added), key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def at(offset: int, *lines: str, start: int = 0, end: int = 9, closes: bool = False, splits: bool = False) -> Addition:
    return Addition(InsertionPoint(offset, "  ", splits), lines, start, end, closes)


def test_lines_stand_behind_the_macro_and_go_again() -> None:
    file = SourceFile("a.c", "one;\n  two;\n")
    made = written(file, at(5, "added();", "#if A", "more();", "#endif"))
    assert made == "one;\n#ifdef WARPSMITH\n  added();\n#if A\n  more();\n#endif\n#endif\n  two;\n"
    assert remove_additions(made) == file.text and len(list(additions(made))) == 1


def test_statements_that_stand_by_themselves_have_a_line_each() -> None:
    for end in ("\n", "\r\n"):
        file = SourceFile("a.c", f"one;{end}  two;{end}")
        added = at(4 + len(end), 'f(a[1], ")");', "if (!g(a, (b)))")
        made = written(file, added)
        assert made == (
            f'one;{end}  WARPSMITH_ONLY(f(a[1], ")");){end}  WARPSMITH_ONLY(if (!g(a, (b)))){end}  two;{end}'
        )
        assert remove_additions(made) == file.text
        assert [text.strip() for _, text in additions(made)] == [line.strip() for line in made.split(end)[1:3]]
        assert "#ifdef WARPSMITH" in "".join(edit.text for edit in as_edits(file, [added], lines=False))


def test_a_long_line_is_broken_below_its_first_argument() -> None:
    file = SourceFile("a.c", "one;\n  two;\n")
    made = written(file, at(5, f"if (!f({', '.join(f'argument_{n}' for n in range(20))}))"))
    first, *rest = made.splitlines()[1:-1]
    assert max(map(len, made.splitlines())) <= 120 and rest
    assert all(len(line) - len(line.lstrip()) == first.index("argument_0") for line in rest)
    assert remove_additions(made) == file.text


def test_a_long_line_among_others_is_broken_unless_it_has_a_comment() -> None:
    file = SourceFile("a.c", "one;\n  two;\n")
    call, comment = f"    f({', '.join(f'argument_{n}' for n in range(20))});", f"    g(); // {'so, ' * 40}"
    made = written(file, at(5, f"if (a) {{\n{call}\n{comment}\n}}"))
    assert [len(line) > 120 for line in made.splitlines()].count(True) == 1 and comment.strip() in made
    assert remove_additions(made) == file.text


@pytest.mark.parametrize(
    "lines",
    [
        ("if (a) {",), ("}",), ("} else",), ("else {", "b();", "}"), ("f();", "#if A", "g();", "#endif"),
        ("f(); // x",), ("if (a) b(); else",), ("f(]);",), ("else c();",),
    ],
)  # fmt: skip
def test_what_has_an_end_elsewhere_stands_behind_the_macro(lines: tuple[str, ...]) -> None:
    file = SourceFile("a.c", "one;\n  two;\n")
    made = written(file, at(5, "whole();"), at(5, *lines, start=3))
    assert made.count("#ifdef WARPSMITH") == 1 and "WARPSMITH_ONLY" not in made
    assert remove_additions(made) == file.text


def test_a_split_line_is_joined_again() -> None:
    for end in ("\n", "\r\n"):
        file = SourceFile("a.c", f"{{ one; two; }}{end}")
        made = written(file, at(6, "added();", splits=True))
        assert (
            f"one;{end}#ifdef WARPSMITH{end}  added();{end}#endif /* WARPSMITH: the line goes on */{end} two;" in made
        )
        assert remove_additions(made) == file.text


def test_at_one_place_what_closes_comes_first_and_outer_ones_open_first() -> None:
    file = SourceFile("a.c", "one;\ntwo;\n")
    made = written(
        file, at(5, "inner{", end=7), at(5, "}outer", start=0, closes=True), at(5, "outer{", end=9),
        at(5, "}inner", start=3, closes=True),
    )  # fmt: skip
    assert [line.strip() for line in made.splitlines()[2:6]] == ["}inner", "}outer", "outer{", "inner{"]
    assert made.count("#ifdef") == 1 and remove_additions(made) == file.text


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef OTHER\nx\n#endif\n",
        "/*\n#ifdef WARPSMITH\n*/\n",
        "#if 1\n#ifndef WARPSMITH\nx\n#endif\n#endif\n",
        "",
        "WARPSMITH_ONLY(f();\n",
        "WARPSMITH_ONLY(f();) g();\n",
        "x = WARPSMITH_ONLY(1);\n",
        "WARPSMITH_ONLY_(f();)\n",
        "#pragma omp parallel WARPSMITH_ONLY(if (f()\n",
        "#pragma omp parallel MY_WARPSMITH_ONLY(if (f()))\n",
    ],
)
def test_what_is_not_ours_stays(text: str) -> None:
    assert remove_additions(text) == text and not list(additions(text))


def test_additions_at_the_ends_of_a_file() -> None:
    block = wrap_in_ifdef(["a", "#ifdef B", "#endif"])
    assert remove_additions(f"{block}x\n{block}") == "x\n"
    assert remove_additions(f"\xef\xbb\xbf{block}x\n") == "\xef\xbb\xbfx\n"
    assert remove_additions(block.rstrip("\n")) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("rest", ["", " // of all", " /* of all */"])
@pytest.mark.parametrize("clauses", ["", " private(i)", " private(" + ", ".join(f"v{n}" for n in range(18)) + ")"])
def test_a_clause_goes_on_in_the_line_of_its_pragma(clauses: str, rest: str, end: str) -> None:
    head = f"  #pragma omp parallel{clauses}"
    file = SourceFile("a.c", f"{head}{rest}{end}  {{ }}{end}")
    place = InsertionPoint(len(head), "  ", splits=False)
    (edit,) = as_edits(file, [Addition(place, ("if (!on())",), 0, 9, closes=True, clause=True)])
    made = apply_edits(file, [edit])
    assert f"WARPSMITH_ONLY(if (!on())){rest}{end}" in made and remove_additions(made) == file.text
    assert (f" \\{end}      WARPSMITH_ONLY" in made) == ("v1" in clauses)
