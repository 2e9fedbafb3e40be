"""Shorter expressions have the value and the type of those that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.host.outline.shorter import negate, shorten
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Expr, ExprStmt
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.walk import walk

_HEAD = "void f(int n, int m, unsigned u, long long w, unsigned long long v, double x, double *a)\n{\n"


def _expression(text: str, tmp_path: Path) -> Expr:
    path = tmp_path / "f.c"
    path.write_text(f"{_HEAD}    {text};\n}}\n")
    ((_, function),) = load_program([str(path)], FrontOptions()).program.functions()
    return next(part.expr for part in walk(function.body) if isinstance(part, ExprStmt))


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("a + (long long)n", "a + n"),
        ("a - (long long)u", "a - u"),
        ("(long long)1 * w", "w"),
        ("w * 1", "w"),
        ("a + (long long)(n + 1)", "a + (n + 1)"),
        ("(long long)n > m", "n > m"),
        ("w * (long long)8", "w * 8"),
        ("n * (long long)8", "n * (long long)8"),
        ("n < (n >= 1 ? n : 0) ? n : n >= 1 ? n : 0", "n"),
        ("(long long)u < (u >= 1 ? (long long)u : 0) ? (long long)u : u >= 1 ? (long long)u : 0", "(long long)u"),
        # these are other values, or of other types
        ("n < (m >= 1 ? n : 0) ? n : m >= 1 ? n : 0", "n < (m >= 1 ? n : 0) ? n : m >= 1 ? n : 0"),
        ("n < (n >= 2 ? n : 0) ? n : n >= 2 ? n : 0", "n < (n >= 2 ? n : 0) ? n : n >= 2 ? n : 0"),
        ("n < (n >= 1 ? n : 1) ? n : n >= 1 ? n : 1", "n < (n >= 1 ? n : 1) ? n : n >= 1 ? n : 1"),
        ("n > (n >= 1 ? n : 0) ? n : n >= 1 ? n : 0", "n > (n >= 1 ? n : 0) ? n : n >= 1 ? n : 0"),
        ("(long long)n > u", "(long long)n > u"),
        ("(long long)u > n", "(long long)u > n"),
        ("(long long)n > w", "(long long)n > w"),
        ("(double)n > m", "(double)n > m"),
        ("a + (int)w", "a + (int)w"),
        ("a + (unsigned)n", "a + (unsigned int)n"),
        ("a + (long long)x", "a + (long long)x"),
        ("n + (long long)n", "n + (long long)n"),
        ("(long long)1 * n", "(long long)1 * n"),
        ("1.0 * x", "1.0 * x"),
        ("w * 2", "w * 2"),
    ],
)
def test_what_is_shortened_and_what_is_not(long: str, short: str, tmp_path: Path) -> None:
    expr = _expression(long, tmp_path)
    new = shorten(expr)
    assert print_expr(new, nothing) == short
    assert new.type == expr.type


@pytest.mark.parametrize(
    ("condition", "negated"),
    [
        ("n >= 1", "n < 1"),
        ("u == 3", "u != 3"),
        ("w < v", "w >= v"),
        # a number that is none is neither less nor not less
        ("x < 1", "!(x < 1)"),
        ("n < 1 && u", "!(n < 1 && u)"),
        ("a == 0", "a != 0"),
        ("x != 1", "x == 1"),
    ],
)
def test_comparisons_have_an_opposite(condition: str, negated: str, tmp_path: Path) -> None:
    assert print_expr(negate(_expression(condition, tmp_path)), nothing) == negated
