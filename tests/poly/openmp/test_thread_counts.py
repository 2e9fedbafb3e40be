"""How many threads a region has at most, as the program asks for them."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.thread_counts import ThreadCount
from warpsmith.tree.nodes import For
from warpsmith.tree.walk import loops

_HEAD = "extern int omp_get_max_threads(void); extern void omp_set_num_threads(int); static int wanted; void g(void);\n"
_SUM = "for (int t = 0; t < %s; t++) a[t] = 0;"


def bounded(before: str, clause: str, bound: str, more: str = "") -> bool:
    closed = "}" * (before.count("{") - before.count("}"))
    body = f"{before}\n#pragma omp parallel {clause}\n{{ }}\n{closed}\n{_SUM % bound}"
    text = f"{_HEAD}{more}\nvoid f(int n, int *restrict a)\n{{\n{body}\n}}"
    program = program_of(text)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    (region,) = regions_of(function)
    *_, loop = (loop for loop, _ in loops(function.body))
    assert isinstance(loop, For)
    return ThreadCount(Facts.about(program, PolyOptions()), function).is_at_most(region, loop.bound)


@pytest.mark.parametrize(
    ("before", "clause", "bound"),
    [
        ("", "num_threads(4)", "4"),
        ("", "num_threads(4)", "8"),
        ("", "num_threads(n)", "n"),
        ("int k = n;", "num_threads(n)", "k"),
        ("omp_set_num_threads(4);", "", "4"),
        ("int k = wanted; omp_set_num_threads(wanted);", "", "k"),
        ("int k; k = omp_get_max_threads();", "", "k"),
    ],
)
def test_a_number_that_was_asked_for(before: str, clause: str, bound: str) -> None:
    assert bounded(before, clause, bound)


@pytest.mark.parametrize(
    ("before", "clause", "bound", "more"),
    [
        ("", "", "4", ""),
        ("", "num_threads(4)", "3", ""),
        ("", "num_threads(n)", "n - 1", ""),
        ("int k = n; k = 2;", "num_threads(n)", "k", ""),
        ("n = n + 1;", "num_threads(n)", "n", ""),
        ("int k; for (int r = 4; r > 0; r--) { k = r;", "num_threads(k)", "k", ""),
        ("if (n > 2) omp_set_num_threads(4);", "", "4", ""),
        ("omp_set_num_threads(4);", "", "4", "void h(void) { omp_set_num_threads(9); }"),
        ("int k = wanted; wanted = 9; omp_set_num_threads(wanted);", "", "k", ""),
        ("int k = wanted; g(); omp_set_num_threads(wanted);", "", "k", ""),
        ("int k = omp_get_max_threads(); omp_set_num_threads(9);", "", "k", ""),
        ("int k = omp_get_max_threads();", "num_threads(9)", "k", ""),
    ],
)
def test_a_number_that_may_be_too_small(before: str, clause: str, bound: str, more: str) -> None:
    assert not bounded(before, clause, bound, more)
