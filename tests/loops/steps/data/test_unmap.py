"""Data directives that go: what is left of constructs, what is refused, and which functions change together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.same_results import rewritten, verdict_of
from tests.poly.mapped.programs import PROGRAMS, program
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
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


INSTANCES = """
#include <cstdio>
template <int W> void scale(const int *in, int *out, int n)
{
    #pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) out[i] = in[i] * W;
}
template <int W> void test(int n, int times)
{
    int *a = new int[n], *b = new int[n], s = 0;
    for (int i = 0; i < n; i++) a[i] = i;
    #pragma omp target data map(to: a[0:n]) map(alloc: b[0:n])
    {
        for (int t = 0; t < times; t++) scale<W>(a, b, n);
        UPDATE
        for (int i = 0; i < n; i++) s += b[i];
    }
    std::printf("%d\\n", s);
    delete[] a;
    delete[] b;
}
int main()
{
    test<2>(100, 3);
    test<3>(50, 2);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("project", [False, True], ids=["apart", "in place"])
def test_instances_of_one_template_are_ported_with_their_directives(project: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(INSTANCES.replace("UPDATE", "#pragma omp target update from (b[0:n])"))
    result = port([str(path)], PortOptions(root=str(tmp_path) if project else None))
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None
    assert {loop for fragment in result.plan.fragments for loop in fragment.loops} >= {"scale<2>/i", "scale<3>/i"}


def test_instances_whose_results_stay_on_the_device_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(INSTANCES.replace("UPDATE", ""))
    result = port([str(path)], PortOptions(verify=False))
    assert result.plan is not None and not result.plan.fragments
    assert any("its data directives are not those" in refusal.reason.text for refusal in result.plan.refusals)
