"""Runs that watch: pointers, conditions, threads, C++, a run that takes too long; the program does what it does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.project.profile.run import RunRequest
from warpsmith.project.profile.watch import AssumptionWatch, WatchedPlace
from warpsmith.project.profile.watched_run import WatchedRun, watch_run

PROGRAM = """#include <stdio.h>
static double memory[100];
static int fib(int n, int *p) {
    int s = 0;
    for (int i = 0; i < 2; i++) s += p[i] + (n > 1 ? fib(n - 1, p) : 0);
    return s;
}
static void shift(int n, double *x, double *y) {
    for (int i = 0; i < n; i++) x[i] = y[i] + 1;
}
int main(int argc, char **argv) {
    int p[2] = {1, 2};
    FILE *out = fopen("result.txt", "w");
    for (int k = 0; k < 10; k++) shift(k, memory, memory + 8);
    shift(0, memory, memory);
    fprintf(out, "%d %g\\n", fib(3, p), memory[3]);
    fclose(out);
    if (argc > 1) for (;;) memory[0]++;
    return 0;
}
"""


def spots(text: str, *places: tuple[str, int]) -> tuple[WatchedPlace, ...]:
    return tuple(WatchedPlace(text.index(p), text.index(p) + len(p), side) for p, side in places)


def watch(
    folder: Path, text: str, watches: list[AssumptionWatch], build: str, run: str, *, seconds: float = 60
) -> WatchedRun:
    root = folder / "project"
    root.mkdir(exist_ok=True)
    name = Path(watches[0].file).name
    (root / name).write_text(text)
    before = sorted(root.iterdir())
    keep = f"{run}; cp result.txt {folder}/result.txt"
    found = watch_run(RunRequest(root, root, ("sh", "-c", build), keep, timeout_s=seconds), watches)
    assert sorted(root.iterdir()) == before and (root / name).read_text() == text
    return found


def plain(folder: Path, name: str, compiler: str) -> str:
    """Return what the program writes that watches nothing."""
    subprocess.run([compiler, "-w", str(folder / "project" / name), "-o", str(folder / "plain")], check=True)
    subprocess.run(["./plain"], cwd=folder, check=True)
    return (folder / "result.txt").read_text()


def places(folder: Path, name: str, text: str) -> list[AssumptionWatch]:
    file = str(folder / "project" / name)
    at = text.index("for (int i = 0; i < n; i++) x[i]")
    ranges = AssumptionWatch("ranges", file, at, "noalias(x, y)", spots(text, ("x[i]", 0), ("y[i]", 1)))
    odd = AssumptionWatch("condition", file, at, "n != 9")
    inner = text.index("for (int i = 0; i < 2")
    return [ranges, odd, AssumptionWatch("values", file, inner, "injective(p)", spots(text, ("p[i]", 0)))]


@pytest.mark.parametrize(("name", "compiler"), [("p.c", "gcc"), pytest.param("p.cpp", "g++", marks=pytest.mark.slow)])
def test_ranges_conditions_and_recursion(name: str, compiler: str, tmp_path: Path) -> None:
    run = watch(tmp_path, PROGRAM, places(tmp_path, name, PROGRAM), f"{compiler} -O1 {name} -o p", "./p")
    written = (tmp_path / "result.txt").read_text()
    assert run.ended and written == plain(tmp_path, name, compiler)
    ranges, odd, values = (one for one in run.seen if one is not None)
    # the tenth call, of nine elements, is the first that reaches element 8; it reads it in iteration 0, writes it in 8
    assert (ranges.executions, ranges.seen) == (11, 2 * 45)
    assert (ranges.violated, ranges.first, ranges.second, ranges.value, ranges.execution) == (1, 0, 8, 64, 10)
    assert (odd.seen, odd.violated, odd.execution) == (11, 1, 9), "it is tested before the loop is entered"
    assert values.executions == 1 and values.seen == 2 and values.lost > 0, "a loop inside itself is not looked at"


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended_and_counts(tmp_path: Path) -> None:
    run = watch(tmp_path, PROGRAM, places(tmp_path, "p.c", PROGRAM), "gcc -O1 p.c -o p", "./p forever", seconds=4)
    assert not run.ended
    assert run.seen[0] is not None and run.seen[0].executions == 11


def test_files_elsewhere_are_not_watched(tmp_path: Path) -> None:
    (one, *_) = places(tmp_path, "p.c", PROGRAM)
    elsewhere = AssumptionWatch(one.kind, "/usr/include/stdio.h", 0, one.text, one.spots)
    run = watch(tmp_path, PROGRAM, [one, elsewhere], "gcc -O1 p.c -o p", "./p")
    assert run.seen[0] is not None and run.seen[1] is None


def test_a_build_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="failed"):
        watch(tmp_path, PROGRAM, places(tmp_path, "p.c", PROGRAM), "false", "./p")


THREADS = """#include <stdio.h>
int main(void) {
    static int p[4000]; static double b[4000];
    for (int i = 0; i < 4000; i++) p[i] = 3999 - i;
    p[3000] = p[5];
#pragma omp parallel for
    for (int n = 0; n < 4000; n++) b[p[n]] = n;
    FILE *out = fopen("result.txt", "w");
    fprintf(out, "%g\\n", b[0]);
    return 0;
}
"""


def test_iterations_come_in_order_where_threads_share_the_loop(tmp_path: Path) -> None:
    file = str(tmp_path / "project/p.c")
    one = AssumptionWatch("values", file, THREADS.index("for (int n"), "injective(p)", spots(THREADS, ("p[n]", 0)))
    run = watch(tmp_path, THREADS, [one], "gcc -fopenmp p.c -o p", "./p")
    (seen,) = run.seen
    assert seen is not None and (seen.seen, seen.first, seen.second, seen.value) == (4000, 5, 3000, 3994)
