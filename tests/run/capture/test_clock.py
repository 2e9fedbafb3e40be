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
OF_DAY = (0, 2, 4)  # which of these ask for the time of day


def passed(folder: Path, program: str, **environment: str) -> list[float]:
    (folder / "p.c").write_text(program)
    runtime = resources.files("warpsmith.run") / "capture" / "ws_clock.c"
    subprocess.run(["gcc", "-w", "-fopenmp", "p.c", str(runtime), "-o", "p"], cwd=folder, check=True)
    found = subprocess.run(
        ["./p"], cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    return [float(word) for word in found.stdout.split()]


def test_every_clock_is_bent(tmp_path: Path) -> None:
    assert all(0 <= seconds < 1.1 for seconds in passed(tmp_path, PROGRAM))
    assert all(1 <= seconds < 2.5 for seconds in passed(tmp_path, PROGRAM, WS_CLOCK="1"))


def test_the_time_of_day_may_stay_while_other_clocks_are_bent(tmp_path: Path) -> None:
    found = passed(tmp_path, PROGRAM, WS_CLOCK="1", WS_EPOCH="1000", WS_DAY="1")
    assert all(seconds < 0.5 for k, seconds in enumerate(found) if k in OF_DAY)
    assert all(1 <= seconds < 2.5 for k, seconds in enumerate(found) if k not in OF_DAY)


COUNTED = r"""
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    struct timeval now;
    usleep(100000);
    for (int k = 0; k < 63; k++)
        printf("%d ", (int)time(0));
    gettimeofday(&now, 0);
    printf("%d %d ", (int)now.tv_sec, (int)now.tv_usec);
    usleep(1100000);
    printf("%d", (int)time(0));
    return 0;
}
"""


def test_the_time_of_day_is_a_count_of_questions(tmp_path: Path) -> None:
    found = passed(tmp_path, COUNTED, WS_EPOCH="1000")
    assert found == [1000] * 63 + [1000, 984375, 1001]
