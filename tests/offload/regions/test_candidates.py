"""Which statements are worth a data region: loops that come to kernels, and stages that share memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import shown, straight

OTHER = "static double A[64], B[64]; static void make(void) { for (int i = 0; i < 64; i++) A[i] = i; }\n"


def frames(body: str, folder: Path, other: str = "") -> list[str]:
    """Return where data regions begin and end in the function."""
    return [one for one in shown(straight(body, folder, other=other)) if one.endswith((": begin", ": end"))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # one stage shares its memory with nobody
        ("step(u, v, n);", []),
        ("step(u, v, n);\nputs(\"b\"); step(v, u, n);", ["before step: begin", "after step: end"]),
        ("double *w = malloc(400), *x = malloc(400); step(u, v, n); step(w, x, n);", []),
        ("double w[50]; step(u, v, n); step(w, w, n);", []),
        # static storage that two functions name
        ("make(); k = 2; make();", ["before make: begin", "after make: end"]),
        ("for (int t = 0; t < 9; t++) step(u, v, n);", ["before for: begin", "after for: end"]),
        ("while (k) { step(u, v, n); k--; }", ["before while: begin", "after while: end"]),
        ("for (int t = 0; t < 9; t++) { k += t; }", []),
        # a loop and a stage are one run
        ("for (int t = 0; t < n; t++) { step(u, v, n); }\nstep(v, u, n);", ["before for: begin", "after step: end"]),
        # below branches, not below the cases of a switch
        ("if (k) { step(u, v, n); step(v, u, n); }", ["before step: begin", "after step: end"]),
        ("switch (k) { case 1: step(u, v, n); step(v, u, n); }", []),
        ("switch (k) { case 1: for (;;) { step(u, v, n); if (k) break; } }", ["before for: begin", "after for: end"]),
        # a run ends in front of a return
        ("step(u, v, n);\nstep(v, u, n);\nreturn 3;", ["before step: begin", "after step: end"]),
        ("for (int t = 0; t < 9; t++) { for (int i = 0; i < n; i++) u[i] = v[i] + t; double *s = u; u = v; v = s; }",
         ["before for: begin", "after for: end"]),
    ],
)  # fmt: skip
def test_what_is_held(body: str, expected: list[str], tmp_path: Path) -> None:
    assert frames(body, tmp_path, OTHER) == expected


def test_what_is_cut_out_leaves_runs_on_both_sides(tmp_path: Path) -> None:
    body = "step(u, v, n); step(v, u, n);\nobserve(u);\nstep(u, v, n); step(v, u, n);"
    assert frames(body, tmp_path).count("before step: begin") == 2
    body = "step(u, v, n);\nobserve(u);\nstep(u, v, n); step(v, u, n);"
    assert frames(body, tmp_path).count("before step: begin") == 1


def test_a_loop_that_may_be_no_data_region_is_looked_into(tmp_path: Path) -> None:
    body = "while (unknown(), k) { step(u, v, n); step(v, u, n); for (int t = 0; t < 4; t++) step(u, v, n); }"
    assert frames(body, tmp_path) == ["before step: begin", "after for: end"]


def test_a_run_takes_the_pragmas_in_front_of_it(tmp_path: Path) -> None:
    loop = "\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) u[i] = k;\nstep(u, v, n);"
    found = frames(loop, tmp_path)
    assert [one.rpartition(" ")[2] for one in found] == ["begin", "end"]
    assert not found[0].startswith("before for")


def test_what_kernels_call_does_not_part_their_offload_region(tmp_path: Path) -> None:
    other = "static int odd(int x) { int s = 0; for (int i = 0; i < 3; i++) s += (x >> i) & 1; return s; }\n"
    body = (
        "{ for (int i = 0; i < n; i++) u[i] = 0.5 * v[i];"
        " for (int i = 0; i < n; i++) { if (odd(i) == 2) continue; v[i] = 0.5 * u[i]; } k = k % 5; }"
    )
    assert frames(body, tmp_path, other) == []
