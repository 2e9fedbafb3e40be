"""Declared variables: extents, initializers, and where a macro declares."""

from __future__ import annotations

import pytest

from tests.front.c.test_expressions import expr
from tests.front.c.test_statements import MACROS, kinds, statements
from tests.front.conftest import Load, found, function
from warpsmith.tree.nodes import (
    DeclStmt,
    Index,
    Name,
    Stmt,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Array, FunctionType, Pointer
from warpsmith.tree.walk import walk


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


def test_arrays_that_macros_declare_are_declared(load: Load) -> None:
    made = statements(load, "VECTOR(v, N); MATRIX(m, N); m[1][2] = v[3];")
    assert kinds(made) == ["DeclStmt", "DeclStmt", "ExprStmt"]
    assert [s.span.text for s in made[:2]] == ["VECTOR(v, N);", "MATRIX(m, N);"]
    assert isinstance(made[1], DeclStmt)
    assert made[1].declarations[0].init is not None
    loaded = load(f"{MACROS}void g(int n, double PARAMETER(p, n)) {{ p[0][0] = 1; }}")
    assert function(loaded, "g").parameters[1].name == "p"


def test_a_macro_that_declares_and_sets_is_one_declaration(load: Load) -> None:
    head = "#define SET(T, v, e) T v; v = e;\n#define OTHER(v, w) int v; w = 1;\n#define TWICE(v) int v = 1; v = 2;\n"
    loaded = load(f"{head}void f(int n, int w) {{ SET(int, i, n + 1) OTHER(j, w) TWICE(k) w = i; }}")
    made = function(loaded).body.statements
    assert isinstance(made[0], DeclStmt) and made[0].span.text == "SET(int, i, n + 1)"
    (only,) = made[0].declarations
    assert only.symbol.name == "i" and only.init is not None and print_expr(only.init) == "n + 1"
    assert kinds(made[1:]) == ["Verbatim", "Verbatim", "ExprStmt"]


def test_arrays_of_parameters_are_pointers(load: Load) -> None:
    loaded = load(
        "void f(int n, double a[n], double b[restrict n], int c[static 3][n], int g(int), char *restrict d) {}"
    )
    types = [symbol.type for symbol in function(loaded).parameters]
    assert [isinstance(type, Pointer) and type.restrict for type in types] == [False, False, True, False, False, True]
    assert isinstance(types[3], Pointer) and isinstance(types[3].to, Array) and types[3].to.extent is not None
    assert isinstance(types[4], Pointer) and isinstance(types[4].to, FunctionType)


def test_a_declaration_of_a_type_in_a_function_is_text(load: Load) -> None:
    loaded = load("void f(void) { struct s { int k; } a; enum { TWO = 2 } b; a.k = b; }")
    assert kinds(function(loaded).body.statements) == ["Verbatim", "Verbatim", "ExprStmt"]


REFERENCES = """
#include <vector>
struct P { int k; };
struct M { M(int); int k; };
P made(); int number();
void f(int n, int *a, P p, std::vector<int> v) {
    int &r = a[n]; const int &s = n + 1; const P &t = made(); P &u = p; P plain; M m(3); std::vector<int> w;
}
"""


def test_references_hold_addresses_and_values_are_copied(load: Load) -> None:
    declared = [d for s in function(load(REFERENCES, name="case.cpp")).body.statements for d in declarations(s)]
    found = {d.symbol.name: (type(d.symbol.type).__name__, d.init and print_expr(d.init)) for d in declared}
    assert found["r"] == ("Pointer", "&a[n]") and found["u"] == ("Pointer", "&p")
    assert found["s"] == ("Scalar", "n + 1")
    assert found["plain"] == ("Record", None)
    inits = {d.symbol.name: d.init for d in declared}
    assert isinstance(inits["t"], VerbatimExpr) and isinstance(inits["m"], VerbatimExpr)
    assert inits["m"].text == "M(3)"


def declarations(statement: Stmt) -> tuple[VarDecl, ...]:
    assert isinstance(statement, DeclStmt)
    return statement.declarations


def test_types_that_a_loop_declares_keep_their_text(load: Load) -> None:
    text = """for (int i = 0; i < n; i++) {
        struct p { double x; };  enum { K = 2 };  typedef double real, *row;
        const struct q { struct p in; } made = {{1}}, *at = &made;
        { union { int k; } u; }
    }"""
    made = [s for s in found(statements(load, text)[0], DeclStmt) if isinstance(s, DeclStmt)]
    assert [(s.types, [d.symbol.name for d in s.declarations]) for s in made] == [
        ("struct p { double x; }", []),
        ("enum { K = 2 }", []),
        ("typedef double real, *row", []),
        ("struct q { struct p in; }", ["made", "at"]),
        ("union { int k; }", ["u"]),
    ]
    assert all(s.intact for s in made)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("typedef __typeof__(x) T;", "a type that depends on a variable"),
        ("typedef double row[n];", "a type that depends on a variable"),
        ("struct p { char k[sizeof x]; };", "a type that depends on a variable"),
        ("LOCAL(p);", "a macro that declares a type"),
        ("for (struct { int k; } p = {0}; p.k < n; p.k++) x++;", "a type declared inside a function"),
    ],
)
def test_types_whose_text_does_not_say_what_they_are_stay_opaque(load: Load, text: str, reason: str) -> None:
    loop = f"for (int i = 0; i < n; i++) {{ {text} }}"
    loaded = load(f"#define LOCAL(t) struct t {{ int k; }}\nvoid f(int n, int x) {{ {loop} }}")
    opaque = found(function(loaded), Verbatim)
    assert [n.reason for n in opaque if isinstance(n, Verbatim)] == [reason]
