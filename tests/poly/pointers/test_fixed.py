"""Local pointers that keep their first address, and claims about loops that use them."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.claims import judge_claim
from warpsmith.poly.pointers.fixed import fixed_pointers

HEAD = "void g(int **); int all[90];\n"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("int *p = a + 3;", "p"),
        ("int *p = a, *q = p + n, *r = &q[2 * n];", "p q r"),
        ("int *p = all + n;", "p"),
        ("int *p = (int *)a + sizeof(int);", "p"),
        ("int *p = a; p[3] = 1;", "p"),
        ("int *p = a + 3; p++;", ""),
        ("int *p = a + 3; p = a;", ""),
        ("int *p = a + 3; g(&p);", ""),
        ("int *p = a + n; n = 3;", ""),
        ("int *p = a; a = all;", ""),
        ("int *p = a + a[0];", ""),
        ("int *p; p = a;", ""),
        ("static int *p; p = a;", ""),
        ("for (int i = 0; i < n; i++) { int *p = a + i; p[0] = 1; }", ""),
        ("int *p = n ? a : all;", ""),
    ],
)
def test_fixed_pointers(body: str, names: str) -> None:
    program = program_of(f"{HEAD}void f(int n, int *a) {{ {body} }}")
    one = function(program, "f")
    found = fixed_pointers(one, Origin.of(program, one).hidden)
    assert {symbol.name for symbol in found} == set(names.split())


@pytest.mark.parametrize(
    ("before", "loop", "right"),
    [
        ("int *p = a, *q = a + 100;", "for (int i = 0; i < 100; i++) p[i] = q[i];", True),
        ("int *p = a, *q = a + 99;", "for (int i = 0; i < 100; i++) p[i] = q[i];", False),
        ("int *p = a, *q = p + n, *r = q + n;", "for (int i = 0; i < n; i++) p[i] = q[i] + r[i];", True),
        ("int *p = a, *q = p + n, *r = q - 1;", "for (int i = 0; i < n; i++) p[i] = r[i];", False),
        ("int *p = a + 1, *q = a;", "for (int i = 0; i < n; i++) p[2 * i] = q[2 * i];", True),
    ],
)
def test_claims_follow_them(before: str, loop: str, right: bool) -> None:
    program = program_of(f"void f(int n, int *a) {{ {before}\n#pragma omp parallel for\n{loop} }}")
    one, facts = function(program, "f"), Facts.about(program, PolyOptions())
    (claim,) = claims_of(one)
    known = {loop.loop: loop for loop in facts.of(one).loops}
    verdict = judge_claim(facts, one, claim, known).verdict
    assert isinstance(verdict, Proved if right else Refuted)
    # nothing rests on a test that two parts of one array would fail
    assert not isinstance(verdict, Proved) or not verdict.assumptions


def test_other_memory_is_still_in_doubt() -> None:
    loop = "for (int i = 0; i < n; i++) p[i] = b[i];"
    program = program_of(f"void f(int n, int *a, int *b) {{ int *p = a + 1;\n#pragma omp parallel for\n{loop} }}")
    one, facts = function(program, "f"), Facts.about(program, PolyOptions())
    (claim,) = claims_of(one)
    verdict = judge_claim(facts, one, claim, {}).verdict
    assert isinstance(verdict, Proved) and verdict.assumptions
    strict = Facts.about(program, PolyOptions(guards=False))
    assert not isinstance(judge_claim(strict, one, claim, {}).verdict, Proved)
