"""Variables whose value is not needed behind a statement, on any path from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.needed import is_needed_behind, is_read_first
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Call, ExprStmt, Function, Name, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

_HEAD = "void here(void), other(void);\nint again(int);\nint f(int n, int k, int m)\n{\n"


def _parse(body: str, tmp_path: Path) -> tuple[Function, Stmt, Symbol]:
    """Return the function with a body, its call of here(), and k."""
    path = tmp_path / "f.c"
    path.write_text(f"{_HEAD}{body}\n}}\n")
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    call = next(
        part for part in walk(function.body)
        if isinstance(part, ExprStmt) and isinstance(part.expr, Call) and isinstance(part.expr.function, Name)
        and part.expr.function.symbol.name == "here"
    )  # fmt: skip
    return function, call, next(p for p in function.parameters if p.name == "k")


_NEEDED = {
    "returned": "here(); return k;",
    "in a condition": "here(); if (k) n = 1; return n;",
    "on one branch": "here(); if (n) k = 1; return k;",
    "in the head of a loop": "here(); for (m = k; m < n; m++) other(); return n;",
    "in the bound of a loop": "here(); for (m = 0; m < k; m++) other(); return n;",
    "where a loop may not run": "here(); for (m = 0; m < n; m++) k = 1; return k;",
    "in the next turn": "for (m = 0; m < n; m++) { n -= k; here(); } return n;",
    "in the condition of the loop around": "while (k) { here(); } return n;",
    "in what the loop around does again": "do { n = k; here(); } while (n); return n;",
    "changed, not set": "here(); k += 1; return n;",
    "set from itself": "here(); k = k + 1; return n;",
    "behind a jump": "for (m = 0; m < n; m++) { here(); if (m) break; k = 1; } return k;",
    "in a switch": "switch (n) { case 1: here(); case 2: n = k; } return n;",
    "where a label is": "top: n = again(k); here(); if (n) goto top; return n;",
    "passed on": "here(); return again(k);",
    "counted with by the loop around": "for (k = 0; k < n; k++) here(); return n;",
}
_FREE = {
    "never named": "n = k; here(); return n;",
    "set before it is read": "here(); k = 1; return k;",
    "counted with": "here(); for (k = 0; k < n; k++) other(); return k;",
    "counted with in a block": "{ here(); } { for (k = 0; k < n; k++) other(); } return k;",
    "set on both branches": "here(); if (n) k = 1; else k = 2; return k;",
    "set by a loop that is not counted": "here(); for (k = 0; again(n); n++) other(); return k;",
    "in a branch that is behind": "if (n) here(); else n = k; return n;",
    "set first in the next turn": "for (m = 0; m < n; m++) { k = m; n -= k; here(); } return n;",
    "set before a jump": "for (m = 0; m < n; m++) { here(); k = 1; if (m) break; other(); } k = 2; return k;",
}


@pytest.mark.parametrize("name", _NEEDED)
def test_what_may_be_read_is_needed(name: str, tmp_path: Path) -> None:
    function, call, k = _parse(_NEEDED[name], tmp_path)
    assert is_needed_behind(function.body, call, k)


@pytest.mark.parametrize("name", _FREE)
def test_what_is_set_first_is_not_needed(name: str, tmp_path: Path) -> None:
    function, call, k = _parse(_FREE[name], tmp_path)
    assert not is_needed_behind(function.body, call, k)


def test_a_statement_of_another_function_says_nothing(tmp_path: Path) -> None:
    function, _, k = _parse("here(); return n;", tmp_path)
    (tmp_path / "b").mkdir()
    _, call, _ = _parse("here(); return n;", tmp_path / "b")
    assert is_needed_behind(function.body, call, k)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("n = k; here();", True),
        ("k = 1; n = k; here();", False),
        ("for (k = 0; k < n; k++) here();", False),
        ("for (m = 0; m < n; m++) k = 1; n = k; here();", True),
    ],
)
def test_what_statements_read_before_they_set_it(text: str, first: bool, tmp_path: Path) -> None:
    function, _, k = _parse(text + " return n;", tmp_path)
    assert is_read_first(function.body.statements, k) is first
