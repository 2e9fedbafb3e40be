"""Estimates of whole programs: how often what runs, and what a port's statements move."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.offload.gain.choose import gather_knowledge
from warpsmith.offload.gain.estimate import GainEstimate, estimate_program
from warpsmith.offload.plan import OffloadOptions, TransferScheme
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

STEPS = """
#include <stdio.h>
#define N 100000
static double u[N], v[N];
static void step(int n, double *restrict to, const double *restrict from) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}
int main(void) {
    int n = N;
    for (int t = 0; t < 50; t++) { step(n, u, v); step(n, v, u); }
    printf("%g", u[3]);
    return 0;
}
"""


def estimate(text: str, tmp_path: Path, scheme: TransferScheme = "optimized") -> tuple[GainEstimate, GainEstimate]:
    """Return the estimates of a program as it is and ported."""
    program, options, poly = load(text, tmp_path), OffloadOptions(transfers=scheme), PolyOptions()
    facts = analyze(program, poly)
    port = plan_port(program, facts, options, poly)
    known = gather_knowledge(facts, options, port.plan.fragments)
    return estimate_program(program, known), estimate_program(port.program, known)


def test_loops_count_through_calls(tmp_path: Path) -> None:
    before, after = estimate(STEPS, tmp_path)
    (inner,) = [time for loop, time in before.loops.items() if loop.span.line == 6]
    assert inner.entries == 100
    assert not inner.certain, "n is a parameter"
    assert 0.9 * before.host < inner.seconds <= before.host
    assert before.device == before.launches == before.start == 0
    assert after.launches == 100 and after.kernels["ws_step_k1"].threads == 100_000


def test_a_data_region_copies_once(tmp_path: Path) -> None:
    _, held = estimate(STEPS, tmp_path)
    _, each = estimate(STEPS, tmp_path, "fragment")
    assert held.bytes == pytest.approx(4 * 800_000, rel=0.3)
    assert each.bytes == pytest.approx(100 * 3 * 800_000, rel=0.01)
    assert each.device > 3 * held.device


def test_more_work_takes_longer_everywhere(tmp_path: Path) -> None:
    small = estimate(STEPS, tmp_path)
    large = estimate(STEPS.replace("100000", "10000000"), tmp_path)
    assert large[0].host > 50 * small[0].host
    assert large[1].device > 10 * small[1].device


def test_an_openmp_loop_is_shared(tmp_path: Path) -> None:
    text = """
    static double a[1000000];
    int main(void) {
        PRAGMA
        for (int i = 0; i < 1000000; i++) a[i] = a[i] * 3 + 1;
        for (int i = 0; i < 10; i++) a[i] = 0;
    }
    """
    alone, _ = estimate(text.replace("PRAGMA", ""), tmp_path)
    shared, _ = estimate(text.replace("PRAGMA", "#pragma omp parallel for"), tmp_path)
    assert 8 < alone.host / shared.host <= 16


def test_an_inner_loop_with_a_large_stride_takes_longer(tmp_path: Path) -> None:
    text = """
    static double a[2000][2000], b[2000];
    int main(void) {
        for (int i = 0; i < 2000; i++)
            for (int j = 0; j < 2000; j++) b[i] += a[ROW][COLUMN];
    }
    """
    rows, _ = estimate(text.replace("ROW", "i").replace("COLUMN", "j"), tmp_path)
    columns, _ = estimate(text.replace("ROW", "j").replace("COLUMN", "i"), tmp_path)
    assert columns.host > 1.5 * rows.host


def test_half_of_each_arm_counts_where_the_condition_is_not_known(tmp_path: Path) -> None:
    text = """
    static double a[100000];
    int main(int argc, char **argv) {
        if (CONDITION) { for (int i = 0; i < 100000; i++) a[i] = i; }
        else { for (int i = 0; i < 100000; i++) a[i] = 2 * i; }
        switch (argc) { case 1: a[0] = 1; break; default: a[1] = 2; }
    }
    """
    unknown, _ = estimate(text.replace("CONDITION", "argc > 1"), tmp_path)
    taken, _ = estimate(text.replace("CONDITION", "1"), tmp_path)
    entries = [time.entries for time in unknown.loops.values()]
    assert entries == [0.5, 0.5]
    assert [time.entries for time in taken.loops.values()] == [1]


def test_a_recursion_is_entered_once_and_a_program_without_main_at_its_roots(tmp_path: Path) -> None:
    text = """
    void down(int n, double *a) { if (n) down(n - 1, a); for (int i = 0; i < 8; i++) a[i] = n; }
    void top(double *a) { down(3, a); }
    """
    before, _ = estimate(text, tmp_path)
    assert [time.entries for time in before.loops.values()] == [1]


def test_an_uncounted_loop_makes_what_is_around_it_uncertain_but_not_what_is_inside(tmp_path: Path) -> None:
    text = """
    static double a[64];
    int main(void) {
        for (int t = 0; t < 3; t++) {
            while (a[0] < 1) {
                for (int i = 0; i < 64; i++) a[i] += 1;
            }
        }
    }
    """
    before, _ = estimate(text, tmp_path)
    certain = {loop.span.line: time.certain for loop, time in before.loops.items()}
    assert certain == {4: False, 5: False, 6: True}
