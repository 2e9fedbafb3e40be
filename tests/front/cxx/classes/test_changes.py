"""Statements that change an object of a small class: what is taken apart, and what must stay as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, DeclStmt, InitList, Stmt, VerbatimExpr
from warpsmith.tree.printing.printer import Printer, join_lines, nothing
from warpsmith.tree.walk import peel, walk

HEAD = """static int calls = 0;
struct V {
    double x, y;
    V() : x(0), y(0) {}
    V(double a, double b) : x(a), y(b) {}
    V operator+(const V &o) const { return V(x + o.x, y + o.y); }
    V operator-(const V &o) const { calls++; return V(x - o.x, y - o.y); }
    V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }
    V &operator*=(const double &s) { x *= s; y *= s; return *this; }
    V &operator/=(double s) { x /= s; y /= s; return *this; }
    V &turn(const V &o) { x = o.y; y = o.x; return *this; }
    V &add(V &o) { x += 1; o.x = 0; return *this; }
};
struct W {
    double y, x;
    W(double a, double b) : y(b), x(a) {}
    W(const W &o) : y(o.x), x(o.y) {}
};
void f(V *a, V *b, double *s, int i, int j, double t) {
    V c(1, 2);
    STATEMENT
    s[0] = c.x;
}
"""


def _statements(statement: str, tmp_path: Path) -> tuple[Stmt, ...]:
    path = tmp_path / "one.cpp"
    path.write_text(HEAD.replace("STATEMENT", statement))
    program = load_program([str(path)], FrontOptions()).program
    function = next(function for _, function in program.functions() if function.symbol.name.startswith("f"))
    return function.body.statements


def _printed(stmt: Stmt) -> str:
    return " ".join(join_lines(Printer(nothing).stmt(stmt)).split())


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        ("a[i] += b[j];", "{ a[i].x += b[j].x; a[i].y += b[j].y; }"),
        ("a[i] += a[j];", "{ a[i].x += a[j].x; a[i].y += a[j].y; }"),
        ("c /= t;", "{ c.x /= t; c.y /= t; }"),
        ("c /= c.x;", "{ double made_x = c.x / c.x; double made_y = c.y / c.x; c.x = made_x; c.y = made_y; }"),
        ("a[i] = V(t, 2) + b[i];", "{ a[i].x = t + b[i].x; a[i].y = (double)2 + b[i].y; }"),
        (
            "a[i] = V(a[j].y, a[j].x);",
            "{ double made_x = a[j].y; double made_y = a[j].x; a[i].x = made_x; a[i].y = made_y; }",
        ),
    ],
)
def test_statements_become_assignments_to_members(statement: str, printed: str, tmp_path: Path) -> None:
    block = _statements(statement, tmp_path)[1]
    assert isinstance(block, Block)
    assert block.intact
    assert _printed(block) == printed


@pytest.mark.parametrize(
    "statement",
    [
        "a[i] = b[i] - V(1, 1);",  # the operator counts its calls
        "a[i] *= a[j].x;",  # what the reference is bound to changes on the way, where i is j
        "a[i] *= s[j];",  # and here, where s leads into a
        "c *= c.x;",
        "a[i].turn(a[j]);",
        "c.turn(c);",
        "c.add(a[i]);",  # another object changes
    ],
)
def test_what_reads_or_writes_more_stays_opaque(statement: str, tmp_path: Path) -> None:
    stmt = _statements(statement, tmp_path)[1]
    assert not isinstance(stmt, Block)


def test_declared_objects_are_lists_of_their_members(tmp_path: Path) -> None:
    made = _statements("V d = a[i] + b[j];", tmp_path)[1]
    assert isinstance(made, DeclStmt)
    init = made.declarations[0].init
    assert init is not None
    assert isinstance(peel(init), InitList)
    assert _printed(made) == "V d = {a[i].x + b[j].x, a[i].y + b[j].y};"


def test_classes_that_say_how_they_are_copied_stay_opaque(tmp_path: Path) -> None:
    made = _statements("W d = W(t, 1);", tmp_path)[1]
    assert any(isinstance(part, VerbatimExpr) for part in walk(made))
