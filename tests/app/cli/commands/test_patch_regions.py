"""A parallel region inside a project: the patch stands in front of the user's pragma, and all builds do the same."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.project.nvcc_stand_in import install
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

pytestmark = pytest.mark.slow

CASE = Path(__file__).parents[3] / "cases" / "omp_whole_region.c"
MAKEFILE = """\
CC = gcc
CFLAGS = -O1 -fopenmp
prog: run.o
\t$(CC) $(CFLAGS) -o $@ $^ -lm
%.o: %.c
\t$(CC) $(CFLAGS) -c -o $@ $<
"""


def shell(folder: Path, *command: str, **environment: str) -> str:
    full = {**os.environ, "OMP_NUM_THREADS": "3", **environment}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=full)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(printed: str) -> list[float]:
    return [float(word.rstrip(":")) for word in printed.split()]


def test_the_users_region_stays_and_runs_where_the_device_is_off(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    text = CASE.read_text()
    (folder / "run.c").write_text(text)
    command = ["gcc", "-O1", "-fopenmp", "-c", "-o", "run.o", "run.c"]
    database = tmp_path / "c.json"
    database.write_text(json.dumps([{"directory": str(folder), "file": "run.c", "arguments": command}]))
    patch = tmp_path / "p.patch"
    assert run_guarded(warpsmith, ("port", "-p", str(database), "--patch", str(patch))) == 0
    plain = shell(folder, "make", "-s") + shell(folder, "./prog")

    shell(folder, "git", "apply", "--whitespace=error-all", str(patch))
    changed = (folder / "run.c").read_text()
    users = [line for line in changed.splitlines() if line in text.splitlines()]
    assert [line for line in text.splitlines() if line not in users] == []
    region = changed.index("#pragma omp parallel private(h, i, t, mine)")
    assert changed[:region].endswith("#endif\n")

    assert numbers(shell(folder, "make", "-s", "-B") + shell(folder, "./prog")) == pytest.approx(numbers(plain))
    nvcc = install(tmp_path / "bin")
    shell(folder, "make", "-s", "-B", "WARPSMITH=1", f"NVCC={nvcc}")
    on = {"WARPSMITH_EMULATION_REPORT": str(tmp_path / "report"), "WARPSMITH_EMULATION_SCHEDULE": "1"}
    assert numbers(shell(folder, "./prog", **on)) == pytest.approx(numbers(plain))
    # without a device only the user's own region can run
    none = {"WARPSMITH_EMULATION_MEMORY": "1"}
    gone = subprocess.run(["./prog"], cwd=folder, env={**os.environ, **none}, capture_output=True, check=False)
    assert gone.returncode != 0
    assert numbers(shell(folder, "./prog", WARPSMITH_OFF="1", **none)) == pytest.approx(numbers(plain))


SWAPPING = """\
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
void smooth(int n, int steps, double *in, double *out)
{
    double h = 1.0 / n;
#pragma omp parallel firstprivate(h)
    {
        double *from = in, *to = out;
        int count = 0;
#pragma omp master
        printf("starts\\n");
        do {
            int i;
#pragma omp for
            for (i = 1; i < n - 1; i++)
                to[i] = from[i] + h * (from[i - 1] - 2 * from[i] + from[i + 1]);
            double *other = from;
            from = to;
            to = other;
            count++;
        } while (count < steps);
    }
}
int main(int argc, char **argv)
{
    int n = 200, apart = argc > 1 ? atoi(argv[1]) : n;
    double *a = malloc(2 * n * sizeof *a);
    for (int i = 0; i < 2 * n; i++)
        a[i] = i % 7;
    smooth(n, 9, a, a + apart);
    for (int i = 0; i < 2 * n; i += 7)
        printf("%.17g\\n", a[i]);
    return 0;
}
"""


def test_one_thread_runs_a_region_where_the_device_is_on(tmp_path: Path) -> None:
    """The region stands there once; where the two arrays overlap (a race with several threads), one thread runs it."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "run.c").write_text(SWAPPING)
    command = ["gcc", "-O1", "-fopenmp", "-c", "-o", "run.o", "run.c"]
    database = tmp_path / "c.json"
    database.write_text(json.dumps([{"directory": str(folder), "file": "run.c", "arguments": command}]))
    patch = tmp_path / "p.patch"
    assert run_guarded(warpsmith, ("port", "-p", str(database), "--patch", str(patch), "--all")) == 0
    alone = {"OMP_NUM_THREADS": "1"}
    plain = shell(folder, "make", "-s") + shell(folder, "./prog")
    overlapping = shell(folder, "./prog", "3", **alone)
    assert overlapping != plain

    shell(folder, "git", "apply", "--whitespace=error-all", str(patch))
    changed = (folder / "run.c").read_text()
    assert "#pragma omp parallel firstprivate(h) WARPSMITH_ONLY(if (!ws_on()))\n" in changed
    assert "#pragma omp for\n" in changed and changed.count("to[i] = from[i]") == 1
    assert shell(folder, "make", "-s", "-B") + shell(folder, "./prog") == plain

    nvcc = install(tmp_path / "bin")
    shell(folder, "make", "-s", "-B", "WARPSMITH=1", f"NVCC={nvcc}")
    report = tmp_path / "report"
    on = {"WARPSMITH_EMULATION_REPORT": str(report), "WARPSMITH_EMULATION_SCHEDULE": "1"}
    assert shell(folder, "./prog", **on) == plain
    assert shell(folder, "./prog", "3", **on) == overlapping
    assert shell(folder, "./prog", WARPSMITH_OFF="1") == plain
    assert shell(folder, "./prog", "3", WARPSMITH_OFF="1", **alone) == overlapping
    shell(folder, "git", "apply", "-R", str(patch))
    assert (folder / "run.c").read_text() == SWAPPING
