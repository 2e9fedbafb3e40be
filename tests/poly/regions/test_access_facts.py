"""Strides of array references along every counter, for the cost model."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.regions.modelled import modelled
from warpsmith.poly.facts import ReferenceFact
from warpsmith.poly.regions.access_facts import access_facts
from warpsmith.tree.program import Program

HEAD = "struct p { double x, y; int k; }; struct q { float v[6]; char c[3]; }; int take(double *);\n"
# a reference in loops over i (by 1) and j (by 2), its strides in elements of its type, and whether it is affine
CASES: list[tuple[str, str, bool]] = [
    ("a[i]", "i 1", True),
    ("a[3 * i - j]", "i 3, j -2", True),
    ("a[5]", "", True),
    ("a[n]", "", True),
    ("a[i * n + j]", "i ?, j 2", True),
    ("g[i][j]", "i 7, j 2", True),
    ("g[j][i]", "i 1, j 14", True),
    ("a[i * j]", "i ?, j ?", False),
    ("a[k[i]]", "i ?, j ?", False),
    ("a[i / 4]", "i ?", True),
    ("a[n / 4]", "", True),
    # a struct of 24 bytes holds three doubles, six ints
    ("s[i].x", "i 3", True),
    ("s[i].k", "i 6", True),
    ("t[i].v[j]", "i 7, j 14", True),
    ("h[i]", "i 1", True),
]


@functools.cache
def _program() -> Program:
    parameters = "int n, double *a, double g[][7], const int *k, struct p *s, struct q *t, char *h, double *r"
    texts = (
        f"void f{number}({parameters}) {{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2) r[0] = {expr}; }}"
        for number, (expr, _, _) in enumerate(CASES)
    )
    return program_of(HEAD + "\n".join(texts))


def _shown(fact: ReferenceFact) -> str:
    pairs = sorted((s.name, "?" if stride is None else str(stride)) for s, stride in fact.strides.items())
    return ", ".join(f"{name} {stride}" for name, stride in pairs)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_strides(number: int) -> None:
    expr, strides, affine = CASES[number]
    region, _ = modelled(_program(), f"f{number}/i")
    (fact,) = (f for f in access_facts(region) if f.expr.span.text == expr)
    assert (_shown(fact), fact.affine) == (strides, affine)
    assert not fact.write
    written = [f for f in access_facts(region) if f.write]
    assert [f.base.name for f in written] == ["r"] and _shown(written[0]) == ""


def test_loops_around_the_region_count_as_well() -> None:
    region, _ = modelled(_program(), "f1/i/j")
    (fact,) = (f for f in access_facts(region) if f.base.name == "a")
    assert _shown(fact) == "i 3, j -2"


def test_scalars_are_no_references_and_unknown_ones_have_no_strides() -> None:
    text = "double take(double *); void f(int n, double *a, double s) { for (int i = 0; i < n; i++) s += take(a); }"
    region, _ = modelled(program_of(text), "f/i")
    facts = access_facts(region)
    assert facts and {f.base.name for f in facts} >= {"a"}
    assert all(not f.strides and not f.affine for f in facts)
