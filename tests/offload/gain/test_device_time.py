"""What launches and copies of a port are taken to cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.gain.test_estimate import STEPS, estimate


def test_a_data_region_copies_once(tmp_path: Path) -> None:
    _, held = estimate(STEPS, tmp_path)
    _, each = estimate(STEPS, tmp_path, "fragment")
    assert held.bytes == pytest.approx(4 * 800_000, rel=0.3)
    assert each.bytes == pytest.approx(100 * 3 * 800_000, rel=0.01)
    assert each.device > 3 * held.device


def test_a_reduction_is_two_launches_and_a_scan_three(tmp_path: Path) -> None:
    text = """
double f(int n, const double *x, double *y) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    y[0] = x[0];
    for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i];
    return s;
}
"""
    _, after = estimate(text, tmp_path)
    assert sorted(time.launches for time in after.kernels.values()) == [2.0, 3.0]
    assert after.launches == 5.0 and not any(time.certain for time in after.kernels.values())
