"""The writes of one iteration of a loop: what it may read from before, and what every path to its end has written."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.effects.assigned import Iteration, iteration
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import Variables
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops

HEAD = """struct pt { double x, y; }; union both { int i; float f; };
static void fill(int *p, int v) { if (v) *p = v; }
"""
# the body, which of s t u j p q may be read with an older value, and which are written whole on every path
CASES: list[tuple[str, str, str]] = [
    ("t = a[i]; s = t;", "", "s t"),
    ("s = t; t = 1;", "t", "s t"),
    ("if (a[i] > 0) t = 1; else t = 2;", "", "t"),
    ("if (a[i] > 0) t = 1;", "", ""),
    ("if (a[i] > 0) t = 1; s = t;", "t", "s"),
    ("if (t > 0) t = 1; else s = 1;", "t", ""),
    ("if (a[i]) { t = 1; continue; } s = t;", "t", ""),
    ("if (a[i]) { t = 1; continue; } t = 2;", "", "t"),
    ("if (a[i]) break; t = 2;", "", ""),
    ("if (a[i]) return; t = 2;", "", "t"),
    ("for (j = 0; j < n; j++) t = 1;", "", "j"),
    ("for (j = 0; j < 3; j++) t = 1;", "", "j t"),
    ("for (j = 3; j < 3; j++) t = 1;", "", "j"),
    ("for (j = 3; j <= 3; j++) t = 1;", "", "j t"),
    ("for (j = 3; j > 0; j--) t = 1;", "", "j t"),
    ("for (j = 0; j > 3; j--) t = 1;", "", "j"),
    ("for (j = 3; j >= 3; j--) t = 1;", "", "j t"),
    ("for (j = 2; j >= 3; j--) t = 1;", "", "j"),
    ("for (j = 0; j != 3; j++) t = 1;", "", "j t"),
    ("for (j = 0; j < 3; j++) { if (a[j]) break; t = 1; }", "", "j"),
    ("for (j = 0; j < 3; j++) { if (a[j]) continue; t = 1; }", "", "j"),
    ("for (j = t; j < u; j++) a[j] = j;", "t u", "j"),
    ("while (a[i] < s) { t = 1; u = t; }", "s", ""),
    ("do { t = a[i]; } while (t > 0);", "", "t"),
    ("do { s = t; t = 1; } while (a[i]);", "t", "s t"),
    ("switch (i) { case 0: t = 1; break; default: t = 2; }", "", "t"),
    ("switch (i) { case 0: t = 1; break; case 1: t = 2; }", "", ""),
    ("switch (i) { case 0: t = 1; default: s = t; }", "t", "s"),
    ("switch (i) { default: t = 1; case 1: s = 2; }", "", "s"),
    ("p.x = 1; p.y = 2; q = p;", "", "p q"),
    ("p.x = 1; q = p;", "p", "q"),
    ("p.x = 1; q.x = p.x; q.y = p.y;", "p", "q"),
    ("b.i = 1; t = b.i;", "b", "t"),
    ("b.i = 1; c = b;", "b", "c"),
    ("fill(&k, i); a[i] = k;", "k", ""),
    ("t += 1;", "t", "t"),
    ("int v = t; { int v; a[i] = v; }", "t v", "v"),
    ("t = 1, s = t;", "", "s t"),
    ("a[i] && (t = 1); s = t;", "t", "s"),
    ("a[i] = 0; ;", "", ""),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}(int n, double *a) {{ int i, j, k; double s, t, u; struct pt p, q; union both b, c;"
        f" for (i = 0; i < n; i++) {{ {body} }} }}"
        for number, (body, _, _) in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


def _iteration(program: Program, name: str) -> Iteration:
    one = function(program, name)
    first = next(iter(dict(loops(one.body))))
    return iteration(Variables.of(Summaries.of(program), one), first)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_one_iteration(number: int) -> None:
    found = _iteration(_program(), f"f{number}")
    inside = {s for s in found.exposed if s.name not in "nai"}
    assert (shown(inside), shown(found.complete)) == CASES[number][1:]
    assert found.complete <= set(found.writes)


def test_the_first_places_are_told() -> None:
    text = "void f(int n, double *a) { double t; for (int i = 0; i < n; i++) { a[i] = t; a[0] = t; t = 1; t = 2; } }"
    found = _iteration(program_of(text), "f")
    places = {s.name: node.span.text for s, node in {**found.exposed, **found.writes}.items() if s.name == "t"}
    reads = [node.span.start for s, node in found.exposed.items() if s.name == "t"]
    assert places == {"t": "t = 1"} and reads == [text.index("= t;") + 2]


@pytest.mark.parametrize(
    ("text", "exposed", "complete"),
    [
        ("while (t = a[0], t > 0) s = t;", "a", "s t"),
        ("do { s = t; } while (t = a[0], t > 0);", "a t", "s t"),
        ("for (;a[0] > 0; t = 1) s = t;", "a t", "s t"),
        ("do { if (a[0]) break; s = 1; } while (t = 1);", "a", ""),
    ],
)
def test_conditions_and_advances_of_loops_that_are_not_counted(text: str, exposed: str, complete: str) -> None:
    found = _iteration(program_of(f"void f(double *a) {{ double s, t; {text} }}"), "f")
    assert (shown(set(found.exposed)), shown(found.complete)) == (exposed, complete)
