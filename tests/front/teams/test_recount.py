"""Loops whose step is how many threads there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from warpsmith.front.teams.own import lasting
from warpsmith.front.teams.recount import recounted
from warpsmith.tree.nodes import DeclStmt, For, While
from warpsmith.tree.walk import loops, walk


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ("const int size = 8; for (int k = t; k < n; k += size) a[k] = 1;", 8),
        ("int size = 8; for (int k = n; k > t; k -= size) a[k] = 1;", -8),
        ("int size = 8; size++; for (int k = t; k < n; k += size) a[k] = 1;", None),
        ("int size = n; for (int k = t; k < n; k += size) a[k] = 1;", None),
        ("int size = 8; for (int k = t; k < n; k += size) { a[k] = 1; k++; }", None),
        ("int size = 8; for (int k = t; k < n; k += size) { a[k] = 1; n--; }", None),
        ("int size = 8, k; for (k = t; k < n; k += size) a[k] = 1;", None),
    ],
)
def test_constant_steps_count(tmp_path: Path, body: str, step: int | None) -> None:
    program, _ = read_text(f"void f(int t, int n, double *a) {{ {body} }}", tmp_path)
    (f,) = program.units[0].functions
    inside = {d.symbol for n in walk(f.body) if isinstance(n, DeclStmt) for d in n.declarations}
    (loop,) = [found for found, _ in loops(recounted(f.body, lasting(f, f.body, inside)))]
    assert isinstance(loop, While if step is None else For)
    assert step is None or (isinstance(loop, For) and loop.step == step)
