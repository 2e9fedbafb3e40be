"""What an expression is as a function of the iteration alone: temporaries, and what is written before it is read."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.iteration_values import IterationBody
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Assign, ExprStmt, For, Index
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.walk import peel, statements_of, walk

# an iteration, and what its last statement sets something to: an expression, or words of why there is none
CASES: list[tuple[str, str]] = [
    ("s = a[i] * 2;", "a[i] * 2"),
    ("int t = a[i]; s = t + 1;", "a[i] + 1"),
    ("int t = a[i]; a[i] = 0; s = t;", "a[i]"),
    ("int t = a[i]; int u = t * t; t = 3; s = u + t;", "a[i] * a[i] + 3"),
    ("short t = a[i]; s = t;", "(short)a[i]"),
    ("b[i] = a[i]; s = a[i] + i;", "a[i] + i"),
    ("s = three(a[i]);", "three(a[i])"),
    ("a[i] = b[i] + 1;", "b[i] + 1"),
    ("a[i] = a[i] * 2;", "a[i] * 2"),
    ("a[i] = 0; s = a[i];", "a is written before"),
    ("a[i + 1] = 0; s = a[i];", "a is written before"),
    ("a[i]++; s = a[i];", "a is written before"),
    ("set(a); s = a[i];", "a is written before"),
    ("int t = a[i]; if (b[i]) t = 2; s = t;", "depends on t"),
    ("s = b[i]; s = s * s + u; u = 1;", "depends on u"),
    ("s = a[i]++;", "changes something"),
    ("s = set(a);", "calls a function"),
    ("b[i] = (a[i] = 2) + a[i];", "changes something"),
]


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[case[0] for case in CASES])
def test_values_of_an_iteration(body: str, expected: str) -> None:
    head = "int set(int *); static int three(int v) { return v % 3; }"
    text = f"void f(int n, int s, int u, int *a, int *b) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    program = program_of(f"{head} int set(int *p) {{ return *p = 1; }} {text}")
    loop = next(n for n in walk(function(program, "f").body) if isinstance(n, For))
    path = statements_of(loop.body)
    last = path[-1] if not body.startswith("s = b[i];") else path[1]
    node = peel(last.expr) if isinstance(last, ExprStmt) else None
    assert isinstance(node, Assign)
    own = peel(node.target)
    symbol = next(p for p in function(program, "f").parameters if p.name == "s")
    asked = IterationBody(loop, symbol, Summaries.of(program), loop.span, own if isinstance(own, Index) else None)
    found = asked.free(node.value, path, next(k for k, stmt in enumerate(path) if stmt is last))
    if isinstance(found, Reason):
        assert expected in found.text
    else:
        assert Printer().expr(found) == expected
