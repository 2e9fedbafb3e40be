from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.project.copying import fingerprint
from warpsmith.project.profile import instrument as instrumenting
from warpsmith.project.profile.loop_text import LoopText
from warpsmith.project.profile.model import LoopProfile, Profile
from warpsmith.project.profile.run import RunRequest, profile_run

PROGRAM = r"""#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf env;
static int a[64];
static void thrower(int k) {
    for (int i = 0; i < 10; i++)
        if (i == k) longjmp(env, 1);
}
static int find(int x) {
    for (int i = 0; i < 64; i++)
        if (a[i] == x)
            return i;
    return -1;
}
#define EACH(v, n) for (int v = 0; v < n; v++)
#define TWICE(x) ((x) * 2)
int main(int argc, char **argv) {
    int s = 0, n = 10;
    for (int i = 0; i < 64; i++)
        a[i] = TWICE(i);
    for (int k = 0; k < 5; k++)
        s += find(20 * k);
    do
        n -= 3;
    while (n > 0);
    while (n < 4) {
        n++;
        if (n == 2)
            continue;
        s += n;
    }
    for (int i = 0, j = 9; i < j; i++, j--) {
        if (i == 3)
            goto done;
    }
done:
    EACH(q, 7) s += q;
    if (!setjmp(env))
        thrower(4);
    if (s > 0) for (int i = 0; i < 2; i++) if (s & 1) s++; else s += 3; else s = 0;
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < i; j++)
            s++;
    for (int i = 5; i < 5; i++)
        s = 0;
    printf("%d %d\n", s, __LINE__);
    for (int t = 0; t < 100; t++) {
        find(t);
        if (t == 8)
            exit(argc > 5);
    }
    return 0;
}
"""
# line: (entries, iterations), counted by hand
COUNTS = {
    7: (1, 5), 11: (14, 376), 20: (1, 64), 22: (1, 5), 24: (1, 4), 27: (1, 6), 33: (1, 4), 41: (1, 2), 42: (1, 30),
    43: (30, 435), 45: (1, 0), 48: (1, 9),
}  # fmt: skip

SHARED = r"""#include <stdio.h>
#define N 40
static int size(void) { return N; }
int main(void) {
    static double a[N][N];
    double s = 0;
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j += 3)
            a[i][j] = i + j;
#pragma omp parallel for collapse(2) reduction(+ : s)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            s += a[i][j];
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = N - 1; i > 0; i -= 2)
            a[i][0] = s;
#pragma omp single
        for (int k = 0; k < 5; k++)
            a[0][k] += k;
#pragma omp for
        for (int i = 0; i < size(); i++)
            a[1][i] = i;
    }
    printf("%g\n", s);
    return 0;
}
"""
SHARED_COUNTS = {10: (1, 40), 11: (40, 287), 14: (1, 40), 20: (1, 20), 23: (1, 5), 26: (1, 40)}


def project(folder: Path, text: str, name: str = "p.c") -> Path:
    root = folder / "project"
    root.mkdir()
    (root / name).write_text(text)
    return root


def profiled(root: Path, flags: str = "-O1", run: str = "./p") -> Profile:
    return profile_run(RunRequest(root, root, ("sh", "-c", f"gcc {flags} *.c -o p"), run))


def counts(profile: Profile) -> dict[int, tuple[int, int]]:
    return {line: (loop.entries, loop.iterations) for (_, line), loop in profile.loops.items()}


def test_counts_are_those_of_the_hand(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, PROGRAM)
    before = fingerprint(root)
    found = profiled(root, "-O2 -Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-dangling-else -Werror -pedantic")
    assert counts(found) == COUNTS
    printed = capfd.readouterr().err
    # the user's tree and the program's output are as they were
    assert fingerprint(root) == before
    subprocess.run(["gcc", "-w", "p.c", "-o", str(tmp_path / "plain")], check=True, cwd=root)
    assert subprocess.run([str(tmp_path / "plain")], capture_output=True, text=True, check=False).stdout == printed
    assert all(0 <= loop.seconds <= found.total_seconds for loop in found.loops.values())


def test_loops_that_threads_share(tmp_path: Path) -> None:
    found = profiled(project(tmp_path, SHARED), "-O1 -fopenmp", "OMP_NUM_THREADS=3 ./p")
    assert counts(found) == SHARED_COUNTS
    assert [(loop.line, "collapsed" in loop.reason) for loop in found.uncounted] == [(15, True)]


