"""The last iteration apart, where nothing else keeps a loop that says lastprivate from being a kernel."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.last_apart import last_apart
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.walk import loops

LOOP = "    for (int i = 0; i < 64; i++) { t = a[i]; b[i] = t; }\n"
SECOND = "    for (int k = 0; k < 64; k++) { t = a[k]; b[k] = t; }\n"
READ = "    b[0] = t;\n"


def prepared(*texts: str) -> Prepared:
    body = "".join(texts)
    text = f"void f(int n, double *restrict a, double *restrict b)\n{{\n    double t = 0;\n{body}}}\n"
    facts = Facts.about(program_of(text), PolyOptions(), apply_claims)
    return Prepared(facts, facts)


def steps(found: Prepared) -> list[str]:
    assert all(isinstance(applied.verdict, Proved) for applied in found.applied)
    return [applied.text for applied in found.applied]


LAST = "#pragma omp parallel for lastprivate(t)\n"
CASES = [
    ((LAST, LOOP, READ), ["peel=f/i,last=1"]),
    # nobody reads it after the loop; nothing is claimed; the claim is wrong
    ((LAST, LOOP), []),
    ((LOOP, READ), []),
    ((LAST, "    for (int i = 1; i < 64; i++) { t = b[i - 1]; b[i] = t * t; }\n", READ), []),
]


@pytest.mark.parametrize(("texts", "expected"), CASES)
def test_the_last_iteration_is_written_behind(texts: tuple[str, ...], expected: list[str]) -> None:
    given = prepared(*texts)
    found = last_apart(given, None, frozenset())
    assert steps(found) == expected
    assert (found is given) == (not expected)


def test_only_loops_that_are_wanted_and_none_that_is_left() -> None:
    given = prepared(LAST, LOOP, READ, LAST, SECOND, READ)
    ((_, function),) = given.program.functions()
    _, second = (loop.span for loop, _ in loops(function.body))
    assert steps(last_apart(given, None, frozenset())) == ["peel=f/i,last=1", "peel=f/k,last=1"]
    assert steps(last_apart(given, (second,), frozenset())) == ["peel=f/k,last=1"]
    assert steps(last_apart(given, None, frozenset({second}))) == ["peel=f/i,last=1"]
    assert steps(last_apart(given, None, frozenset({function.span}))) == []
    assert last_apart(given, (), frozenset()) is given
