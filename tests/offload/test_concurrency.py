"""Recursion and OpenMP regions: nothing is ported where two calls may be under way at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.search.test_unthreading import prepared
from tests.offload.hand import load
from tests.poly.mapped.programs import PROGRAMS, program
from warpsmith.loops.search.unmapping import unmap_functions
from warpsmith.offload.concurrency import no_port_here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("void f(int n) { if (n) f(n - 1); }", "recursive"),
        ("void g(int n); void f(int n) { if (n) g(n - 1); } void g(int n) { f(n); }", "recursive"),
        ("void f(int n) { } void h(void) {\n#pragma omp parallel for\nfor (int i = 0; i < 3; i++) f(i); }", "OpenMP"),
        ("void f(int n) { } void k(void) { f(1); } void h(void) {\n#pragma omp parallel\n{ k(); } }", "OpenMP"),
        (
            "void f(int n) { } void h(void) {\n#ifdef O\n#pragma omp parallel for\n#endif\n"
            "for (int i = 0; i < 3; i++) f(i); }",
            "OpenMP",
        ),
        ("void f(int n) { } void h(void) {\n#pragma omp simd\nfor (int i = 0; i < 3; i++) f(i); }", ""),
        ("void f(int n) { } void h(void) { f(3); }", ""),
        (
            "void f(int n) { } void k(void) { f(1); } void h(double *a) {\n#pragma acc data copy(a[0:9])\n{ k(); } }",
            "'h'",
        ),
        ("void f(int n) { } void h(double *a) {\n#pragma acc data copy(a[0:9])\n{ a[0] = 1; } f(3); }", ""),
        ("void f(int n) { } void h(double *a) {\n#pragma omp target enter data map(to: a[0:9])\n a[0] = 1; }", "'h'"),
    ],
)
def test_where_nothing_may_be_ported(text: str, said: str, tmp_path: Path) -> None:
    loaded = load(text, tmp_path)
    function = next(f for _, f in loaded.functions() if f.symbol.name == "f")
    reason = no_port_here(loaded, function)
    assert (said in reason.text) if said and reason is not None else (reason is None) == (not said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int main(void) {\n#pragma omp barrier\n return 0; }", ""),
        # what the pragma stands in front of is no statement of its own
        ("int main(void) {\n#pragma omp for\n for (int i = 0; i < 3; i++) ; return 0; }", "'omp for'"),
        ("void g(void) { }\nint main(void) {\n#pragma omp barrier\n#pragma omp single\n g(); return 0; }", "single"),
        # other threads may run what somebody names
        ("void f(void); int main(void) {\n#pragma omp barrier\n return 0; } void f(void) { main(); }", "'omp barrier'"),
        ("int main(void) {\n#pragma omp barrier\n return 0; } int (*const again)(void) = main;\n"
         "int h(void) { return (*again)(); } int k(void) { return main != 0; }", "'omp barrier'"),
        ("void main_loop(void) {\n#pragma omp barrier\n }", "'omp barrier'"),
    ],
)  # fmt: skip
def test_only_the_thread_that_runs_main_waits_for_nobody_at_a_barrier(text: str, said: str, tmp_path: Path) -> None:
    loaded = load(text, tmp_path)
    function = next(f for _, f in loaded.functions() if f.symbol.name.startswith("main"))
    reason = no_port_here(loaded, function)
    assert reason is None if not said else reason is not None and said in reason.text


@pytest.mark.parametrize(
    ("condition", "alone", "in_place"),
    [("defined(A)", "data", ""), ("defined(__NVCC__)", "data", "data"), ("!defined(A)", "data", "data")],
)
def test_data_that_another_build_keeps_on_a_device(condition: str, alone: str, in_place: str, tmp_path: Path) -> None:
    text = f"void f(int n, int *a) {{\n#if {condition}\n#pragma omp target data map(a[0:n])\n{{\n#endif\n"
    loop = "for (int i = 0; i < n; i++) a[i] = i;"
    program = load(f"{text}{loop}\n#if {condition}\n}}\n#endif\n}}", tmp_path)
    ((_, function),) = program.functions()
    for one_build, said in ((False, alone), (True, in_place)):
        reason = no_port_here(program, function, one_build=one_build)
        assert (reason is not None and said in reason.text) if said else reason is None


@pytest.mark.parametrize("title", list(PROGRAMS)[::4])
def test_nothing_is_ported_where_data_directives_are_wrong_and_something_where_they_are_right(title: str) -> None:
    for wrong in (True, False):
        given = prepared(program(title, wrong=wrong))
        found = unmap_functions(given, None)
        (_, function) = next((u, f) for u, f in found.program.functions() if f.symbol.name == "main")
        reason = no_port_here(found.program, function, written=given.program)
        assert (reason is not None) == wrong
        assert reason is None or reason.rule == "CLM005"
