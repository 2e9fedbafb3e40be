"""Accesses on their way through loops: sectors by level, and what is touched meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.counts.touched.walks import look_at
from warpsmith.analysis.counts.tallies import SECTORS
from warpsmith.analysis.counts.touched.order import order_of
from warpsmith.analysis.counts.touched.sweeps import LoopTrips, sweeps_of
from warpsmith.machine.time.work import Sweep

HEAD = "__global__ void k(float *a, const float *b, int n) { int x = threadIdx.x; float s = 0;\n"


def _sweeps(text: str, folder: Path, n: int = 40) -> tuple[list[Sweep], LoopTrips]:
    """Return the ways of loads, and how often loops go around, for one block."""
    found = look_at(HEAD + text + "}", folder, (32, 1, 1), (1, 1, 1), n)
    sums = found.walked.tallies.added(found.threads.weights(found.walked.unsteady))
    trips = LoopTrips.of(*found.owner, sums)
    every = (*found.loads, *found.stores)
    about = {i: (1.0, float(sums.requests[i][SECTORS, 0])) for i in every}
    sweeps = sweeps_of(about, order_of(found.owner, every, found.walked.writer), found.walked.writer, trips)
    return [sweeps[i] for i in found.loads], trips


def test_levels_of_a_row_in_two_loops(tmp_path: Path) -> None:
    text = "for (int i = 0; i < 10; i++) for (int k = 0; k < n; k++) s += b[k * 32 + x]; a[x] = s;"
    (sweep,), trips = _sweeps(text, tmp_path)
    assert sweep.sectors == (4, 160, 160) and sweep.times == (40, 10)
    assert sorted(trips.trips.values()) == [10, 40]
    # one line an iteration, 40 in all of them; the store is outside
    assert sweep.held[:2] == (1, 40) and sweep.lines == 1


def test_an_element_an_iteration_grows_by_sectors(tmp_path: Path) -> None:
    (sweep,), _ = _sweeps("for (int k = 0; k < n; k++) s += b[x * 64 + k]; a[x] = s;", tmp_path)
    assert sweep.sectors == (32, 160) and sweep.times == (40,) and sweep.held[0] == 32


def test_loops_that_are_gone_through_one_by_one_are_a_level(tmp_path: Path) -> None:
    text = "for (int i = 1; i < n; i *= 2) for (int k = 0; k < 5; k++) s += b[(i + k) * 32 + x]; a[x] = s;"
    (sweep,), _ = _sweeps(text, tmp_path, 33)
    # 1, 2, 4, 8, 16, 32, and four more of each: rows 1 to 12, 16 to 20 and 32 to 36
    assert sweep.sectors[0] == 4 and sweep.times == (5, 6) and sweep.sectors[-1] == 22 * 4


def test_what_others_touch_meanwhile_is_held(tmp_path: Path) -> None:
    text = "for (int k = 0; k < n; k++) a[k * 32 + x] = b[k * 32 + x] + b[(n + k) * 32 + x];"
    sweeps, _ = _sweeps(text, tmp_path)
    # two lines are loaded an iteration; the second cache gets what is stored as well
    assert [(one.held[0], one.together[0]) for one in sweeps] == [(2, 3), (2, 3)]


def test_lanes_that_leave_early_repeat_less(tmp_path: Path) -> None:
    (sweep,), _ = _sweeps("for (int k = 0; k < x; k++) s += b[k * 32 + x]; a[x] = s;", tmp_path)
    assert sweep.sectors[0] * sweep.times[0] == pytest.approx(sweep.sectors[0] * 31, rel=0.5)
    assert sweep.sectors[-1] <= sweep.sectors[0] * sweep.times[0] + 1
