"""Objects that expressions make, as lists of their members; those that are known only as text."""

from __future__ import annotations

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import DeclStmt, Expr, VerbatimExpr
from warpsmith.tree.printing.printer import Printer, nothing
from warpsmith.tree.walk import walk

HEAD = """static int calls;
double pure(double a);
struct V {
    double x, y;
    V() : x(1), y(2) {}
    V(double p, double q = 3) : x(p), y(q) {}
    V operator+(const V &o) const { return V(x + o.x, y + o.y); }
    V operator-() const { return {-x, -y}; }
    V counted() const { calls++; return *this; }
    V half() const { V r = *this; r.x /= 2; r.y /= 2; return r; }
    double bump() { return x += 1; }
    double sum() const { return x + y; }
    double *place() { return &x; }
    double &ref() { return x; }
    double by() { return pure(x); }
    double set() { return give(x); }
    static double give(double &to) { return to = 1; }
    friend V operator*(double s, V v) { v.x *= s; v.y *= s; return v; }
};
struct A { float u; int k; };
struct Swapped { double x, y; Swapped(double p, double q) : x(q), y(p) {} };
struct Bits { int k : 3; int n; Bits(int a, int b) : k(a), n(b) {} };
struct Copied { double x; Copied(double p) : x(p) {} Copied(const Copied &o) : x(o.x + 1) {} };
"""
FUNCTION = "void f%d(V *a, int i, double t) { V c(1, 2); %s }\n"
DECLARED = {
    "V d = a[i] + c;": "{a[i].x + c.x, a[i].y + c.y}",
    "V d(t);": "{t, (double)3}",
    "V d;": "{(double)1, (double)2}",
    "V d = -a[i];": "{-a[i].x, -a[i].y}",
    "V d = 2 * a[i];": "{a[i].x * (double)2, a[i].y * (double)2}",
    "V d = (a[i] + c).half();": "{(a[i].x + c.x) / 2, (a[i].y + c.y) / 2}",
    "V d = t > 0 ? a[i] + c : c;": "{t > 0 ? a[i].x + c.x : c.x, t > 0 ? a[i].y + c.y : c.y}",
    "V d = a[i];": "a[i]",
    "A d = A{1.0f, 2};": "{1.0f, 2}",
    "double d = (a[i] + c).sum();": "a[i].x + c.x + (a[i].y + c.y)",
    "double d = (a[i] + c).by();": "pure(a[i].x + c.x)",
    "V d = a[i].counted();": "a[i].counted()",
    "Swapped d(t, 1);": "",  # no list of its members makes it
    "Bits d(i, 2);": "",
    "Copied d(t); Copied e = d;": "",
    "double d = V(a[i]).bump();": "",
    "double d = *V(a[i]).place();": "",
    "double d = V(a[i]).ref();": "",
    "double d = V(a[i]).set();": "",
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> list[Expr]:
    path = tmp_path_factory.mktemp("members") / "members.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate(DECLARED)))
    found = {f.symbol.name: f for _, f in load_program([str(path)], FrontOptions()).program.functions()}
    last = [found[f"f{number}"].body.statements[-1] for number in range(len(DECLARED))]
    values = [stmt.declarations[0].init for stmt in last if isinstance(stmt, DeclStmt)]
    return [value for value in values if value is not None]


@pytest.mark.parametrize("number", range(len(DECLARED)), ids=list(DECLARED))
def test_a_made_object_is_its_members(values: list[Expr], number: int) -> None:
    assert len(values) == len(DECLARED)
    made, wanted = values[number], list(DECLARED.values())[number]
    opaque = [part for part in walk(made) if isinstance(part, VerbatimExpr)]
    assert ("" if opaque else Printer(nothing).expr(made)) == wanted
