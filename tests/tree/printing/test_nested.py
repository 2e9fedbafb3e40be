"""Statements whose text has gotos are written as a whole, in one form or the other."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Break, ExprStmt, For, Function, If, Literal, Node, replace
from warpsmith.tree.printing.nested import contains_nested, is_nested
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.walk import rebuild, walk

TEXT = """void f(int n, double *a) {
    for (int i = 0; i < n; i++) {
        a[0] = 1; // before
        if (a[i] < 0)
            goto B;
        a[i] = 2; // one
        goto C;
B:
        a[i] = 3; // two
C:
        a[n] = 4; // behind
    }
    for (int i = 0; i < n; i++) {
        if (a[i] > 8) { a[9] = 5; goto D; }
        a[9] = 6;
    }
D:
    a[2] = 7;
}"""


def _function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions())


def test_what_is_nested(tmp_path: Path) -> None:
    made = _function(tmp_path)
    found = [part for part in walk(made) if is_nested(part)]
    assert [type(part) for part in found] == [If, For]
    assert found[0].span.text.startswith("if") and found[0].span.text.endswith("C:")
    assert found[1].span.text.endswith("D:")
    assert contains_nested(made) and not made.intact and not any(p.intact for p in walk(made) if contains_nested(p))
    assert [part.span.text for part in walk(made) if isinstance(part, Break)] == ["goto D;"]


def _edited(made: Function, value: int) -> str:
    def change(part: Node) -> Node:
        found = isinstance(part, Literal) and part.value == value
        return replace(part, text="99", value=99) if isinstance(part, Literal) and found else part

    text = made.span.file.text
    for edit in sorted(Patcher([made]).edits(made, rebuild(made, change)), key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def test_a_change_in_an_arm_writes_the_branch_without_gotos(tmp_path: Path) -> None:
    made = _function(tmp_path)
    for value in (2, 3):
        text = _edited(made, value)
        assert "goto B" not in text and "goto C" not in text and "C:" not in text and "99" in text
        assert "// before" in text and "// behind" in text and "goto D;" in text


def test_a_change_beside_it_leaves_it(tmp_path: Path) -> None:
    made = _function(tmp_path)
    for value in (1, 4, 7):
        assert all(word in _edited(made, value) for word in ("goto B;", "goto C;", "B:", "C:", "goto D;", "D:", "99"))


def test_a_change_in_a_loop_that_is_left_writes_break(tmp_path: Path) -> None:
    text = _edited(_function(tmp_path), 6)
    assert "goto D" not in text and "D:" not in text and "break;" in text and "goto B;" in text


def test_where_it_is_written_elsewhere_there_are_no_gotos(tmp_path: Path) -> None:
    made = _function(tmp_path)
    text = print_stmt(made.body, known=Patcher([made]).find_known)
    assert "goto" not in text and "break;" in text and "a[n] = 4;" in text
    assert any(isinstance(part, ExprStmt) and part.intact for part in walk(made))
