"""Loops over the parts of all threads: whose bound is their number."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.concurrency.part_loops import find_part_loops, is_count

_PROGRAM = """
extern int omp_get_num_threads(void), omp_get_thread_num(void);
void f(int n, double *a)
{
    int told = 1, t;
    BEFORE
#pragma omp parallel CLAUSES
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        INSIDE
    }
    BEHIND
}
"""
_TOLD = "\n#pragma omp single\n told = omp_get_num_threads();\n"


def counted(inside: str, behind: str = "", before: str = "", clauses: str = "") -> list[bool]:
    """Return, loop by loop, whether it goes over as many parts as the region has threads."""
    text = _PROGRAM.replace("INSIDE", inside).replace("BEHIND", behind)
    program = program_of(text.replace("BEFORE", before).replace("CLAUSES", clauses))
    ((_, function),) = program.functions()
    (region,) = regions_of(function)
    facts = Facts.about(program, PolyOptions())
    return [is_count(facts, function, region, one) for one in find_part_loops(function.body)]


@pytest.mark.parametrize("bound", ["omp_get_num_threads()", "all"])
def test_what_each_thread_asks(bound: str) -> None:
    assert counted(f"for (int t = 0; t < {bound}; t++) a[t] = 0;") == [True]
    assert counted(f"for (t = 0; t < {bound}; ++t) a[t] = 0;") == [True]
    assert counted(f"for (int t = 1; t < {bound}; t++) a[t] = 0;") == []
    assert counted(f"for (int t = 0; t <= {bound}; t++) a[t] = 0;") == []
    assert counted("", f"for (int t = 0; t < {bound.replace('all', 'n')}; t++) a[t] = 0;") == [False]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (_TOLD, True),
        ("if (me == 0) told = omp_get_num_threads();", True),
        ("\n#pragma omp master\n { a[0] = 1; told = omp_get_num_threads(); }", True),
        ("\n#pragma omp single\n if (n) told = omp_get_num_threads();\n", False),
        ("\n#pragma omp single\n told = omp_get_num_threads() - 1;\n", False),
        (_TOLD + "\n#pragma omp single\n told = 2;", False),
        (f"if (n) {{ {_TOLD} }}", False),
        ("", False),
    ],
)
def test_what_one_thread_keeps(inside: str, *, found: bool) -> None:
    loop = "for (int t = 0; t < told; t++) a[t] = 0;"
    assert counted(inside, loop) == [found]
    assert counted(inside, f"told = n; {loop}") == [False]
    assert counted(inside, loop, clauses="private(told)") == [False]
    assert counted(inside, "", before=loop) == [False]


def test_a_number_is_read_behind_a_barrier() -> None:
    loop = "for (int t = 0; t < told; t++) a[t] = 0;"
    assert counted(_TOLD + loop) == [True]
    assert counted(loop + _TOLD) == [False]
    assert counted("if (me == 0) told = omp_get_num_threads();" + loop) == [False]
    assert counted("if (me == 0) told = omp_get_num_threads();\n#pragma omp barrier\n" + loop) == [True]
