"""Extents that a function repeats are variables of its own, computed behind the guards before them."""

from __future__ import annotations

from pathlib import Path

from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.host.outline.extents import name_extents
from warpsmith.emit.host.outline.model import GuardTest
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import DeclStmt, Expr, ExprStmt, Stmt
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt
from warpsmith.tree.walk import walk

_TWO = """
void f(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 2 * b[i * n + j];
}
"""


def test_an_extent_is_said_once(tmp_path: Path) -> None:
    result = port_text(_TWO, tmp_path, verify=True)
    assert result.verification is not None and result.verification.status == "pass"
    body = body_of(texts(result)["one_kernels.cu"], "ws_f_1")
    assert body.count("(long long)n * n") == 1
    assert "ws_apart(a, a + extent, b, b + extent)" in body
    assert "a_bytes = extent * (long long)sizeof(double);" in body


def _statements(text: str, tmp_path: Path) -> tuple[Stmt, ...]:
    path = tmp_path / "f.c"
    path.write_text(f"void g(long long);\nvoid f(int n, int m, int *p)\n{{\n    int local = n;\n{text}\n}}\n")
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    return function.body.statements[1:]


def _said(run: tuple[Stmt, ...]) -> list[str]:
    return [" ".join(print_stmt(stmt, known=nothing).split()) for stmt in run]


def test_what_is_not_the_same_everywhere_is_no_extent(tmp_path: Path) -> None:
    for text in (
        "g(local > 0 ? local : 0); g(local > 0 ? local : 0);",
        "g(n > 0 ? *p : 0); g(n > 0 ? *p : 0);",
        "g(m ? n / m : 0); g(m ? n / m : 0);",
        "g(n ? m++ : 0); g(n ? m++ : 0);",
        "g(n > 0 ? n : 0); g(n > 1 ? n : 0);",
    ):
        run = _statements(text, tmp_path)
        assert _said(name_extents((), run, 0, ())[1]) == _said(run)


def test_an_extent_is_computed_where_it_is_needed_first(tmp_path: Path) -> None:
    run = _statements("g(1); g(n > 0 ? n : 0); g(n > 0 ? n : 0);", tmp_path)
    assert _said(name_extents((), run, 0, ("extent",))[1]) == [
        "g(1);",
        "const int extent_ = n > 0 ? n : 0;",
        "g(extent_);",
        "g(extent_);",
    ]
    # what stands in front of the guards says it itself
    assert _said(name_extents((), run, 2, ())[1]) == _said(run)


def test_a_guard_has_its_extents_in_front(tmp_path: Path) -> None:
    first, second = (
        next(p for p in walk(s) if isinstance(p, Expr) and not isinstance(s, DeclStmt))
        for s in _statements("(n > 0 ? n : 0) < m; (n > 0 ? n : 0) < 2 * m;", tmp_path)
        if isinstance(s, ExprStmt)
    )
    tests, _ = name_extents((GuardTest(None, "on"), GuardTest(first, "a"), GuardTest(second, "b")), (), 0, ())
    assert [_said(test.before) for test in tests] == [[], ["const int extent = n > 0 ? n : 0;"], []]
    assert [print_expr(test.condition, nothing) for test in tests if test.condition is not None] == [
        "extent < m",
        "extent < 2 * m",
    ]
