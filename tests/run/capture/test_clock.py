"""Clocks that can be bent: whatever a program asks, time passes as the referee wants it."""

from __future__ import annotations

import os
import subprocess
from importlib import resources
from pathlib import Path

PROGRAM = r"""
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <omp.h>

#define SHOW(kind, ask, now) { kind x; ask; double first = now; ask; printf("%.2f ", now - first); }

int main(void)
{
    SHOW(time_t, x = time(0), (double)x)
    SHOW(clock_t, x = clock(), (double)x / CLOCKS_PER_SEC)
    SHOW(struct timeval, gettimeofday(&x, 0), x.tv_sec + 1e-6 * x.tv_usec)
    SHOW(struct timespec, clock_gettime(CLOCK_MONOTONIC, &x), x.tv_sec + 1e-9 * x.tv_nsec)
    SHOW(struct timespec, timespec_get(&x, TIME_UTC), x.tv_sec + 1e-9 * x.tv_nsec)
    SHOW(struct rusage, getrusage(RUSAGE_SELF, &x), x.ru_utime.tv_sec + 1e-6 * x.ru_utime.tv_usec)
    SHOW(struct tms, times(&x), x.tms_utime / 100.0)
    SHOW(double, x = omp_get_wtime(), x)
    return 0;
}
"""


def test_every_clock_is_bent(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    runtime = resources.files("warpsmith.run") / "capture" / "ws_clock.c"
    subprocess.run(["gcc", "-w", "-fopenmp", "p.c", str(runtime), "-o", "p"], cwd=tmp_path, check=True)

    def passed(**environment: str) -> list[float]:
        found = subprocess.run(
            ["./p"], cwd=tmp_path, env={**os.environ, **environment}, check=True, capture_output=True, text=True
        )
        return [float(word) for word in found.stdout.split()]

    assert all(0 <= seconds < 1.1 for seconds in passed())
    assert all(1 <= seconds < 2.5 for seconds in passed(WS_CLOCK="1"))
