"""Which statements keep a region's number of threads; that a region of its own tells the same is run by
tests/loops/steps/order/test_unthread.py."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.openmp.concurrency.kept_counts import find_kept_counts
from warpsmith.poly.openmp.team import team_of

_PROGRAM = """
extern int omp_get_num_threads(void), omp_get_thread_num(void);
void f(int n, int told, int *many)
{
#pragma omp parallel CLAUSES
    {
        int me = omp_get_thread_num(), own;
        INSIDE
#pragma omp for
        for (int i = 0; i < n; i++) many[i] = me;
    }
}
"""
_MASTER = "\n#pragma omp master\n"


@pytest.mark.parametrize(
    ("inside", "clauses", "kept"),
    [
        (_MASTER + "told = omp_get_num_threads();", "", 1),
        (_MASTER + "told = omp_get_num_threads();", "num_threads(4)", 1),
        ("if (me == 0) { told = omp_get_num_threads(); n = 1; }", "", 1),
        (_MASTER + "told = omp_get_num_threads();", "num_threads(n)", 0),
        (_MASTER + "told = omp_get_num_threads();", "if(n > 4)", 0),
        (_MASTER + "told = omp_get_num_threads();", "private(told)", 0),
        (_MASTER + "told = omp_get_num_threads() + 1;", "", 0),
        (_MASTER + "told += omp_get_num_threads();", "", 0),
        (_MASTER + "many[0] = omp_get_num_threads();", "", 0),
        (_MASTER + "own = omp_get_num_threads();", "", 0),
        ("own = omp_get_num_threads();", "", 0),
    ],
)
def test_what_keeps_the_number(inside: str, clauses: str, kept: int) -> None:
    program = program_of(_PROGRAM.replace("INSIDE", inside).replace("CLAUSES", clauses))
    ((_, function),) = program.functions()
    (region,) = regions_of(function)
    assert len(list(find_kept_counts(team_of(program, function, region)))) == kept
