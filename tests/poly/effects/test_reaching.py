"""The one value that a scalar certainly has where one iteration reads it, and no value where it may have another."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from warpsmith.poly.effects.reaching import scalar_values
from warpsmith.tree.nodes import Block, ExprStmt, Function, Loop, While
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops, names

HEAD = """void elsewhere(int *); static int twice(int x) { return 2 * x; } int g;
static void set(int *p) { *p = 3; }
"""
# what an iteration does before `h[i] = t + u;`, and the values of t and u there
CASES: list[tuple[str, str]] = [
    ("t = i + 1; u = 2 * t;", "t: i + 1, u: 2 * t"),
    ("t = i; t = 4;", "t: 4"),
    ("t = 4; t += i;", "t: t += i"),
    ("t = i; t++;", "t: t++"),
    ("t += i;", ""),
    ("if (h[i]) t = 1; else t = 2;", ""),
    ("t = 1; if (h[i]) t = 2;", ""),
    ("t = 1; if (h[i]) u = 2;", "t: 1"),
    ("if (h[i]) { t = 1; } else return;", "t: 1"),
    ("if (h[i]) { t = 1; continue; } else t = 2;", "t: 2"),
    ("t = 1; for (j = 0; j < n; j++) t = 2;", ""),
    ("t = 1; for (j = 0; j < n; j++) u = 2;", "t: 1"),
    ("t = j; for (j = 0; j < n; j++) h[j] = 0;", ""),
    ("t = 1; for (t = 0; t < n; t++) h[0] = t;", ""),
    ("t = h[i]; u = h[0];", ""),
    ("t = w[i]; u = n;", "t: w[i], u: n"),
    ("t = n; n = 3;", ""),
    ("t = twice(i); u = i; elsewhere(&u);", "t: twice(i)"),
    ("u = i; set(&u);", ""),
    ("t = (u = 3);", "u: 3"),
    ("t = i++ ? 1 : 2;", ""),
    ("h[t = 4] = 1;", "t: 4"),
    ("h[i] && (t = 4);", ""),
    ("t = 1; switch (i) { case 0: t = 2; break; default: u = 3; }", ""),
    ("t = 1; switch (i) { case 0: u = 2; break; default: u = 3; }", "t: 1"),
    ("t = 1; while (h[i]) u = 2;", "t: 1"),
    ("t = 1; do t = 2; while (h[i]);", ""),
    ("t = g; u = 5;", "u: 5"),
    ("t = 1; g = 2;", "t: 1"),
    ("f = 1.5; t = 0;", "t: 0"),
    ("t = 1; { int t = 7; h[0] = t; }", "t: 1"),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{k}(int n, int *h, const int *restrict w) {{ int i, j, t, u; double f;"
        f" for (i = 0; i < n; i++) {{ {body} h[i] = t + u; g = i; }} }}"
        for k, (body, _) in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


def _values(one: Function, around: Loop, last: ExprStmt) -> str:
    """Return the values of the scalars that a statement reads."""
    values = scalar_values(_program(), one, around)
    found = {n.symbol.name: values[n].span.text for n in names(last) if n in values and n.symbol.name in "tu"}
    return ", ".join(f"{name}: {text}" for name, text in sorted(found.items()))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_values_at_the_end_of_an_iteration(number: int) -> None:
    one = function(_program(), f"f{number}")
    around = next(iter(dict(loops(one.body))))
    assert isinstance(around.body, Block)
    last = around.body.statements[-2]
    assert isinstance(last, ExprStmt)
    assert _values(one, around, last) == CASES[number][1]


def test_a_loop_that_is_not_counted() -> None:
    text = "void f(int n, int *h) { int t = 0; while (t = n, h[t]) { h[t] = 1; t = 2; h[t] = 0; } }"
    program = program_of(text)
    one = function(program, "f")
    (around,) = dict(loops(one.body))
    assert isinstance(around, While)
    values = scalar_values(program, one, around)
    found = [values[name].span.text for name in names(around) if name in values]
    assert found == ["n", "n", "2"], "the condition counts, and what it says holds in the body"


def test_a_jump_to_anywhere_leaves_no_value() -> None:
    body = "int t = 3; if (h[i]) goto out; h[t] = 0;"
    text = f"void f(int n, int *h) {{ for (int i = 0; i < n; i++) {{ {body} }} h[0] = n; out: return; }}"
    program = program_of(text)
    assert not scalar_values(program, function(program, "f"), loop(program, "f/i"))


def test_values_inside_an_iteration() -> None:
    text = """void f(int n, double *a, int *h) { int i, j, t, u, w;
    for (i = 0; i < n; i++) {
      t = i + 1; u = t * 2; a[t] = 0; a[u] = 1;
      t += 3; a[t] = 2;
      if (h[i]) w = 1; else w = 2;
      a[w] = 3;
      for (j = 0; j < n; j++) { w = j; a[w] = 4; double *row = a + i * n; row[j] = 5; }
      a[w] = 6;
      t = j; for (j = 0; j < n; j++) a[t] = 7;
    } }"""
    program = program_of(text)
    one = loop(program, "f/i")
    values = scalar_values(program, function(program, "f"), one)
    lines: dict[tuple[str, int], str] = {}
    for name in names(one.body):
        if name in values and name.symbol.name in ("t", "u", "w", "row"):
            lines.setdefault((name.symbol.name, name.span.line), values[name].span.text)
    assert lines == {
        ("t", 3): "i + 1",
        ("u", 3): "t * 2",
        ("t", 4): "i + 1",
        ("w", 7): "j",
        ("row", 7): "a + i * n",
    }
