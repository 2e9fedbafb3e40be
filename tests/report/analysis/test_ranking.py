"""Kernels of several files, those first that lose most."""

from __future__ import annotations

import pytest

from tests.report.analysis.samples import access, kernel, report, reported
from warpsmith.analysis.uniformity.facts import Count
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.analysis.ranking import rank_kernels, ranking_lines


def two(**changes: object) -> AnalysisReport:
    """Return a report of two files with a kernel each."""
    kernels = (kernel("a", 1, input="one.cu"), kernel("b", 2, input="two.cu"))
    return report(**{"kernels": kernels, "findings": (), **changes})


def test_the_costliest_comes_first() -> None:
    few = access(kernel="a", input="one.cu", sectors=Count(8, 8))
    many = access(kernel="b", input="two.cu", sectors=Count(32, 32))
    ranked = rank_kernels(two(accesses=(few, many)))
    assert [(loss.kernel.name, loss.sectors) for loss in ranked] == [("b", 28), ("a", 4)]
    lines = ranking_lines(two(accesses=(few, many)))
    assert "b (two.cu): 28 sectors beyond need" in lines[1] and "a (one.cu)" in lines[2]


def test_an_access_in_a_loop_counts_more() -> None:
    few = access(kernel="a", input="one.cu", sectors=Count(8, 8), depth=1)
    many = access(kernel="b", input="two.cu", sectors=Count(32, 32))
    assert [loss.kernel.name for loss in rank_kernels(two(accesses=(few, many)))] == ["a", "b"]


@pytest.mark.parametrize(
    ("ways", "passes"),
    [(Count(8, 8), 7.0), (Count(1, 8), 0.0), (None, 0.0)],
)
def test_banks_and_branches_count_too(ways: Count | None, passes: float) -> None:
    shared = access(kernel="a", input="one.cu", space="shared", sectors=None, bank_ways=ways)
    branch = reported("DIV001", 5, kernel="b")
    found = rank_kernels(two(accesses=(shared,), findings=(branch,)))
    assert sum(loss.passes for loss in found) == passes
    assert not any(loss.slots for loss in found)  # the branch is of no kernel of these files


def test_one_file_needs_no_ranking() -> None:
    assert ranking_lines(report()) == []
    same = two(kernels=(kernel("a", 1, input="one.cu"), kernel("a", 1, input="two.cu")))
    assert ranking_lines(same) == []


def test_a_kernel_of_an_included_file_is_there_once() -> None:
    wide = [access(kernel="a", input=path, sectors=Count(32, 32)) for path in ("one.cu", "two.cu")]
    made = two(kernels=(kernel("a", 1, input="one.cu"), kernel("a", 1, input="two.cu")), accesses=tuple(wide))
    assert len(rank_kernels(made)) == 1
