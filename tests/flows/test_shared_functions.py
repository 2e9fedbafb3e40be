"""Functions that share loops among the threads that call them (`omp for` in a function): their loops are kernels."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.project.nvcc_stand_in import install
from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions

PROGRAM = """#include <math.h>
#include <stdio.h>
#define N 400
static double a[N], b[N], c[N], total;
static void step(double dt)
{
    int i;
#pragma omp for
    for (i = 1; i < N - 1; i++)
        b[i] = a[i] + dt * (a[i - 1] - 2 * a[i] + a[i + 1]);
#pragma omp for
    for (i = 1; i < N - 1; i++)
        a[i] = b[i];
}
static void norm(void)
{
    int i;
#pragma omp single
    total = 0;
#pragma omp for reduction(+ : total)
    for (i = 0; i < N; i++)
        total += a[i] * a[i];
}
static void advance(int t)
{
    double dt = 0.1 / (t + 1);
    step(dt);
#pragma omp barrier
    norm();
    BOTH
}
int main(void)
{
    int t;
    for (int i = 0; i < N; i++)
        a[i] = sin(i * 0.01);
#pragma omp parallel private(t)
    {
        for (t = 0; t < 12; t++) {
            advance(t);
#pragma omp master
            if (t % 10 == 0)
                printf("%d %.9f\\n", t, total);
#pragma omp barrier
        }
    }
#pragma omp parallel
    {
        step(0.2);
        OTHER
    }
    printf("%.9f %.9f\\n", a[77], c[0]);
    return 0;
}
"""
KERNELS = {"ws_step_k1", "ws_step_k2", "ws_norm_k1"}
# regions that only call, and share loops over several variables of the functions
CALLS = """#include <stdio.h>
#define N 48
static double u[N][N], r[N][N];
static void residual(void)
{
    int i, j;
#pragma omp for
    for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
            r[i][j] = 0.1 * (u[i - 1][j] + u[i + 1][j] - 2 * u[i][j]);
}
static void solve(void)
{
    int i, j;
    for (j = N - 2; j >= 1; j--) {
#pragma omp for
        for (i = 1; i < N - 1; i++)
            r[i][j] -= 0.1 * r[i][j + 1];
    }
}
static void add(void)
{
    int i, j;
#pragma omp for
    for (i = 1; i < N - 1; i++)
        for (j = 1; j < N - 1; j++)
            u[i][j] += r[i][j];
}
static void step(void)
{
#pragma omp parallel
    residual();
#pragma omp parallel
    solve();
#pragma omp parallel
    add();
}
int main(void)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = i + 0.5 * j;
    for (int t = 0; t < 3; t++)
        step();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s += u[i][j] * (i + j);
    printf("%.9g\\n", s);
    return 0;
}
"""


def ported(folder: Path, both: str = "", other: str = "") -> PortResult:
    (folder / "case.c").write_text(PROGRAM.replace("BOTH", both).replace("OTHER", other))
    return port([str(folder / "case.c")], PortOptions())


def in_place(folder: Path) -> tuple[OutputFile, ...]:
    """Return the files of the program with its port in it."""
    (folder / "case.c").write_text(PROGRAM.replace("BOTH", "").replace("OTHER", ""))
    result = port([str(folder / "case.c")], PortOptions(verify=False, root=str(folder)))
    return () if result.in_place is None else result.in_place.files


def text_of(files: tuple[OutputFile, ...]) -> str:
    return next((file.text for file in files if file.path == "case.c"), "")


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "4"])
def test_built_in_place_it_prints_what_it_did(tmp_path: Path, threads: str) -> None:
    """On the device and off it, where the regions have their threads again."""
    files = in_place(tmp_path)
    assert "ws_step_1" in text_of(files)
    for file in files:
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_text(file.text)
    sources = sorted(str(path) for path in (tmp_path / "warpsmith").glob("*.cu"))
    nvcc = install(tmp_path / "bin")
    subprocess.run([nvcc, "-shared", "-Xcompiler", "-fPIC", "-o", "libkernels.so", *sources], cwd=tmp_path, check=True)
    gcc = ["gcc", "-w", "-O1", "-fopenmp", "case.c", "-lm"]
    subprocess.run([*gcc, "-o", "plain"], cwd=tmp_path, check=True)
    subprocess.run([*gcc, "-DWARPSMITH", "libkernels.so", "-o", "ported"], cwd=tmp_path, check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": threads}

    def printed(program: str, **more: str) -> str:
        ran = subprocess.run([f"./{program}"], cwd=tmp_path, check=True, capture_output=True, env=environment | more)
        return ran.stdout.decode()

    plain = printed("plain")
    assert len(plain.splitlines()) == 3
    assert printed("ported") == plain and printed("ported", WARPSMITH_OFF="1") == plain


def kernels(result: PortResult) -> set[str]:
    assert result.ported is not None
    return {kernel.name for kernel in result.ported.program.kernels}


def test_one_thread_calls_them_and_their_loops_are_kernels(tmp_path: Path) -> None:
    result = ported(tmp_path)
    assert result.verification is not None and result.verification.status == "pass"
    assert kernels(result) >= KERNELS
    host = next(file.text for file in result.files if file.path == "case.c")
    assert "omp parallel" not in host and "omp for" not in host and "omp single" not in host


def test_in_place_one_thread_runs_each_region(tmp_path: Path) -> None:
    text = text_of(in_place(tmp_path))
    condition = "WARPSMITH_ONLY(if (!ws_on()))\n"
    assert "#pragma omp parallel private(t) " + condition in text and "#pragma omp parallel " + condition in text
    assert "if (!ws_step_1(dt, a, b)) {" in text and text.count("#pragma omp for\n") == 2


def test_seeded_a_region_that_keeps_its_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.flows.porting.plan._find_alone", lambda *_: [])
    with pytest.raises(AssertionError):
        test_in_place_one_thread_runs_each_region(tmp_path)


def test_where_the_condition_has_no_place_nothing_is_ported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.offload.regions.placed._place", lambda *_: None)
    assert "ws_step_1" not in text_of(in_place(tmp_path))


@pytest.mark.parametrize(("both", "other"), [("c[0] += 1;", ""), ("", "c[0] += 1;")])
def test_threads_stay_where_a_region_or_a_function_needs_them(tmp_path: Path, both: str, other: str) -> None:
    result = ported(tmp_path, both, other)
    assert not kernels(result) & KERNELS
    host = next((file.text for file in result.files if file.path == "case.c"), "#pragma omp parallel private(t)")
    assert "#pragma omp parallel private(t)" in host


@pytest.mark.slow
def test_regions_that_only_call_are_run_by_one_thread(tmp_path: Path) -> None:
    (tmp_path / "calls.c").write_text(CALLS)
    result = port([str(tmp_path / "calls.c")], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert kernels(result) >= {"ws_residual_k1", "ws_solve_k1", "ws_add_k1"}
    assert not [found for found in result.diagnostics if found.rule == "CLM001"], "each thread has its own j"


EVERY = OffloadOptions(demanded=True)

# the loop itself has no kernel: what the threads call has one
TABLES = """
#include <stdio.h>
#include <stdlib.h>
void grow(double *a, int n)
{
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 0.5 + k;
}
void track(double ***x, double *y, int n, int m)
{
    int j, cell;
    for (int f = 1; f < 3; f++) {
OPEN#pragma omp parallel for num_threads(4) private(j)
CLOSE        for (cell = 0; cell < n; cell++) {
            double *r = malloc(m * sizeof(double));
            j = 0;
            while (j < m) { r[j] = x[cell][j][f - 1] + y[cell]; if (r[j] > 1e300) break; j++; }
            grow(r, m);
            j = 0;
            while (j < m) { x[cell][j][f] = r[j]; if (r[j] > 1e300) break; j++; }
            free(r);
        }
    }
}
int main(void)
{
    int n = 8, m = 1000;
    double ***x = malloc(n * sizeof(double **)), *y = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        y[i] = i;
        x[i] = malloc(m * sizeof(double *));
        for (int k = 0; k < m; k++) x[i][k] = calloc(3, sizeof(double));
    }
    track(x, y, n, m);
    printf("%g\\n", x[3][3][2]);
    return 0;
}
"""


@pytest.mark.parametrize("inside", [False, True])
def test_in_place_a_loop_of_threads_that_call_kernels_is_run_by_one(tmp_path: Path, inside: bool) -> None:
    text = TABLES.replace("OPEN", "#ifdef _OPENMP\n" if inside else "").replace("CLOSE", "#endif\n" if inside else "")
    (tmp_path / "case.c").write_text(text)
    result = port([str(tmp_path / "case.c")], PortOptions(verify=False, root=str(tmp_path), offload=EVERY))
    made = text_of(() if result.in_place is None else result.in_place.files)
    lines = [line for line in made.splitlines() if "#pragma omp parallel" in line]
    threads = "#pragma omp parallel for num_threads(4) private(j)"
    assert "ws_grow_1" in made and lines == [f"{threads} WARPSMITH_ONLY(if (!ws_on()))"], made
