"""Whether an element is touched in one way only while a run is executed."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Refuted, Unknown, Verdict
from warpsmith.poly.aliasing.aliasing import alias_pairs
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.tree.nodes import Index, Loop
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import loop_names, loops, walk

HEAD = "extern double G[99];\nvoid f(int n, int m, double A[restrict n][n], double *p, double *restrict q, int *c)\n"


def ask(
    body: str, loop: str, element: str, *, tested: str = "", granted: str = "", operations: int = 2_000_000
) -> Verdict:
    """Ask about an element in the loop with this address; `tested`: the outer loop, whose alias guards are tested."""
    program = program_of(f"{HEAD}{{\n    {body}\n}}\n")
    _, function = next(iter(program.functions()))
    origin = Origin.of(program, function)
    named = {name: one for one, name in loop_names(function).items()}
    run, around = (named[loop],), dict(loops(function.body))[named[loop]]
    nodes = tuple(n for n in walk(named[loop]) if isinstance(n, Index) and show_expression(n) == element)
    assert nodes
    given = tuple(Assumption(text, "granted") for text in granted.split("; ") if text)
    options = PolyOptions(granted=given, loop_operations=operations)
    outer: tuple[Loop, ...] = (named[tested],) if tested else ()
    allowed: tuple[Assumption, ...] = ()
    if tested:
        with budget(2_000_000):
            pairs = alias_pairs(program, function, outer, options)
        allowed = tuple(pair.assumption for pair in pairs if pair.assumption is not None)
    return is_alone(AloneQuestion(origin, run, nodes, around, options, outer, allowed))


ALONE = [
    ("for (int k = 0; k < m; k++) G[50] += q[k];", "f/k", "G[50]"),
    ("for (int j = 0; j < n; j++) for (int k = 0; k < j; k++) A[j][j] -= A[j][k];", "f/j/k", "A[j][j]"),
    ("for (int j = 0; j < n; j++) for (int k = j + 1; k < n; k++) A[j][j] -= A[j][k];", "f/j/k", "A[j][j]"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++)"
     " A[i][j] -= A[i][k] * A[j][k];", "f/i/j/k", "A[i][j]"),
    ("for (int k = 0; k < 9; k++) G[10] += G[k];", "f/k", "G[10]"),
    ("for (int k = 0; k < m; k++) G[2 * k] += G[7];", "f/k", "G[7]"),
    ("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) q[i * m + k] = A[i][i];", "f/i/k", "A[i][i]"),
    ("for (int k = 0; k < m; k++) q[k] = p[3] + p[k];", "f/k", "p[3]"),
]  # fmt: skip
REFUTED = [
    ("for (int k = 0; k < m; k++) G[5] += G[k];", "f/k", "G[5]", "m = 6: S(5) writes G[5], S(5) reads it"),
    ("for (int k = 0; k < m; k++) G[k] += G[5];", "f/k", "G[5]", "m = 6: S(0) reads G[5], S(5) writes it"),
    ("for (int j = 0; j < n; j++) for (int k = 0; k <= j; k++) A[j][j] -= A[j][k];", "f/j/k", "A[j][j]",
     "writes A[0][0]"),
]  # fmt: skip
UNKNOWN = [
    ("for (int k = 0; k < m; k++) G[5] += p[k];", "f/k", "G[5]", "overlap"),
    ("for (int k = 0; k < m; k++) G[5] += G[c[k]];", "f/k", "G[5]", "perhaps reads what G[5] is"),
    ("for (int k = 0; k < m; k++) if (q[k] > 0) G[5] += G[k];", "f/k", "G[5]", "perhaps reads what G[5] is"),
]


@pytest.mark.parametrize("body, loop, element", ALONE)
def test_alone(body: str, loop: str, element: str) -> None:
    assert ask(body, loop, element) == Proved()


@pytest.mark.parametrize("body, loop, element, witness", REFUTED)
def test_another_reference_has_a_witness(body: str, loop: str, element: str, witness: str) -> None:
    verdict = ask(body, loop, element)
    assert isinstance(verdict, Refuted)
    dependence = verdict.reasons[0].dependence
    assert dependence is not None and witness in dependence.witness


@pytest.mark.parametrize("body, loop, element, text", UNKNOWN)
def test_what_is_not_known(body: str, loop: str, element: str, text: str) -> None:
    verdict = ask(body, loop, element)
    assert isinstance(verdict, Unknown) and text in verdict.reasons[0].text, verdict


def test_names_are_apart_where_that_is_granted_or_tested() -> None:
    body = "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) G[j] += p[k];"
    assert isinstance(ask(body, "f/j/k", "G[j]"), Unknown)
    granted = ask(body, "f/j/k", "G[j]", granted="noalias(G, p)")
    assert isinstance(granted, Proved) and [a.text for a in granted.assumptions] == ["noalias(G, p)"]
    tested = ask(body, "f/j/k", "G[j]", tested="f/j")
    assert isinstance(tested, Proved) and [a.kind for a in tested.assumptions] == ["guarded"]


def test_work_is_bounded() -> None:
    verdict = ask(REFUTED[2][0], "f/j/k", "A[j][j]", operations=10)
    assert isinstance(verdict, Unknown) and "work budget" in verdict.reasons[0].text
