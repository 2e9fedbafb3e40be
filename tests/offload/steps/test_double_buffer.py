"""Double buffer: what it says of loops, and what it notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.offload.steps.double_buffer import DoubleBuffer
from warpsmith.offload.steps.halo_tile import HaloTile
from warpsmith.offload.steps.map import Map
from warpsmith.offload.steps.shared_tile import SharedTile
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

PRODUCT = (
    "void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n], const int *restrict q) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " C[i][j] += A[i][k] * B[k][j]; }"
)
STENCIL = (
    "void f(int n, double B[restrict n][n], double A[restrict n][n]) {"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int t = 0; t < 2; t++)"
    " B[i][j] += A[i - 1][j] + A[i][j - 1] + A[i + 1][j]; }"
)


def test_a_product_may_have_two_tiles(tmp_path: Path) -> None:
    assert isinstance(answer(PRODUCT, DoubleBuffer("f/i/j/k"), tmp_path), Proved)


def test_it_is_noted_beside_the_tiles(tmp_path: Path) -> None:
    steps = (SharedTile("f/i/j/k", 8), DoubleBuffer("f/i/j/k"), DoubleBuffer("f/i/j/k"))
    assert [one.kind for one in decided(PRODUCT, tmp_path, *steps)] == ["tiles", "buffers"]


@pytest.mark.parametrize(
    ("old", "new", "loop", "why"),
    [
        ("", "", "f/i", "no kernel has threads"),
        ("k < n; k++", "k < q[i]; k++", "f/i/j/k", "no tiles in shared memory"),
        ("A[i][k] * B[k][j]", "A[q[i]][k] * B[q[k]][j]", "f/i/j/k", "no tiles in shared memory"),
    ],
)
def test_loops_without_tiles(old: str, new: str, loop: str, why: str, tmp_path: Path) -> None:
    assert why in refused(PRODUCT.replace(old, new) if old else PRODUCT, DoubleBuffer(loop), tmp_path).text


def _after(text: str, folder: Path, *steps: Map | SharedTile | HaloTile | DoubleBuffer) -> str:
    """Return why the last of some steps is refused, all others being Proved."""
    program = load(text, folder)
    for step in steps[:-1]:
        assert isinstance(step.check(program, Facts.about(program, PolyOptions())), Proved)
        program = step.apply(program)
    verdict = steps[-1].check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    return verdict.reasons[0].text


def test_shared_memory_takes_the_tiles_twice(tmp_path: Path) -> None:
    block = Map("f/i", ("y", "x"), (32, 32))
    text = _after(PRODUCT, tmp_path, block, SharedTile("f/i/j/k", 64), DoubleBuffer("f/i/j/k"))
    assert "two tiles for each read take 65536 bytes of shared memory, and a block has 49152" in text


def test_tiles_that_a_step_forbids_are_not_doubled(tmp_path: Path) -> None:
    text = _after(PRODUCT, tmp_path, SharedTile("f/i/j/k", 0), DoubleBuffer("f/i/j/k"))
    assert "no tiles in shared memory" in text


def test_tiles_with_a_halo_are_filled_once(tmp_path: Path) -> None:
    assert "fills its tiles once" in _after(STENCIL, tmp_path, HaloTile("f/i"), DoubleBuffer("f/i/j/t"))
