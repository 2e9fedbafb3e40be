"""Regions that one thread runs before the search: those that it may, of the loops asked for, and no other."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from tests.poly.openmp.team_programs import MANY, ONE, SHOW
from warpsmith.base.verdict import Proved
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.unthreading import unthread_loops, unthread_regions
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import loops

TWICE = """
void f(int n, double *restrict a, double *restrict b)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
    }
#pragma omp parallel
    {
#pragma omp for
        for (int j = 0; j < n; j++) b[j] = j;
    }
}
"""


def prepared(text: str) -> Prepared:
    facts = Facts.about(program_of(text), PolyOptions(), apply_claims)
    return Prepared(facts, facts)


def steps(found: Prepared) -> list[str]:
    assert all(isinstance(applied.verdict, Proved) for applied in found.applied)
    return [applied.text for applied in found.applied]


@pytest.mark.parametrize("title", ["shared loops and a barrier", "a time loop that all run"])
def test_a_region_that_one_thread_may_run_is_given_to_one(title: str) -> None:
    found = unthread_regions(prepared(ONE[title]), None, frozenset())
    (step,) = steps(found)
    assert step.startswith("unthread=region/") and found.program is not found.original.program


def test_a_region_that_needs_its_threads_stays() -> None:
    given = prepared(MANY["a shared counter"][0] + SHOW)
    assert unthread_regions(given, None, frozenset()) is given


def test_only_regions_of_wanted_loops_and_none_that_is_left() -> None:
    given = prepared(TWICE)
    ((_, function),) = given.program.functions()
    first, second = (loop.span for loop, _ in loops(function.body))
    assert steps(unthread_regions(given, None, frozenset())) == ["unthread=f/i", "unthread=f/j"]
    assert steps(unthread_regions(given, (second,), frozenset())) == ["unthread=f/j"]
    assert steps(unthread_regions(given, None, frozenset({first}))) == ["unthread=f/j"]
    assert steps(unthread_regions(given, None, frozenset({function.span}))) == []
    assert unthread_regions(given, (), frozenset()) is given


TABLES = """
void f(int n, int m, double ***a, double **b, double *restrict c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j][0] = 1;
#pragma omp parallel for
    for (int k = 0; k < n; k++)
        for (int j = 0; j < m; j++) a[2][k][j] = 1;
#pragma omp parallel for
    for (int l = 0; l < n; l++)
        for (int j = 0; j < m; j++) b[l][j] = 1;
#pragma omp parallel for
    for (int p = 0; p < n; p++) c[p] = a[p][0][0];
}
"""


def test_a_loop_through_tables_of_rows_is_given_to_one_where_loops_are_in_it() -> None:
    given = prepared(TABLES)
    ((_, function),) = given.program.functions()
    first = next(loop.span for loop, _ in loops(function.body))
    found = unthread_loops(given, None, frozenset())
    assert steps(found) == ["unthread=f/i"]
    ((_, after),) = found.program.functions()
    assert [r.body.variable.name for r in regions_of(after) if isinstance(r.body, For)] == ["k", "l", "p"]
    assert unthread_loops(given, None, frozenset({first})) is given
    assert unthread_loops(given, (), frozenset()) is given
