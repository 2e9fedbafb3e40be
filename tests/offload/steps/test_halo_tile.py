"""Halo tile: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.offload.steps.halo_tile import HaloTile
from warpsmith.offload.steps.map import Map

CROSS = (
    "void f(int n, double B[restrict n][n], double A[restrict n][n], const int *restrict q) {"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    " B[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]; }"
)


def test_a_stencil_may_have_a_halo(tmp_path: Path) -> None:
    for step in (HaloTile("f/i"), HaloTile("f/i/j"), HaloTile("f/i", ("A",))):
        assert isinstance(answer(CROSS, step, tmp_path), Proved)


def test_loops_that_are_no_threads(tmp_path: Path) -> None:
    inside = CROSS.replace("B[i][j] =", "for (int k = 0; k < 3; k++) B[i][j] = B[i][j] * 2 +")
    assert "carries a flow dependence" in refused(inside, HaloTile("f/i/j/k"), tmp_path).text
    apart = (
        "void f(int n, double (*restrict B)[9][9], double (*restrict A)[9]) { for (int i = 1; i < n; i++)"
        " for (int j = 1; j < 9; j++) {B[i][j][0] = A[i][j] + A[i][j - 1];"
        " for (int k = 1; k < 9; k++) B[i][j][k] = 1; } }"
    )
    assert "iterations as its threads" in refused(apart, HaloTile("f/i/j/k"), tmp_path).text
    text = "void f(char *p) { while (*p) p++; }"
    assert "a counted loop" in refused(text, HaloTile("f/while"), tmp_path).text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("A[i - 1][j] + A[i + 1][j] + A[i][j - 1]", "A[q[i]][j] + A[q[i]][j - 1]", "no sum of counters"),
        ("j++) B[i][j] =", "j++) if (q[i]) B[i][j] =", "depends on data"),
    ],
)
def test_what_the_planner_cannot_do_is_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert why in refused(CROSS.replace(old, new), HaloTile("f/i", ("A",)), tmp_path).text


def test_what_a_kernel_writes_is_refused_with_a_witness(tmp_path: Path) -> None:
    # every other row is read, and those between are written
    text = (
        "void f(int n, double A[restrict 2 * n][n]) { for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
        " A[2 * i][j] = A[2 * i - 1][j] + A[2 * i + 1][j] + A[2 * i][j]; }"
    )
    verdict = answer(text, HaloTile("f/i"), tmp_path)
    assert isinstance(verdict, Proved)
    seidel = "void f(int n, double *A) { for (int i = 1; i < n - 1; i++) A[i] = A[i - 1] + A[i + 1]; }"
    verdict = answer(seidel, HaloTile("f/i"), tmp_path)
    assert isinstance(verdict, Refuted) and verdict.reasons[0].dependence is not None


def test_it_is_noted_beside_where_the_loops_run(tmp_path: Path) -> None:
    first, second = decided(CROSS, tmp_path, Map("f/i", ("y", "x"), (16, 16)), HaloTile("f/i", ("A", "A")))
    assert (first.kind, first.block) == ("threads", (16, 16))
    assert (second.kind, second.arrays) == ("halo", ("A",))
