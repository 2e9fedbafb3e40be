"""What launches and copies of a port are taken to cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.gain.test_estimate import STEPS, estimate
from tests.offload.hand import load
from warpsmith.offload.gain.choose import gather_knowledge
from warpsmith.offload.gain.device_time import list_moves
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.gain.model import CopyWindow, GainEstimate
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions


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


BESIDE = """
static double a[4000000], b[4000000], c[4000000];
double work(int n);
double f(int n) {
    for (int i = 0; i < 4000000; i++) a[i] = a[i] * 0.5 + 1;
    for (int i = 0; i < 4000000; i++) b[i] = b[i] * 0.5 + a[i];
    for (int i = 0; i < 4000000; i++) c[i] = c[i] * 0.5 + b[i];
    return a[3] + b[3] + c[3];
}
"""


def test_what_passes_beside_kernels_costs_nothing(tmp_path: Path) -> None:
    program, poly = load(BESIDE, tmp_path), PolyOptions()
    facts = analyze(program, poly)
    found: list[GainEstimate] = []
    for overlap in (False, True):
        options = OffloadOptions(pinned=overlap, overlap=overlap)
        port = plan_port(program, facts, options, poly)
        known = gather_knowledge(facts, options, port.plan.fragments)
        found.append(estimate_program(port.program, known))
    plain, beside = found
    assert (plain.hidden, plain.windows) == (0.0, [])
    assert len(beside.windows) == 4 and all(one.end > one.start for one in beside.windows)
    assert 0 < beside.hidden <= 2 * sum(time.seconds for time in beside.kernels.values())
    assert beside.device == pytest.approx(plain.device - beside.hidden)
    longest = max(beside.kernels.values(), key=lambda time: time.seconds)
    assert beside.device >= sum(time.seconds for time in beside.kernels.values()) >= longest.seconds


def test_windows_are_said_in_seconds_of_kernels() -> None:
    found = GainEstimate(log=[("k", 2.0, 0.5), ("l", 1.0, 0.25)])
    found.windows = [CopyWindow(True, 1e9, 3.0, 0, 1), CopyWindow(False, 1e9, 1.0, 1, 2)]
    first, second = list_moves(found, [0.5, 0.25], lambda moved, times: moved * 1e-9 + times)
    assert (first.to_device, first.start, first.end, first.seconds) == (True, 0.0, 0.5, 6.0)
    assert (second.to_device, second.start, second.end, second.seconds) == (False, 0.5, 0.75, 2.0)
