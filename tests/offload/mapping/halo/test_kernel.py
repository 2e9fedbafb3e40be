"""Which kernels have tiles with a halo: those for which a step asks, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.halo.made import ROWS, build
from warpsmith.offload.mapping.tiling import TilesRefusedError
from warpsmith.offload.plan import HaloTiles
from warpsmith.tree.program import Decision

CROSS = f"{ROWS} B[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 2] + A[i][j + 1] + D[i][j] + D[i][j + 1];"


def decision(loop: str, kind: str, **fields: object) -> Decision:
    return Decision(loop, "f", kind, None, **fields)  # type: ignore[arg-type]


def test_all_that_may_be_or_what_is_named(tmp_path: Path) -> None:
    made = build(CROSS, tmp_path)
    assert made.halos == (HaloTiles("A", (10, 35)), HaloTiles("D", (8, 33))) and not made.tiles
    assert made.kernel.block == (32, 8, 1) and made.kernel.inside is not None and not made.kernel.index
    assert build(CROSS, tmp_path, loop="f/i/j", arrays=("D",)).halos[0].array == "D"


def test_a_block_that_a_step_gives_stays(tmp_path: Path) -> None:
    made = build(CROSS, tmp_path, decision("f/i", "threads", axes=("y", "x"), block=(16, 2)), arrays=("A",))
    assert made.kernel.block == (16, 2, 1) and made.halos == (HaloTiles("A", (4, 19)),)


@pytest.mark.parametrize(
    ("text", "arrays", "why"),
    [
        (f"{ROWS} B[i][j] = A[i][j];", (), "no thread reads an array at several"),
        (CROSS, ("B",), "no thread reads B at several"),
        (CROSS.replace("D[i][j + 1]", "A[i + 7000][j]").replace("n - 1", "n - 7000"), (), "bytes of shared memory"),
        (f"{ROWS} {{ if (x[i] > 0) continue; B[i][j] = A[i][j] + A[i][j - 1]; }}", (), "may end early"),
        (f"{ROWS} if (x[i] > 0) B[i][j] = A[i][j] + A[i][j - 1];", (), "depends on data"),
    ],
)
def test_what_cannot_be_is_refused(text: str, arrays: tuple[str, ...], why: str, tmp_path: Path) -> None:
    with pytest.raises(TilesRefusedError, match=why):
        build(text, tmp_path, arrays=arrays)


def test_tiles_of_two_kinds_are_refused(tmp_path: Path) -> None:
    text = f"{ROWS} for (int k = 0; k < m; k++) B[i][j] += A[i][j] * A[i][j - 1] + D[i][k];"
    with pytest.raises(TilesRefusedError, match="not both"):
        build(text, tmp_path, decision("f/i/j/k", "tiles", width=16))
    with pytest.raises(TilesRefusedError, match="one iteration"):
        build(text, tmp_path, decision("f/i/j/k", "elements", elements=(2, 2)))
    assert build(text, tmp_path, decision("f/i/j/k", "tiles", width=0)).halos
