"""Data directives that go: what is left of constructs, what is refused, and which functions change together."""

from __future__ import annotations

import pytest

from tests.loops.steps.same_results import rewritten, verdict_of
from tests.poly.mapped.programs import PROGRAMS, program
from warpsmith.base.verdict import Proved
from warpsmith.loops.steps.data.unmap import Unmap

TWO = """
void scale(int n, double *a) {
#pragma omp target teams distribute parallel for thread_limit(64)
    for (int i = 0; i < n; i++) a[i] *= 2;
}
void f(int n, double *a, double *s) {
    double t = 0, u = 1;
#pragma omp target data map(tofrom: a[0:n])
    {
        for (int k = 0; k < 3; k++) scale(n, a);
#pragma omp target update from(a[0:n])
#pragma omp target teams distribute parallel for reduction(+: t) map(tofrom: t) firstprivate(u) nowait
        for (int j = 0; j < n; j++) { u = a[j]; t += u; }
#pragma omp taskwait
    }
    s[0] = t;
}
"""
ACC = """
void f(int n, double *a, double *b) {
#pragma acc data copyin(a[0:n]) copyout(b[0:n])
    {
#pragma acc parallel loop gang vector present(a)
        for (int i = 0; i < n; i++) b[i] = a[i];
    }
}
"""


def test_constructs_keep_what_they_say_of_threads() -> None:
    text = rewritten(TWO, Unmap("f/k"))
    assert "target" not in text and "map(" not in text and "#pragma omp taskwait" in text
    assert "#pragma omp teams distribute parallel for thread_limit(64)\n" in text
    assert "#pragma omp teams distribute parallel for reduction(+: t) firstprivate(u)\n" in text


def test_the_functions_of_one_program_change_together() -> None:
    assert rewritten(TWO, Unmap("scale/i")) == rewritten(TWO, Unmap("f/j"))


def test_openacc_keeps_its_loops() -> None:
    text = rewritten(ACC, Unmap("f/i"))
    assert "#pragma acc parallel loop gang vector\n" in text and "copyin" not in text and "data" not in text


@pytest.mark.parametrize("title", list(PROGRAMS)[::6])
def test_directives_that_matter_stay(title: str) -> None:
    assert isinstance(verdict_of(program(title, wrong=False), Unmap("main/i")), Proved)
    assert not isinstance(verdict_of(program(title, wrong=True), Unmap("main/i")), Proved)


def test_a_function_without_directives_is_refused() -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }"
    assert not isinstance(verdict_of(text, Unmap("f/i")), Proved)
