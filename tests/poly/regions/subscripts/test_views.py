"""Several shapes of one array in one scope: each view has its own ends; what two touch together is not known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from tests.poly.host_value import value
from tests.poly.programs import function, load
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions, Sections
from warpsmith.poly.regions.sections import sections
from warpsmith.tree.program import Program


def whole(program: Program) -> Sections:
    f = function(program, "f")
    return sections(program, f, f.body.statements, f.body.statements, PolyOptions())


def bounds(found: Sections, name: str, env: Mapping[str, int]) -> tuple[int, int]:
    section = next(s for s in found.sections if s.symbol.name == name)
    return value(section.lower, env), value(section.upper, env)


@pytest.mark.parametrize(
    ("body", "guards"),
    [
        ("for (int i = 0; i < n*n; i++) a[i] = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
         " a[i*n + j] += 1;", ["n >= 1"]),
        ("for (int i = 0; i < n*m*3; i++) a[i] = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
         " a[(i*m + j)*3 + 1] += 1;", ["m >= 1", "n >= 1"]),
        ("for (int i = 5; i < m; i++) a[i] = 0; for (int i = 1; i < n; i++) for (int j = 0; j < m; j++)"
         " a[i*m + j] += 1; for (int i = 0; i < n*m; i++) a[i] *= 2;", ["m >= 1", "n >= 1"]),
        ("for (int i = 0; i < n*m; i++) a[i] = 0; for (int i = 0; i < n; i++) for (int j = 0; j < 9; j++)"
         " a[i*m + j] += 1;", ["m >= 9", "n >= 1"]),
    ],
)  # fmt: skip
def test_ends_hold_every_view(body: str, guards: list[str], tmp_path: Path) -> None:
    program = load(f"void f(double *restrict a, int n, int m) {{ {body} }}", tmp_path)
    found = whole(program)
    assert not found.failures
    assert sorted(a.text for a in found.assumptions) == guards
    for n, m in product(range(-1, 5), range(-1, 12)):
        env = {"n": n, "m": m, "a": 0}
        if all(value(a.condition, env) for a in found.assumptions if a.condition is not None):
            low, high = bounds(found, "a", env)
            assert low <= 0 and high >= max(n * n if "n*n" in body else 3 * n * m if "3" in body else n * m, 0)


def test_a_loop_of_two_views_is_no_guess(tmp_path: Path) -> None:
    """The flat write of one row meets the rows: whatever is said of the loop, it is not that it is parallel."""
    text = """void f(double *restrict a, int n) { for (int t = 0; t < 9; t++) {
      for (int i = 0; i < n*n; i++) a[i] = t;
      for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i*n + j] += 1; } }"""
    facts = analyze(load(text, tmp_path), PolyOptions()).functions[0]
    outer, flat, rows, columns = (loop.verdict for loop in facts.loops)
    assert not isinstance(outer, Proved)
    assert all(isinstance(v, Proved) and not v.assumptions for v in (flat, rows, columns))
