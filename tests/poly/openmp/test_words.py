"""Explanations of a wrong claim in the user's words: the missing clause, and the iterations that show it."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from tests.poly.regions.modelled import modelled
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.openmp.words import ClaimContext, missing_clause, word_witness
from warpsmith.tree.walk import names

ARRAYS = "int n, int m, int *restrict a, int *restrict b, int x[restrict][100]"
# declarations, the loop and what follows, the variable, the loop of a collapse, and what is said
CASES: list[tuple[str, str, str, int, str]] = [
    ("int t;", "t = a[i]; b[i] = t; }", "t", 0, "t needs private"),
    ("int t;", "t = a[i]; b[i] = t; } return t;", "t", 0, "t needs lastprivate"),
    ("int s = 0;", "s += a[i]; } return s;", "s", 0, "s needs reduction(+: s)"),
    ("int s = 0;", "s = s > a[i] ? s : a[i]; } return s;", "s", 0, "s needs reduction(max: s)"),
    ("int j;", "for (j = 0; j < m; j++) x[i][j] = j; }", "j", 0, "j needs private"),
    ("int j;", "for (j = 0; j < m; j++) x[i][j] = j; } return j;", "j", 0, "j needs lastprivate"),
    ("int s = 0;", "s += a[i]; b[i] = s; }", "s", 0, "the loop carries a dependence on s"),
    ("int s = 0;", "s = 2 * s + a[i]; } return s;", "s", 0, "the loop carries a dependence on s"),
    ("", "a[0] += b[i]; }", "a", 0, "a needs reduction(+: a[…]) or atomic"),
    ("", "a[i] = a[i - 1]; }", "a", 0, "the loop carries a dependence on a"),
    ("int t[4];", "for (int k = 0; k < 4; k++) t[k] = a[i]; b[i] = t[0]; }", "t", 0, "t needs private"),
    (
        "int t[4];",
        "for (int k = 0; k < 4; k++) t[k] = a[i]; b[i] = t[0]; } return t[1];",
        "t",
        0,
        "t needs lastprivate",
    ),
    ("int t[4] = {0};", "t[i & 3] = a[i]; b[i] = t[0]; }", "t", 0, "the loop carries a dependence on t"),
]
COLLAPSE = f"""void f({ARRAYS}) {{
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) x[i][j] = x[i][j - 1]; }}"""


def _said(text: str, name: str, level: int) -> str:
    program = program_of(text)
    facts, one = Facts.about(program, PolyOptions()), function(program, "f")
    (claim,) = claims_of(one)
    roles = classify_scalars(program, one, claim.loops[0], facts.liveness(one), facts.summaries)
    symbol = next(n.symbol for n in (*names(claim.marked), *names(one.body)) if n.symbol.name == name)
    with budget(facts.options.max_operations):
        return missing_clause(ClaimContext(facts, one, claim, roles), symbol, level)


@pytest.mark.parametrize(("declarations", "body", "name", "level", "said"), CASES, ids=[case[1] for case in CASES])
def test_the_clause_that_is_missing(declarations: str, body: str, name: str, level: int, said: str) -> None:
    loop_text = f"#pragma omp parallel for\nfor (int i = 1; i < n; i++) {{ {body}"
    text = f"int f({ARRAYS}) {{ {declarations}\n{loop_text} return 0; }}"
    assert said in _said(text, name, level)


def test_a_collapse_over_a_loop_that_carries() -> None:
    assert _said(COLLAPSE, "x", 1) == "collapse(2) covers the j loop, which carries a dependence on x"


@pytest.mark.parametrize(
    ("witness", "said"),
    [
        (
            "n = 3: S(1) writes a[1], S(2) reads it",
            "iteration i = 1 writes a[1], iteration i = 2 reads it (n = 3)",
        ),
        ("S(0) writes t, S(1) writes it", "iteration i = 0 writes t, iteration i = 1 writes it too"),
        ("S(0,4) reads x[0][4], T(1,3) writes it", "iteration i = 0 reads x[0][4], iteration i = 1 writes it"),
        ("something else", "something else"),
    ],
)
def test_witnesses_as_sentences(witness: str, said: str) -> None:
    region, _ = modelled(program_of("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 0; }"), "f/i")
    assert word_witness(witness, region) == said


def test_a_witness_names_the_loops_around() -> None:
    text = "void f(int n, int *a) { for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) a[i] = t; }"
    program = program_of(text)
    region, _ = modelled(program, "f/t/i")
    assert word_witness("S(2,0) writes a, S(2,1) reads it", region) == (
        "iteration t = 2, i = 0 writes a, iteration t = 2, i = 1 reads it"
    )
    assert loop(program, "f/t") is not None
