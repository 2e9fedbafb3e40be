"""Estimates of whole programs: how often what runs, and what a port's statements move."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.machine.devices import load_host
from warpsmith.offload.gain.choose import gather_knowledge
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions, TransferScheme
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


def test_more_work_takes_longer_everywhere(tmp_path: Path) -> None:
    small = estimate(STEPS, tmp_path)
    large = estimate(STEPS.replace("100000", "10000000"), tmp_path)
    assert large[0].host > 50 * small[0].host
    assert large[1].device > 10 * small[1].device


def test_an_openmp_loop_is_shared(tmp_path: Path) -> None:
    text = """
    #define THREADS
    static double a[10000000];
    int main(void) {
#ifdef THREADS
        PRAGMA
#endif
        for (int i = 0; i < 10000000; i++) a[i] = a[i] * 3 + 1;
        for (int i = 0; i < 10; i++) a[i] = 0;
    }
    """
    alone, _ = estimate(text.replace("PRAGMA", ""), tmp_path)
    shared, _ = estimate(text.replace("PRAGMA", "#pragma omp parallel for"), tmp_path)
    assert 8 < alone.host / shared.host <= 16
    assert [time.threads for time in shared.loops.values()] == [16, 1]


def test_a_team_of_threads_is_started_each_time(tmp_path: Path) -> None:
    text = """
    static double a[100];
    int main(void) {
        for (int t = 0; t < 1000; t++) {
            PRAGMA
            for (int i = 0; i < 100; i++) a[i] = a[i] * 3 + 1;
        }
    }
    """
    alone, _ = estimate(text.replace("PRAGMA", ""), tmp_path)
    shared, _ = estimate(text.replace("PRAGMA", "#pragma omp parallel for"), tmp_path)
    assert shared.host - alone.host == pytest.approx(1000 * load_host().team_ps * 1e-12, rel=0.1)


@pytest.mark.parametrize("counted", [False, True])
def test_a_loop_that_prints_takes_longer_where_it_is_known_to_run(tmp_path: Path, counted: bool) -> None:
    text = """
    #include <stdio.h>
    #include <math.h>
    int main(void) {
        for (int i = 0; i < 1000; i++) CALL;
    }
    """
    counts = {("another.c", 1, 1): LoopCount(1, 1)} if counted else {}
    options, times = OffloadOptions(gain=GainOptions(counts=counts)), []
    for call in ('printf("%d", i)', "floor(i)"):
        program = load(text.replace("CALL", call), tmp_path)
        times.append(estimate_program(program, gather_knowledge(analyze(program, PolyOptions()), options)).host)
    assert times[0] > (5 if counted else 0.5) * times[1]
    assert times[0] < (10 if counted else 2) * times[1]


def test_a_loop_that_was_not_counted_runs_as_often_as_one_in_it(tmp_path: Path) -> None:
    text = """double a[9];
    int main(int n, char **v) {
    for (int t = 0; t < n; t++)
    for (int i = 0; i < 9; i++) a[i] += 1;
    }
    """
    program = load(text, tmp_path)
    inner = (str((tmp_path / "input.c").resolve()), 4, 5)
    options = OffloadOptions(gain=GainOptions(counts={inner: LoopCount(7, 63)}))
    found = estimate_program(program, gather_knowledge(analyze(program, PolyOptions()), options))
    assert {loop.span.line: time.entries for loop, time in found.loops.items()} == {3: 1, 4: 7}


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
