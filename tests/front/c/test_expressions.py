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
    Member,
    Name,
    SizeOf,
    Switch,
    Unary,
    VarDecl,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Record, Scalar
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


@pytest.mark.parametrize(
    ("text", "value"),
    [("x = 017", 15), ("x = 0xFFu", 255), ("x = 0b101", 5), ("x = 10ull", 10), ("x = 'a'", 97), ("x = '\\n'", 10),
     ("a[0] = 1e3", 1000.0), ("a[0] = 0x1p-2", 0.25), ("a[0] = 0.1f", 0.10000000149011612)],
)  # fmt: skip
def test_literals_keep_their_text_and_value(load: Load, text: str, value: float) -> None:
    made = expr(load, text)
    assert isinstance(made, Assign)
    assert isinstance(made.value, Literal)
    assert made.value.value == value
    assert made.value.text == text.split("= ")[1]


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


def test_rows_of_variable_length_keep_their_extents(load: Load) -> None:
    made = expr(load, "A[i][j] = B[x][i]", "int n, int x, int i, int j, double A[n][n + 1], double (*B)[n]")
    inner = found(made, Index)[1]
    assert isinstance(inner, Index)
    assert isinstance(inner.type, Array)
    assert inner.type.extent is not None
    assert inner.type.extent.span.text == "n + 1"
    base = found(made, Name)[0]
    assert isinstance(base, Name)
    assert isinstance(base.type, Pointer)


def test_calls_casts_sizes_and_conditionals(load: Load) -> None:
    made = expr(load, "a[0] = x ? (float)sqrt(y) : sizeof(double) + sizeof x")
    kinds = [type(n).__name__ for n in walk(made)]
    assert kinds == [
        "Assign", "Index", "Name", "Literal", "Conditional", "Name", "Cast", "Call", "Name", "Name", "Binary", "SizeOf",
        "SizeOf",
    ]  # fmt: skip
    assert [n.value for n in walk(made) if isinstance(n, SizeOf)] == [8, 4]
    assert [n.text for n in walk(made) if isinstance(n, SizeOf)] == ["sizeof(double)", "sizeof x"]


def test_members_know_their_records(load: Load) -> None:
    made = expr(load, "o->next->in.v[i] = s.k", "int i, struct outer *o, struct inner s")
    members = [n for n in walk(made) if isinstance(n, Member)]
    assert [(m.field, m.arrow) for m in members] == [("v", False), ("in", True), ("next", True), ("k", False)]
    record = members[1].type
    assert isinstance(record, Record)
    assert [(f.name, f.offset) for f in record.fields if f.name != "bits"][:2] == [("k", 0), ("v", 16)]
    assert record.bytes == 48


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
    assert [box.reason for box in boxes] == [reason]
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
    ("text", "boxed"),
    [("x = SUM * 2", "SUM * 2"), ("x = 2 * SUM", "2 * SUM"), ("x = y TAIL", "y TAIL"), ("x = NEG y", "NEG y"),
     ("x = SAFE(y)", "SAFE(y)")],
)  # fmt: skip
def test_a_macro_that_is_less_or_more_than_an_expression_is_boxed(load: Load, text: str, boxed: str) -> None:
    boxes = [n for n in walk(expr(load, text)) if isinstance(n, VerbatimExpr)]
    assert [box.text for box in boxes] == [boxed]
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


def test_types_keep_how_they_were_written(load: Load) -> None:
    loaded = load(
        "#include <stdint.h>\n#include <stddef.h>\ntypedef float real;\n"
        "void f(const real *restrict a, uint8_t b, size_t c, long double d, volatile int e, _Bool g) {}",
    )
    types = [symbol.type for symbol in function(loaded).parameters]
    first = types[0]
    assert isinstance(first, Pointer)
    assert first.restrict
    assert isinstance(first.to, Scalar)
    assert (first.to.name, first.to.const, first.to.spelling) == ("float", True, "real")
    rest = [(t.name, t.bits, t.kind, t.spelling) for t in types[1:] if isinstance(t, Scalar)]
    assert rest == [
        ("unsigned char", 8, "unsigned", "uint8_t"), ("unsigned long", 64, "unsigned", "size_t"),
        ("long double", 128, "float", ""), ("int", 32, "signed", ""), ("_Bool", 8, "bool", ""),
    ]  # fmt: skip
    assert isinstance(types[4], Scalar)
    assert types[4].volatile


def test_a_cast_to_rows_has_its_extent(load: Load) -> None:
    made = expr(load, "x = ((double (*)[n])a)[i][j]")
    (cast,) = [n for n in walk(made) if isinstance(n, Cast)]
    assert isinstance(cast.type, Pointer)
    assert isinstance(cast.type.to, Array)
    assert cast.type.to.extent is not None
    assert cast.type.to.extent.span.text == "n"


def test_arrays_completed_by_their_initializers_have_no_extent(load: Load) -> None:
    loaded = load(
        'void f(void) { static const int a[] = {1, 2}; char s[] = "xy"; int b[][2] = {{1}, {2}}; double c[3]; }'
    )
    declared = [n for n in walk(function(loaded)) if isinstance(n, VarDecl)]
    types = [d.symbol.type for d in declared]
    assert all(isinstance(t, Array) for t in types)
    extents = [(t.extent.span.text if t.extent else None, t.count) for t in types if isinstance(t, Array)]
    assert extents == [(None, 2), (None, 3), (None, 2), ("3", 3)]
    assert [d.init is None for d in declared] == [False, False, False, True]


def test_case_labels_of_negative_macros_have_one_sign(load: Load) -> None:
    loaded = load(
        "#define FIXED (-2)\nint f(int x) { switch (x) { case FIXED: return 1; case -3: return 2; } return 0; }"
    )
    (switch,) = [n for n in walk(function(loaded)) if isinstance(n, Switch)]
    labels = [label for case in switch.cases for label in case.labels if label is not None]
    assert [len([n for n in walk(label) if isinstance(n, Unary)]) for label in labels] == [1, 1]
