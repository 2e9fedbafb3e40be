"""What threads are told of themselves: free where it is printed as it is, or picks the first thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.openmp.concurrency.test_one_thread import reasons

PRINTED = """#include <stdio.h>
extern int omp_get_num_threads(void);
static double a[8];
void region(void)
{
#pragma omp parallel HERE
    {
#pragma omp master
        SHOWN
#pragma omp for
        for (int i = 0; i < 8; i++) a[i] = i;
    }
}
"""
SHOWN = {
    r'printf("%d threads\n", omp_get_num_threads());': True,
    r'fprintf(stderr, "%d threads\n", omp_get_num_threads());': True,
    r'fprintf(tmpfile(), "%d threads\n", omp_get_num_threads());': False,
    r'sprintf((char *)a, "%d", omp_get_num_threads());': False,
    r'a[0] = printf("%d", omp_get_num_threads());': False,
    'printf("x" + omp_get_num_threads());': False,
}


@pytest.mark.parametrize("shown", SHOWN)
def test_how_many_threads_there_are_may_be_printed(shown: str, tmp_path: Path) -> None:
    """On one thread it is 1, as OpenMP prints there; where the program says how many, it is not."""
    text = PRINTED.replace("SHOWN", shown)
    (found,) = reasons(text.replace("HERE", ""), tmp_path)
    assert (found == "") == SHOWN[shown], found
    (chosen,) = reasons(text.replace("HERE", "num_threads(3)"), tmp_path)
    assert "omp_get_num_threads tells" in chosen


def test_the_threads_of_callers_have_other_numbers(tmp_path: Path) -> None:
    called = PRINTED.replace("HERE", "").replace("SHOWN", r'printf("%d\n", omp_get_num_threads());')
    around = called + "void f(void)\n{\n#pragma omp parallel\n    {\n        region();\n    }\n}\n"
    assert "omp_get_num_threads tells" in reasons(around, tmp_path)[0]
