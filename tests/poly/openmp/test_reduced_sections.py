"""Sections that are reduced: they hold all that the loop touches, or this is not known."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.reduced_sections import find_unreduced

# the reduction's section of h[16] or of *p (n elements), the loop, and whether it stays inside
CASES: list[tuple[str, str, bool]] = [
    ("h", "for (int i = 0; i < n; i++) h[i % 16] += a[i];", True),
    ("h[:]", "for (int i = 0; i < n; i++) h[i % 16] += a[i];", True),
    ("h[0:16]", "for (int i = 0; i < n; i++) h[(int)a[i]] += 1;", True),
    ("h[:4]", "for (int i = 0; i < n; i++) h[i % 16] += a[i];", False),
    ("h[1:15]", "for (int i = 0; i < n; i++) h[(int)a[i]] += 1;", False),
    ("h[:4]", "for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) h[k] += a[i];", True),
    ("h[:3]", "for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) h[k] += a[i];", False),
    ("h[1:4]", "for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) h[k] += a[i];", False),
    ("h[1:3]", "for (int i = 0; i < n; i++) for (int k = 1; k < 4; k++) h[k] += a[i];", True),
    ("p[0:n]", "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) p[k] += a[i];", True),
    ("p[0:m]", "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) p[k] += a[i];", False),
    ("p[0:n-1]", "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) p[k] += a[i];", False),
    ("p[0:n]", "for (int i = 0; i < n; i++) p[0] += a[i];", False),
]


@functools.cache
def _facts() -> Facts:
    texts = (
        f"void f{k}(int n, int m, double *restrict a, double *restrict p) {{ double h[16];\n"
        f"#pragma omp parallel for reduction(+: {section})\n{loop} }}"
        for k, (section, loop, _) in enumerate(CASES)
    )
    return Facts.about(program_of("\n".join(texts)), PolyOptions())


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_sections(number: int) -> None:
    facts = _facts()
    one = function(facts.program, f"f{number}")
    (claim,) = claims_of(one)
    (symbol,) = claim.reductions
    with budget(facts.options.max_operations):
        found = find_unreduced(facts, one, claim, symbol)
    assert (found is None) == CASES[number][2]
    assert found is None or (found.rule == "CLM002" and symbol.name in found.text)
