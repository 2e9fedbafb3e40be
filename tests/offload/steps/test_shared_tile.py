"""Shared tile: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.shared_tile import SharedTile

PRODUCT = (
    "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n], const int *restrict q) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)


def test_a_product_may_have_tiles(tmp_path: Path) -> None:
    for step in (SharedTile("f/i/j/k"), SharedTile("f/i/j/k", 8, ("A",)), SharedTile("f/i/j/k", 0)):
        assert isinstance(answer(PRODUCT, step, tmp_path), Proved)


@pytest.mark.parametrize("width", [-1, 1025])
def test_wrong_widths_are_told(width: int, tmp_path: Path) -> None:
    reason = refused(PRODUCT, SharedTile("f/i/j/k", width), tmp_path)
    assert reason.rule == "STP003" and str(width) in reason.text


@pytest.mark.parametrize("padding", [-2, 33])
def test_wrong_paddings_are_told(padding: int, tmp_path: Path) -> None:
    reason = refused(PRODUCT, SharedTile("f/i/j/k", 16, padding=padding), tmp_path)
    assert reason.rule == "STP003" and str(padding) in reason.text


def test_loops_that_no_thread_goes_through(tmp_path: Path) -> None:
    assert "no kernel has threads" in refused(PRODUCT, SharedTile("f/i"), tmp_path).text
    serial = PRODUCT.replace("C[i][j] +=", "C[0][0] = C[0][0] * 2 +")
    assert "no kernel has threads" in refused(serial, SharedTile("f/i/j/k"), tmp_path).text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("A[i][k]", "A[q[i]][k]", None),
        ("k < n; k++", "k < q[i]; k++", "how far the loop over k runs"),
        ("k = 0; k < n; k++", "k = n - 1; k >= 0; k--", "does not count up by one"),
        ("A[i][k] * B[k][j]", "A[i][q[k]]", None),
    ],
)
def test_what_the_planner_cannot_do_is_refused(old: str, new: str, why: str | None, tmp_path: Path) -> None:
    text = PRODUCT.replace(old, new)
    if why is None:
        # another array of the loop may have one
        assert isinstance(answer(text, SharedTile("f/i/j/k"), tmp_path), Proved)
        assert "A[q" in refused(text, SharedTile("f/i/j/k", 16, ("A",)), tmp_path).text or "q" in text
    else:
        assert why in refused(text, SharedTile("f/i/j/k"), tmp_path).text


def test_it_is_noted_beside_where_the_loops_run(tmp_path: Path) -> None:
    steps = (Map("f/i", ("y", "x"), (16, 16)), SharedTile("f/i/j/k", 16), SharedTile("f/i/j/k", 8, ("B", "A", "A")))
    assert [one.padding for one in decided(PRODUCT, tmp_path, SharedTile("f/i/j/k", 16, (), 3))] == [3]
    first, second = decided(PRODUCT, tmp_path, *steps)
    assert (first.kind, first.block) == ("threads", (16, 16))
    assert (second.kind, second.width, second.arrays) == ("tiles", 8, ("A", "B"))
