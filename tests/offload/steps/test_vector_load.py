"""Vector load: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.double_buffer import DoubleBuffer
from warpsmith.offload.steps.vector_load import VectorLoad

PRODUCT = (
    "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n], const int *restrict q) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)


def test_a_product_may_load_neighbors_at_once(tmp_path: Path) -> None:
    for step in (VectorLoad("f/i/j/k"), VectorLoad("f/i/j/k", 1)):
        assert isinstance(answer(PRODUCT, step, tmp_path), Proved)
    single = PRODUCT.replace("double", "float")
    assert isinstance(answer(single, VectorLoad("f/i/j/k", 4), tmp_path), Proved)


@pytest.mark.parametrize("elements", [0, 3, 8, -2])
def test_wrong_numbers_are_told(elements: int, tmp_path: Path) -> None:
    reason = refused(PRODUCT, VectorLoad("f/i/j/k", elements), tmp_path)
    assert reason.rule == "STP003" and f"not {elements}" in reason.text


@pytest.mark.parametrize(
    ("change", "step", "why"),
    [
        (("double", "double"), VectorLoad("f/i"), "no kernel has threads"),
        (("k < n; k++", "k < q[i]; k++"), VectorLoad("f/i/j/k"), "no tiles in shared memory"),
        (("double", "double"), VectorLoad("f/i/j/k", 4), "more than 16 bytes"),
        (("double", "short"), VectorLoad("f/i/j/k"), "can load no 2 elements of A, B at once"),
    ],
)
def test_what_cannot_be_loaded_at_once(change: tuple[str, str], step: VectorLoad, why: str, tmp_path: Path) -> None:
    assert why in refused(PRODUCT.replace(*change), step, tmp_path).text


def test_it_is_noted_beside_two_tiles(tmp_path: Path) -> None:
    steps = (VectorLoad("f/i/j/k"), DoubleBuffer("f/i/j/k"), VectorLoad("f/i/j/k", 1))
    found = [(one.kind, one.width) for one in decided(PRODUCT, tmp_path, *steps)]
    assert found == [("buffers", 0), ("vectors", 1)]
