"""A variable that only repeats a parameter leaves a generated function, and gives the parameter its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.host.outline.programs import body_of, port_text, texts
from warpsmith.emit.host.outline.copies import FunctionText, without_copies
from warpsmith.emit.host.outline.model import GuardTest, PassedArgument
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import DeclStmt, ExprStmt, Name
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt

_FIELDS = """
struct row { int n; double *x; };
void f(const struct row *r)
{
    for (int i = 0; i < r->n; i++)
        r->x[i] = 2 * r->x[i] + 1;
}
"""


def test_fields_of_a_struct_are_parameters_by_their_names(tmp_path: Path) -> None:
    written = texts(port_text(_FIELDS, tmp_path))
    assert "ws_f_1(r->n, r->x)" in " ".join(written["one.c"].split()).replace("0 < r->n ? r->x : 0", "r->x")
    body = body_of(written["one_kernels.cu"], "ws_f_1")
    assert " = n;" not in body and " = x;" not in body and "n_" not in body


def _text(statements: str, tmp_path: Path) -> FunctionText:
    """Return statements as those of a function with the parameters n and m."""
    path = tmp_path / "f.c"
    path.write_text(f"void g(int);\nvoid h(int *);\nvoid f(int n, int m)\n{{\n{statements}\n}}\n")
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    run = function.body.statements
    arguments = (
        PassedArgument(one, Name(span=function.span, type=one.type, symbol=one)) for one in function.parameters
    )
    return FunctionText(tuple(arguments), (), run, run, 0)


def _said(text: FunctionText) -> str:
    names = ", ".join(one.parameter.name for one in text.arguments)
    return f"({names}) " + " ".join(" ".join(print_stmt(stmt, known=nothing).split()) for stmt in text.run)


def test_the_parameter_takes_the_place_of_the_variable(tmp_path: Path) -> None:
    text = without_copies(_text("int k = n; g(k); g(n);", tmp_path), ())
    assert _said(text) == "(k, m) g(k); g(k);"
    assert len(text.planned) == len(text.run)
    assert _said(without_copies(_text("int k = n, l = m; g(k);", tmp_path), ())) == "(n, m) int k = n, l = m; g(k);"
    assert _said(without_copies(_text("int k = n; int l = n; g(k + l);", tmp_path), ())) == "(k, m) g(k + k);"


@pytest.mark.parametrize(
    "statements",
    [
        "int k = n; k = 2; g(k);",
        "int k = n; k++; g(k);",
        "int k = n; h(&k);",
        "int k = n; n = 3; g(k);",
        "int k = n; n--; g(k);",
        "int k = n; h(&n); g(k);",
        "unsigned k = n; g(k > 1);",
        "long long k = n; g(sizeof k);",
        "int k = n + 1; g(k);",
        "int k; g(k = n);",
        "int i = n; for (i = 0; i < m; i++) g(i);",
        "int k = n; { int k = m + 1; g(k + n); } g(k);",
    ],
)
def test_what_has_a_value_of_its_own_stays(statements: str, tmp_path: Path) -> None:
    text = _text(statements, tmp_path)
    assert _said(without_copies(text, ())) == _said(text)


def test_what_outlives_the_function_stays(tmp_path: Path) -> None:
    text = _text("int k = n; g(k);", tmp_path)
    (declaration, _) = text.run
    assert isinstance(declaration, DeclStmt)
    assert _said(without_copies(text, (declaration.declarations[0].symbol,))) == _said(text)


def test_tests_and_what_stands_before_them_are_said_with_the_parameter(tmp_path: Path) -> None:
    text = _text("int k = n; g(k > m); int l = m; g(l);", tmp_path)
    (first, asked, second, last) = text.run
    assert isinstance(asked, ExprStmt) and isinstance(second, DeclStmt)
    guarded = FunctionText(text.arguments, (GuardTest(asked.expr, "why", (second,)),), (first, last), (first, last), 1)
    found = without_copies(guarded, ())
    assert found.lead == 0 and _said(found) == "(k, l) g(l);"
    (test,) = found.tests
    assert test.before == () and test.condition is not None and print_expr(test.condition, nothing) == "g(k > l)"
