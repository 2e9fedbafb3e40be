"""Members of unions: numbers are read as members, and what writes one writes to all of the union."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.tree.nodes import For, Member, Stmt, VerbatimExpr, While
from warpsmith.tree.walk import walk

HEAD = """
union word { int i; float f; unsigned char bytes[4]; volatile int v; };
typedef struct { int kind; union { int n; double d; } v; } cell;
int next(void);
"""


def statement(load: Load, text: str) -> Stmt:
    given = "int n, float *a, union word u, union word *p, cell *c"
    return function(load(f"{HEAD}void f({given}) {{ {text} }}")).body.statements[0]


@pytest.mark.parametrize("text", ["a[0] = u.f;", "a[n] = p->f;", "a[0] = p[n].i;", "a[0] = c[n].v.d;"])
def test_a_number_that_is_read_is_a_member(load: Load, text: str) -> None:
    parts = list(walk(statement(load, text)))
    assert any(isinstance(part, Member) for part in parts)
    assert not any(isinstance(part, VerbatimExpr) for part in parts)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("u.f = n;", {"u"}),
        ("p[n].i += n;", {"p"}),
        ("c[n].v.n++;", {"c"}),
        ("a = &u.f;", {"u"}),
        ("a[0] = u.v;", {"u"}),
        ("a[0] = u.bytes[n];", {"u"}),
        ("a[0] = p[next()].i;", {"p"}),
        ("a[0] = p++->i;", {"p"}),
    ],
)
def test_anything_else_is_text_that_may_change_what_it_names(load: Load, text: str, written: set[str]) -> None:
    (opaque,) = (part for part in walk(statement(load, text)) if isinstance(part, VerbatimExpr))
    assert opaque.reason == "a union member"
    assert {symbol.name for symbol in opaque.writes} == written


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("for (int i = 0; i < n; i++) c[i].v.n = i;", True),
        ("for (int i = 0; i < n; i++) u.i = i;", True),
        ("for (int i = 0; i < u.i; i++) a[i] = u.f;", True),
        ("for (int i = 0; i < u.i; i++) u.f = i;", False),
        ("for (int i = 0; i < p->i; i++) p->f = i;", False),
        ("for (int i = 0; i < p->i; i++) c[i].v.n = i;", False),
    ],
)
def test_a_loop_is_counted_where_no_member_of_its_union_is_written(load: Load, text: str, counted: bool) -> None:
    assert isinstance(statement(load, text), For if counted else While)
