"""Cycles and threads a second: the figures of a tutorial that Stream KernelAnalyzer gave it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from warpsmith.machine.vliw.throughput import cycles_of, mega_threads


@pytest.mark.parametrize(
    ("bundles", "cycles", "threads"), [(10, 2.50, 4960), (22, 5.50, 2255), (19, 4.75, 2611), (53, 13.25, 936)]
)
def test_the_four_figures_of_a_hd_3870(bundles: int, cycles: float, threads: int) -> None:
    found = cycles_of(bundles, 2, 64, 16)
    assert float(found) == cycles and round(mega_threads(found, 775)) == threads


def test_fetches_bind_where_there_are_many() -> None:
    assert cycles_of(4, 5, 64, 16) == Fraction(5) and cycles_of(0, 0, 64, 16) == 0
    assert mega_threads(Fraction(0), 775) == 0
