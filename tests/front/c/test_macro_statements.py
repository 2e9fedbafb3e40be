"""Statements that a macro makes are built where the macro stands; what is not plain leaves the use opaque."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.tree.nodes import Assign, DeclStmt, If, Stmt, Verbatim, VerbatimExpr, While
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


CXX = """
#include <vector>
struct Guard { int *to; Guard(int *p) : to(p) { *to += 1; } ~Guard() { *to -= 1; } };
#define ADD(a, b) { a += b; b ^= a; }
#define GUARDED(p) { Guard held(p); *p = 3; }
#define LOOSE(x) { int &same = x; same = 2; }
#define PUSH(v, x) { v.push_back(x); }
"""


def cxx_statement(load: Load, text: str) -> Stmt:
    program = f"{CXX}void f(int n, int x, unsigned *a, std::vector<int> &v) {{ {text} }}"
    functions = load(program, name="case.cpp").program.units[0].functions
    return next(f for f in functions if f.symbol.name == "f").body.statements[0]


def test_a_macro_of_numbers_is_what_it_makes_in_cxx_too(load: Load) -> None:
    made = cxx_statement(load, "ADD(a[0], a[n]);")
    assert print_stmt(made) == "{\n    a[0] += a[n];\n    a[n] ^= a[0];\n}"
    loop = cxx_statement(load, "for (int i = 0; i < n; i++) ADD(a[i], a[i + n]);")
    assert not any(isinstance(part, While | Verbatim) for part in walk(loop))


@pytest.mark.parametrize("text", ["GUARDED(&x);", "LOOSE(x);", "PUSH(v, x);"])
def test_objects_and_references_stay_opaque(load: Load, text: str) -> None:
    assert any(isinstance(part, Verbatim | VerbatimExpr) for part in walk(cxx_statement(load, text)))
