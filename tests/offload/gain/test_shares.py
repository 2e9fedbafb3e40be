"""Where a program spends its time today: with counts or sizes, and with the threads of its OpenMP loops."""

from __future__ import annotations

from pathlib import Path

from tests.offload.hand import load
from warpsmith.machine.devices import load_host
from warpsmith.offload.gain.shares import time_loops
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

TEXT = """
static double a[100000];
void f(int n, int m) {
    PRAGMA
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + 1;
    for (int i = 1; i < m; i++) a[i] = a[i - 1] * 3 + a[i];
}
"""


def test_nothing_is_said_where_nothing_is_known(tmp_path: Path) -> None:
    facts = analyze(load(TEXT.replace("PRAGMA", ""), tmp_path), PolyOptions())
    assert time_loops(facts, OffloadOptions()) is None
    assert time_loops(facts, OffloadOptions(gain=GainOptions())) is None


def test_sizes_and_counts_tell_the_share_of_each_loop(tmp_path: Path) -> None:
    facts = analyze(load(TEXT.replace("PRAGMA", ""), tmp_path), PolyOptions())
    given = time_loops(facts, OffloadOptions(sizes={"n": 100_000, "m": 10}))
    path = str((tmp_path / "input.c").resolve())
    counts = {(path, 5, 5): LoopCount(1, 10), (path, 6, 5): LoopCount(1, 100_000)}
    counted = time_loops(facts, OffloadOptions(gain=GainOptions(counts=counts)))
    assert given is not None and counted is not None
    shares = [{place.line: own / found.total for place, own in found.own.items()} for found in (given, counted)]
    assert shares[0][5] > 0.99 and shares[1][6] > 0.99
    assert all(abs(sum(found.values()) - 1) < 0.01 for found in shares)
    assert (given.known, counted.known, given.threads) == ("sizes", "counts", 1)


def test_an_openmp_loop_has_the_time_of_the_hosts_threads(tmp_path: Path) -> None:
    sizes = OffloadOptions(sizes={"n": 10_000_000, "m": 10_000_000})
    found = []
    for pragma in ("", "#pragma omp parallel for"):
        facts = analyze(load(TEXT.replace("PRAGMA", pragma), tmp_path), PolyOptions())
        times = time_loops(facts, sizes)
        assert times is not None
        found.append((times.threads, {place.line: own for place, own in times.own.items()}))
    (_, alone), (threads, shared) = found
    assert threads == load_host().cores == 16
    assert 8 < alone[5] / shared[5] <= 16 and alone[6] == shared[6]
