"""Statements side by side: a body to which something is added gets braces, and what is between two has its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tree.in_place.test_edits import Words, parsed
from warpsmith.tree.in_place.pairs import NeedsCopyError, PairedStatements
from warpsmith.tree.in_place.versioned import Run
from warpsmith.tree.in_place.writer import InPlaceWriter
from warpsmith.tree.nodes import For, Function, If, Launch, Stmt, Switch, replace
from warpsmith.tree.text.additions import Addition

TEXT = """\
void f(int x, int n, int *a)
{
    if (x)
        a[0] = 1;
    /* the loop */
    for (int i = 0; i < n; i++)
        a[i] = i;
}
"""


class _Marks(PairedStatements, frozen=True):
    """Marks every run that is asked about."""

    def run(self, old: Run, new: Run, owner: Stmt) -> Iterator[Addition]:
        yield self.writer.opens(self.writer.before(old, owner), old, ["run"])

    def replaced(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        yield self.writer.opens(self.writer.before((old,), owner), (old,), ["replaced"])

    def otherwise(self, old: If, statements: Run) -> Iterator[Addition]:
        yield self.writer.closes((old.then,), ["else"])


def _marks(folder: Path) -> tuple[_Marks, Function]:
    unit, function, _, _ = parsed(TEXT, folder)
    return _Marks(InPlaceWriter(unit, Words()), function), function


def test_a_body_without_braces_gets_them(tmp_path: Path) -> None:
    marks, function = _marks(tmp_path)
    loop = function.body.statements[1]
    assert isinstance(loop, For)
    launch = Launch(span=loop.body.span, kernel="k", arguments=(), region="r")
    lines = [one.lines for one in marks.pair(loop, replace(loop, body=launch), function.body)]
    assert lines == [("{",), ("run",), ("}",)]
    assert not list(marks.pair(loop, loop, function.body))
    (other,) = marks.pair(loop, replace(loop, step=2), function.body)
    assert other.lines == ("replaced",)


def test_an_if_may_get_an_else_and_lose_none(tmp_path: Path) -> None:
    marks, function = _marks(tmp_path)
    branch = function.body.statements[0]
    assert isinstance(branch, If)
    both = replace(branch, other=branch.then)
    assert [one.lines for one in marks.pair(branch, both, function.body)] == [("{",), ("run",), ("}",), ("else",)]
    with pytest.raises(NeedsCopyError):
        list(marks.pair(both, replace(branch, other=None), function.body))


@pytest.mark.parametrize("early", [False, True])
def test_what_stands_between_two_statements(early: bool, tmp_path: Path) -> None:
    marks, function = _marks(tmp_path)
    first, second = function.body.statements
    made = marks.between(["x;"], first, second, function.body, early)
    text = marks.writer.file.text
    assert text[made.place.offset :].startswith("    /* the loop" if early else "    for (int i")
    assert made.closes == early


def test_what_stands_above_a_line_of_the_preprocessors_is_as_deep_as_what_is_before(tmp_path: Path) -> None:
    text = TEXT.replace("    /* the loop */\n", "#pragma endscop\n")
    unit, function, _, _ = parsed(text, tmp_path)
    marks = _Marks(InPlaceWriter(unit, Words()), function)
    first, pragma, _ = function.body.statements
    assert marks.between(["x;"], first, pragma, function.body, True).place.indent == "    "


@pytest.mark.parametrize("early", [False, True])
def test_what_stands_before_the_first_statement_of_a_case(early: bool, tmp_path: Path) -> None:
    text = TEXT.replace(
        "    if (x)\n", "    switch (x) {\n    case 1:\n        a[1] = 2;\n        break;\n    }\n    if (x)\n"
    )
    unit, function, _, _ = parsed(text, tmp_path)
    marks = _Marks(InPlaceWriter(unit, Words()), function)
    switch = next(stmt for stmt in function.body.statements if isinstance(stmt, Switch))
    first = switch.cases[0].body[0]
    made = marks.between(["x;"], None, first, first, early)
    assert not made.place.splits and marks.writer.file.text[made.place.offset :].startswith("        a[1] = 2;")
