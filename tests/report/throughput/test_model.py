"""Threads a second follow from the time of a launch."""

from __future__ import annotations

import pytest

from tests.report.throughput.rows import LACKING, REPORT, gpu
from warpsmith.report.throughput.model import ThroughputReport
from warpsmith.targets.llvm.sass import SassCount


def test_figures_are_those_of_the_part_that_decides() -> None:
    found = gpu("h100", SassCount(20, 1)).throughput
    assert found is not None and found.decides == "memory"
    # 4 bytes are read and 4 written of each thread, at nine tenths of 3,350 GB/s
    assert found.mega_threads == pytest.approx(0.9 * 3350e9 / 8 / 1e6)
    # all multiprocessors together: 132 of them, 1,980 MHz, 32 threads a warp
    assert found.cycles == pytest.approx(132 * 1980e6 * 32 / (found.mega_threads * 1e6))
    assert LACKING.throughput is None


def test_how_it_ended() -> None:
    first, _, last = REPORT.rows
    assert [ThroughputReport(rows).exit_code for rows in ((first,), (first, last), (last,))] == [0, 3, 2]
