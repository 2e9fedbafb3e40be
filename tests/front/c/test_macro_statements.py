"""Statements that a macro makes are built where the macro stands; what is not plain leaves the use opaque."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.tree.nodes import Assign, DeclStmt, If, Stmt, Verbatim, While
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.walk import walk

HEAD = """
#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)
#define ORDER(a, b) do { if ((a) > (b)) SWAP(double, a, b); else { (a) += 1; } } while (0)
#define BLOCK(a) { (a) = 0; }
#define ENDLESS(a) do { (a)--; } while (a)
#define LEAVES(a) do { if (a) break; (a)++; } while (0)
#define HALF(a) do { (a)++; } while (0); (a)--
#define BOTH(a, b) (a)++, (b)--
"""


def statement(load: Load, text: str) -> Stmt:
    return function(load(f"{HEAD}void f(int n, int x, double *a) {{ {text} }}")).body.statements[0]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("SWAP(double, a[0], a[n]);", "{\n    double t_ = a[0];\n    a[0] = a[n];\n    a[n] = t_;\n}"),
        ("BLOCK(a[x])", "{\n    a[x] = 0;\n}"),
        ("ORDER(a[0], a[1]);",
         "{\n    if (a[0] > a[1]) {\n        double t_ = a[0];\n        a[0] = a[1];\n        a[1] = t_;\n    } "
         "else {\n        a[0] += 1;\n    }\n}"),
    ],
)  # fmt: skip
def test_a_macro_that_is_one_statement_is_what_it_makes(load: Load, text: str, printed: str) -> None:
    made = statement(load, text)
    assert print_stmt(made) == printed
    assert made.span.text == text
    assert not any(part.span.text or part.intact for part in walk(made) if part is not made)


def test_a_loop_around_it_is_counted(load: Load) -> None:
    loop = statement(load, "for (int i = 0; i < n; i++) ORDER(a[i], a[i + n]);")
    assert not any(isinstance(part, While | Verbatim) for part in walk(loop))
    assert len([part for part in walk(loop) if isinstance(part, Assign)]) == 3
    assert len([part for part in walk(loop) if isinstance(part, If | DeclStmt)]) == 2


@pytest.mark.parametrize("text", ["ENDLESS(x);", "LEAVES(x);", "HALF(x);"])
def test_what_is_not_plain_stays_opaque(load: Load, text: str) -> None:
    assert any(isinstance(part, Verbatim) for part in walk(statement(load, text)))
