from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    ExprStmt,
    Index,
    InitList,
    Literal,
    MacroUse,
    Name,
    SizeOf,
    Switch,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer
from warpsmith.tree.walk import walk

HEAD = """
#include <math.h>
#include <stddef.h>
#define N 100
#define IDX(i, j) ((i) * n + (j))
#define SUM x + y
#define TAIL * 2
#define NEG -
#define LARGE 0x10UL
#define RATE 0.1f
#define SAFE(e) ({ int t = (e); t; })
typedef double row[10];
struct inner { int k; unsigned bits : 3; union { int u; float w; }; double v[4]; };
struct outer { struct inner in; struct outer *next; };
union both { int i; float f; };
"""


def expr(load: Load, text: str, parameters: str = "int n, int x, int y, int i, int j, double *a") -> Expr:
    loaded = load(f"{HEAD}\nvoid f({parameters}) {{ {text}; }}")
    statement = function(loaded).body.statements[0]
    assert isinstance(statement, ExprStmt)
    assert statement.span.text == f"{text};"
    assert statement.expr.span.text == text
    return statement.expr


@pytest.mark.parametrize("op", ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
def test_assignments(load: Load, op: str) -> None:
    made = expr(load, f"x {op} y")
    assert isinstance(made, Assign)
    assert made.op == op


@pytest.mark.parametrize(
    "op", ["+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", ","]
)
def test_binary_operators(load: Load, op: str) -> None:
    made = expr(load, f"x {op} y")
    assert isinstance(made, Binary)
    assert made.op == op


@pytest.mark.parametrize(
    ("text", "op"),
    [("x++", "x++"), ("x--", "x--"), ("++x", "++x"), ("--x", "--x"), ("-x", "-"), ("+x", "+"), ("!x", "!"), ("~x", "~"),
     ("*a", "*"), ("&x", "&")],
)  # fmt: skip
def test_unary_operators(load: Load, text: str, op: str) -> None:
    made = expr(load, text)
    assert isinstance(made, Unary)
    assert made.op == op


def test_parentheses_and_implicit_conversions_leave_no_node(load: Load) -> None:
    made = expr(load, "a[(i)] = ((x + 1)) * y")
    assert [type(n) for n in walk(made)] == [Assign, Index, Name, Name, Binary, Binary, Name, Literal, Name]
    assert [n.span.text for n in found(made, Binary)] == ["((x + 1)) * y", "x + 1"]


def test_calls_casts_sizes_and_conditionals(load: Load) -> None:
    made = expr(load, "a[0] = x ? (float)sqrt(y) : sizeof(double) + sizeof x")
    kinds = [type(n).__name__ for n in walk(made)]
    assert kinds == [
        "Assign", "Index", "Name", "Literal", "Conditional", "Name", "Cast", "Call", "Name", "Name", "Binary", "SizeOf",
        "SizeOf",
    ]  # fmt: skip
    assert [n.value for n in walk(made) if isinstance(n, SizeOf)] == [8, 4]
    assert [n.text for n in walk(made) if isinstance(n, SizeOf)] == ["sizeof(double)", "sizeof x"]


@pytest.mark.parametrize(
    ("text", "parameters", "reason"),
    [
        ("b.i = 1", "union both b", "a union member"),
        ("s.u = 1", "struct inner s", "a member of an unnamed struct or union"),
        ("s.bits = 1", "struct inner s", "a bit-field"),
        ("x = ({ int t = y; t; })", "int x, int y", "a statement expression"),
        ("x = y ?: 3", "int x, int y", "the operator ?: without a middle operand"),
        ("x = ((struct inner){1}).k", "int x", "a compound literal"),
        ("x = _Generic(y, int: 1, default: 2)", "int x, int y", "a _Generic selection"),
    ],
)
def test_what_is_not_modelled_is_boxed_with_everything_that_it_names(
    load: Load, text: str, parameters: str, reason: str
) -> None:
    boxes = [n for n in walk(expr(load, text, parameters)) if isinstance(n, VerbatimExpr)]
    assert [make_opaque.reason for make_opaque in boxes] == [reason]
    named = {symbol.name for symbol in boxes[0].writes} - {"t"}
    assert named == {p.split()[-1] for p in parameters.split(", ") if p.split()[-1] in boxes[0].text}
    assert boxes[0].reads == boxes[0].writes


def test_a_macro_that_is_one_expression_is_a_node_with_its_expansion(load: Load) -> None:
    made = expr(load, "a[IDX(i, j + 1)] = N * RATE")
    uses = [n for n in walk(made) if isinstance(n, MacroUse)]
    assert [(use.name, use.span.text, use.intact) for use in uses] == [
        ("IDX", "IDX(i, j + 1)", True), ("N", "N", True), ("RATE", "RATE", True),
    ]  # fmt: skip
    inside = [n for use in uses for n in walk(use.expansion)]
    assert not any(n.intact for n in inside)
    assert [n.text for n in inside if isinstance(n, Literal)] == ["1", "100", "0.10000000149011612f"]
    assert [n.symbol.name for n in inside if isinstance(n, Name)] == ["i", "n", "j"]


@pytest.mark.parametrize(
    ("text", "opaque"),
    [("x = SUM * 2", "SUM * 2"), ("x = 2 * SUM", "2 * SUM"), ("x = y TAIL", "y TAIL"), ("x = NEG y", "NEG y"),
     ("x = SAFE(y)", "SAFE(y)")],
)  # fmt: skip
def test_a_macro_that_is_less_or_more_than_an_expression_is_boxed(load: Load, text: str, opaque: str) -> None:
    boxes = [n for n in walk(expr(load, text)) if isinstance(n, VerbatimExpr)]
    assert [make_opaque.text for make_opaque in boxes] == [opaque]
    assert "macro" in boxes[0].reason


def test_a_macro_beside_operators_is_no_box(load: Load) -> None:
    made = expr(load, "x = (SUM) + N + IDX(x, y) - (N) * sqrt(N)")
    assert not found(made, VerbatimExpr)
    assert [n.name for n in walk(made) if isinstance(n, MacroUse)] == ["SUM", "N", "IDX", "N", "N"]


def test_null_and_offsetof(load: Load) -> None:
    made = expr(load, "x = offsetof(struct inner, v) + (a == NULL)")
    assert not found(made, VerbatimExpr)
    assert [n.value for n in walk(made) if isinstance(n, SizeOf)] == [16]


def test_calls_through_pointers_and_initializers(load: Load) -> None:
    loaded = load("double f(double (*g)(double)) { double t[2] = {1, g(2)}; int u[3] = {[1] = 4}; return t[0]; }")
    body = function(loaded)
    (call,) = [n for n in walk(body) if isinstance(n, Call)]
    assert isinstance(call.function, Name)
    assert call.function.symbol.storage == "parameter"
    assert [len(n.items) for n in walk(body) if isinstance(n, InitList)] == [2]
    assert [n.reason for n in walk(body) if isinstance(n, VerbatimExpr)] == ["a designated initializer"]


def test_a_cast_to_rows_has_its_extent(load: Load) -> None:
    made = expr(load, "x = ((double (*)[n])a)[i][j]")
    (cast,) = [n for n in walk(made) if isinstance(n, Cast)]
    assert isinstance(cast.type, Pointer)
    assert isinstance(cast.type.to, Array)
    assert cast.type.to.extent is not None
    assert cast.type.to.extent.span.text == "n"


def test_case_labels_of_negative_macros_have_one_sign(load: Load) -> None:
    loaded = load(
        "#define FIXED (-2)\nint f(int x) { switch (x) { case FIXED: return 1; case -3: return 2; } return 0; }"
    )
    (switch,) = [n for n in walk(function(loaded)) if isinstance(n, Switch)]
    labels = [label for case in switch.cases for label in case.labels if label is not None]
    assert [len([n for n in walk(label) if isinstance(n, Unary)]) for label in labels] == [1, 1]
