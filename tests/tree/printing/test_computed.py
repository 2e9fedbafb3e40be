"""A declaration that is its head and a block: how both print, and what may stand between them."""

from __future__ import annotations

from pathlib import Path

from warpsmith.base.source import Span
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, Empty, Function, replace
from warpsmith.tree.printing.computed import find_computed, is_computed
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import Printer, join_lines, nothing

TEXT = """#include <numeric>
#include <vector>
double f(const std::vector<double> &v)
{
    int n = 1;
    const double s = std::accumulate(v.begin(), v.end(), 0.0);
    return s + n;
}
"""


def _function(tmp_path: Path) -> Function:
    path = tmp_path / "f.cpp"
    path.write_text(TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions())


def _patched(old: Function, new: Function) -> str:
    text = TEXT
    for edit in sorted(Patcher([old]).edits(old, new), key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def test_the_variable_is_found(tmp_path: Path) -> None:
    _, head, rest, end = _function(tmp_path).body.statements
    assert isinstance(rest, Block)
    found = find_computed(rest)
    assert found is not None
    assert found.name == "s"
    assert not is_computed(head)
    assert not is_computed(end)
    assert find_computed(replace(rest, statements=())) is None


def test_a_changed_block_is_a_lambda_behind_the_users_words(tmp_path: Path) -> None:
    function = _function(tmp_path)
    first, head, rest, end = function.body.statements
    assert isinstance(rest, Block)
    changed = replace(rest, statements=tuple(rest.statements))
    new = replace(function, body=replace(function.body, statements=(first, head, changed, end)))
    text = _patched(function, new)
    assert "    const double s = [&] {\n        double s;\n        double sum = 0.0;\n" in text
    assert "        s = sum;\n        return s;\n    }();\n    return s + n;" in text


def test_what_comes_before_the_block_stands_before_the_declaration(tmp_path: Path) -> None:
    function = _function(tmp_path)
    first, head, rest, end = function.body.statements
    more = Empty(span=Span(first.span.file, first.span.start, first.span.start))
    new = replace(function, body=replace(function.body, statements=(first, head, more, rest, end)))
    text = _patched(function, new)
    assert ";\n    const double s = std::accumulate(v.begin(), v.end(), 0.0);\n" in text
    assert "const double s\n" not in text


def test_without_the_users_text_it_is_a_block(tmp_path: Path) -> None:
    written = " ".join(join_lines(Printer(nothing).stmt(_function(tmp_path).body)).split())
    assert "double s; { double sum = 0.0; for (" in written
    assert "s = sum; } return s + n; }" in written