def gcov(folder: Path, text: str) -> dict[int, int]:
    """Return how often each line ran, by the compiler's own counters."""
    (folder / "g.c").write_text(text)
    subprocess.run(["gcc", "-O0", "-w", "--coverage", "g.c", "-o", "g"], check=True, cwd=folder)
    subprocess.run(["./g"], check=False, cwd=folder, capture_output=True)
    (note,) = folder.glob("*.gcda")
    subprocess.run(["gcov", note.name], check=True, cwd=folder, capture_output=True)
    listed = (re.match(r"\s*(\d+)\*?:\s*(\d+):", line) for line in (folder / "g.c.gcov").read_text().splitlines())
    return {int(found[2]): int(found[1]) for found in listed if found}


def against_gcov(found: Profile, lines: dict[int, int]) -> list[int]:
    """Return the loops whose iterations are not what the first line of their body says."""
    bodies = {11: 12, 20: 21, 22: 23, 24: 25, 27: 28, 33: 34, 43: 44}
    return [n for n, body in bodies.items() if counts(found)[n][1] != lines.get(body, 0)]


def test_counts_are_those_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = gcov(tmp_path, PROGRAM)
    root = project(tmp_path, PROGRAM)
    assert against_gcov(profiled(root), lines) == []
    # and the comparison notices a counter that is wrong
    edits = instrumenting._edits

    def wrong(text: str, loop: LoopText, way: object, number: int) -> list[object]:
        made: list[object] = []
        for edit in edits(text, loop, way, number):  # type: ignore[arg-type]
            bad = edit.text.startswith("{++ws_s1.")
            made.append(replace(edit, text="{") if bad else edit)
        return made

    monkeypatch.setattr(instrumenting, "_edits", wrong)
    assert against_gcov(profiled(root), lines) == [11]


def test_a_killed_program_leaves_its_counts(tmp_path: Path) -> None:
    loops = " for (int i = 0; i < 9; i++)\n  for (int j = 0; j < 4; j++)\n   if (i == 6) abort();\n"
    text = f"#include <stdlib.h>\nint main(void) {{\n{loops}}}\n"
    found = profiled(project(tmp_path, text))
    assert found.status != 0 and counts(found)[4] == (7, 24)


def test_a_failed_build_changes_nothing_and_says_why(tmp_path: Path) -> None:
    root = project(tmp_path, "int main(void) { for (;;) undeclared(); return nothing; }\n")
    before = fingerprint(root)
    with pytest.raises(UsageError, match="failed") as caught:
        profiled(root)
    assert "nothing" in str(caught.value) and "ws_" not in str(caught.value).split("lines:")[1].splitlines()[1]
    assert fingerprint(root) == before


def test_a_build_that_writes_to_the_users_files_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path, PROGRAM)
    build = (
        "sh",
        "-c",
        f"gcc -w p.c -o p; d=$(printf '%s' {str(root)[:4]}; printf '%s' {str(root)[4:]}); touch $d/new",
    )
    with pytest.raises(UsageError, match="has written below"):
        profile_run(RunRequest(root, root, build, "./p"))


def test_what_runs_nothing_of_the_project_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ran no loop"):
        profiled(project(tmp_path, PROGRAM), run="true")
    with pytest.raises(UsageError, match="could not be started"):
        profile_run(RunRequest(tmp_path / "project", tmp_path / "project", ("true",), "./nothing"))


def test_too_large_a_project_is_not_copied(tmp_path: Path) -> None:
    root = project(tmp_path, PROGRAM)
    with pytest.raises(UsageError, match="the most that is copied"):
        profile_run(RunRequest(root, root, ("true",), "./p", most_bytes=100))


def test_loops_of_one_line_are_told_apart(tmp_path: Path) -> None:
    text = "int main(void) {\n for (int i = 0; i < 3; i++) for (volatile int j = 0; j < 5; j++) ;\n return 0; }\n"
    root = project(tmp_path, text)
    found = profiled(root)
    outer, inner = (found.at(str(root / "p.c"), 2, column) for column in (2, 30))
    assert isinstance(outer, LoopProfile) and (outer.entries, outer.iterations) == (1, 3)
    assert isinstance(inner, LoopProfile) and (inner.entries, inner.iterations) == (3, 15)
