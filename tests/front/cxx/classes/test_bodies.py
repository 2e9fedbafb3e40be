"""Bodies that are followed to what their object is behind them, and those that are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, Stmt
from warpsmith.tree.printing.printer import Printer, join_lines, nothing

FOLLOWED = {
    "V &m(const V &o) { x += o.x; y -= o.y; return *this; }": "{ a[i].x += c.x; a[i].y -= c.y; }",
    "void m(const V &o) { V r(o); r.x *= 2; *this = r; }": "{ a[i].x = c.x * 2; a[i].y = c.y; }",
    "void m(const V &o) { *this = *this + o; }": "{ a[i].x += c.x; a[i].y += c.y; }",
    "void m(V o) { o.x = y; o += o; x = o.y; }": "",  # what o refers to changes while += runs
    "void m(V o) { o.x = y; o += V(o.y, 1); x = o.x; }": "{ a[i].x = a[i].y + c.y; }",
    "void m(const V &o) { x++; --y; }": "{ a[i].x += 1; a[i].y -= 1; }",
    "void m(const V &o) { scale(dot(o)); }": "",  # c's address is taken: y is scaled by what may be another x
    "void m(V o) { scale(dot(o)); }": "{ double made_x = a[i].x * (a[i].x * c.x + a[i].y * c.y); "
    "double made_y = a[i].y * (a[i].x * c.x + a[i].y * c.y); a[i].x = made_x; a[i].y = made_y; }",
    "void m(const V &o) { double t = x; x = y; y = t; }": "{ double made_x = a[i].y; double made_y = a[i].x; "
    "a[i].x = made_x; a[i].y = made_y; }",
    "void m(const V &o) { if (x > 0) x = o.x; }": "",
    "void m(const V &o) { for (int k = 0; k < 2; k++) x += o.x; }": "",
    "void m(const V &o) { total += x; x = o.x; }": "",
    "void m(const V &o) { static double k = 0; x += k; k = x; }": "",
    "void m(const V &o) { double &k = x; k = o.x; }": "",
    "void m(V &o) { o.x = 1; x = 2; }": "",
    "void m(const V &o) { x = unknown(o.x); }": "",
    "void m(const V &o) { x = 1; y = other->x; }": "",  # `other` may lead here
    "double m(const V &o) { x = o.x; return x; }": "",  # the value is no object
    "virtual void m(const V &o) { x = o.x; }": "",
}
HEAD = """static double total;
double unknown(double);
struct V;
static V *other;
"""
CLASS = """namespace n%d {
struct V {
    double x, y;
    V(double p, double q) : x(p), y(q) {}
    V operator+(const V &o) const { return V(x + o.x, y + o.y); }
    V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }
    void scale(double s) { x *= s; y *= s; }
    double dot(const V &o) const { return x * o.x + y * o.y; }
    static V *other;
    %s
};
static void f%d(V *a, V c, int i) { a[i].m(c); }
}
"""


def _statements(folder: Path) -> dict[int, Stmt]:
    path = folder / "bodies.cpp"
    path.write_text(HEAD + "".join(CLASS % (n, method, n) for n, method in enumerate(FOLLOWED)))
    functions = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    names = {f.symbol.name.rpartition("::")[2]: f for f in functions}
    return {int(name[1:]): f.body.statements[0] for name, f in names.items() if re.fullmatch(r"f\d+", name)}


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Stmt]:
    return _statements(tmp_path_factory.mktemp("bodies"))


@pytest.mark.parametrize("number", range(len(FOLLOWED)), ids=list(FOLLOWED))
def test_a_call_is_what_its_body_does_to_the_object(statements: dict[int, Stmt], number: int) -> None:
    made = statements[number]
    wanted = list(FOLLOWED.values())[number]
    printed = " ".join(join_lines(Printer(nothing).stmt(made)).split()) if isinstance(made, Block) else ""
    assert printed == wanted
