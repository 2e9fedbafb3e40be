"""Pragmas read into directives: what is not understood is named, never guessed."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.front.pragmas import read_directive
from warpsmith.tree.nodes import Block, For, If, Pragma
from warpsmith.tree.text.directives import Directive


def read(text: str, **macros: str) -> Directive:
    directive = read_directive(text, macros)
    assert directive is not None
    return directive


@pytest.mark.parametrize(
    ("text", "words", "clauses"),
    [
        ("#pragma omp parallel for", "parallel for", []),
        ("#  pragma omp for nowait", "for", ["nowait"]),
        ("%:pragma omp for", "for", []),
        ("#pragma omp parallel \\\n  for /* c */ schedule(static, 4) // x", "parallel for", ["schedule(static, 4)"]),
        ('_Pragma("omp simd safelen(4)")', "simd", ["safelen(4)"]),
        ("#pragma omp parallel for ordered", "parallel for", ["ordered"]),
        ("#pragma omp ordered", "ordered", []),
        ("#pragma omp atomic capture", "atomic", ["capture"]),
        ("#pragma omp atomic update", "atomic", ["update"]),
        ("#pragma omp critical (name)", "critical", ["(name)"]),
        ("#pragma omp target update to(a[0:n])", "target update", ["to(a[0:n])"]),
        ("#pragma omp distribute parallel for simd, collapse(2)", "distribute parallel for simd", ["collapse(2)"]),
        ("#pragma acc parallel loop gang vector(32)", "parallel loop", ["gang", "vector(32)"]),
        ("#pragma acc kernels", "kernels", []),
    ],
)
def test_words_and_clauses(text: str, words: str, clauses: list[str]) -> None:
    directive = read(text)
    assert " ".join(directive.words) == words
    assert [clause.text for clause in directive.clauses] == clauses
    assert directive.unknown == ()


@pytest.mark.parametrize(
    "text", ["#pragma GCC ivdep", "#pragma once", "#pragma unroll", "#pragma", "#pragma STDC X ON"]
)
def test_other_pragmas_are_no_directives(text: str) -> None:
    assert read_directive(text, {}) is None


def test_lists_have_names_sections_and_operators() -> None:
    directive = read(
        "#pragma omp parallel for private(t, u) reduction(max : m) reduction(+: s, h[:n][0:2]) linear(k : 2)"
    )
    assert directive.list_variables("private") == ("t", "u")
    assert [(c.operator, [v.name for v in c.variables]) for c in directive.clauses if c.name == "reduction"] == [
        ("max", ["m"]),
        ("+", ["s", "h"]),
    ]
    assert directive.clauses[2].variables[1].section == "[:n][0:2]"
    assert directive.list_variables("linear") == ("k",)
    assert directive.list_variables("private", "linear") == ("t", "u", "k")


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("#pragma omp parallel for privat(t)", "privat(t)"),
        ("#pragma omp parallel for private(this->t)", "private(this->t)"),
        ("#pragma omp parallel for private(*p)", "private(*p)"),
        ("#pragma omp parallel for reduction(s)", "reduction(s)"),
        ("#pragma omp parallel for reduction(inscan, +: s)", "reduction(inscan, +: s)"),
        ("#pragma omp for lastprivate(conditional: x)", "lastprivate(conditional: x)"),
        ("#pragma omp parallel for private", "private"),
        ("#pragma omp frobnicate", "frobnicate"),
        ("#pragma omp parallel for + 3", "+"),
    ],
)
def test_what_is_not_understood_is_named(text: str, unknown: str) -> None:
    assert unknown in read(text).unknown


def test_macros_in_clauses_are_replaced() -> None:
    directive = read("#pragma omp parallel for private(VARS) num_threads(N)", VARS="t, u", N="4", private="x")
    assert directive.list_variables("private") == ("t", "u")
    assert directive.argument("num_threads") == "4"
    # a macro that names itself ends
    assert read("#pragma omp parallel for num_threads(A)", A="B", B="A").has("num_threads")


PLACES = """
#define PAR _Pragma("omp parallel for private(t)")
#define DO(x) _Pragma(#x)
#define NAMES t
void f(int n, double *a)
{
    double t;
#pragma omp parallel for private(NAMES)
    for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    PAR for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    DO(omp parallel for private(t)) for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    _Pragma("omp parallel for private(t)") for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    if (n > 3)
#pragma omp parallel for private(t)
        for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    else
#pragma omp parallel for private(t)
        for (int i = 0; i < n; i++) { t = i; a[i] = t; }
    for (int k = 0; k < 3; k++)
#pragma omp parallel for private(t)
        for (int i = 0; i < n; i++) { t = i; a[i] = t; }
}
"""


def test_pragmas_are_found_wherever_they_stand(load: Load) -> None:
    body = function(load(PLACES)).body
    pragmas = [p for p in found(body, Pragma) if isinstance(p, Pragma)]
    assert len(pragmas) == 7
    for pragma in pragmas:
        assert pragma.directive is not None
        assert pragma.directive.words == ("parallel", "for")
        assert pragma.directive.list_variables("private") == ("t",)
    # an unbraced body stands in a block with its pragma
    (branch,) = (n for n in found(body, If) if isinstance(n, If))
    for part in (branch.then, branch.other):
        assert isinstance(part, Block)
        assert [type(s) for s in part.statements] == [Pragma, For]
        assert part.intact


def test_names_may_have_dollars_and_letters_beyond_ascii() -> None:
    directive = read("#pragma omp parallel for private(i$, gr\xc3\xbcn) schedule(S$)", **{"S$": "static"})
    assert directive.list_variables("private") == ("i$", "gr\xc3\xbcn")
    assert directive.argument("schedule") == "static"


@pytest.mark.parametrize(
    "text", ["# /* c */ pragma omp barrier", "#pra\\\ngma omp bar\\\r\nrier // \\\n c", "%: pragma omp barrier"]
)
def test_a_pragma_may_be_written_in_any_way(text: str) -> None:
    assert read(text).words == ("barrier",)
