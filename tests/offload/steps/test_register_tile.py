"""Register tile: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.register_tile import RegisterTile
from warpsmith.offload.steps.shared_tile import SharedTile

PRODUCT = (
    "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n], const int *restrict q) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)


def test_a_product_may_have_several_iterations_a_thread(tmp_path: Path) -> None:
    for step in (RegisterTile("f/i/j/k"), RegisterTile("f/i/j/k", 2, 1), RegisterTile("f/i/j/k", 1, 1)):
        assert isinstance(answer(PRODUCT, step, tmp_path), Proved)


@pytest.mark.parametrize(("rows", "columns"), [(3, 1), (0, 1), (16, 8), (-2, 2)])
def test_wrong_numbers_are_told(rows: int, columns: int, tmp_path: Path) -> None:
    reason = refused(PRODUCT, RegisterTile("f/i/j/k", rows, columns), tmp_path)
    assert reason.rule == "STP003" and f"{rows} x {columns}" in reason.text


def test_loops_that_no_thread_goes_through(tmp_path: Path) -> None:
    assert "no kernel has threads" in refused(PRODUCT, RegisterTile("f/i"), tmp_path).text
    serial = PRODUCT.replace("C[i][j] +=", "C[0][0] = C[0][0] * 2 +")
    assert "no kernel has threads" in refused(serial, RegisterTile("f/i/j/k"), tmp_path).text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("k < n; k++", "k < q[i]; k++", "how far the loop over k runs"),
        ("k < n; k++", "k <= i; k++", "runs differently for the iterations of one thread"),
        ("i = 0; i < n; i++", "i = 0; i < n; i += 2", "the loop over i does not count up by one"),
        ("A[i][k] * B[k][j]", "A[q[i]][k] * B[q[k]][j]", "no tiles in shared memory"),
    ],
)
def test_what_the_planner_cannot_do_is_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert why in refused(PRODUCT.replace(old, new), RegisterTile("f/i/j/k", 2, 2), tmp_path).text


def test_it_is_noted_beside_the_tiles(tmp_path: Path) -> None:
    steps = (
        Map("f/i", ("y", "x"), (16, 16)),
        SharedTile("f/i/j/k", 16),
        RegisterTile("f/i/j/k", 2, 2),
        RegisterTile("f/i/j/k", 4, 2),
    )
    kinds = [(one.kind, one.elements) for one in decided(PRODUCT, tmp_path, *steps)]
    assert kinds == [("threads", (1, 1)), ("tiles", (1, 1)), ("elements", (4, 2))]
