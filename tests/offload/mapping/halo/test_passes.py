"""Which loops of two nests may be done in tiles; tests/offload/steps/test_time_tile.py has more of why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.halo.passing import build
from warpsmith.offload.mapping.tiling import TilesRefusedError
from warpsmith.offload.plan import HaloTiles

ROWS = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 2; j++)"
PAIR = f"{ROWS} B[i][j] = A[i - 1][j] + A[i][j + 2]; {ROWS} A[i][j] = B[i + 1][j] + B[i][j];"


def test_tiles_reach_as_far_as_all_iterations_read(tmp_path: Path) -> None:
    made = build(PAIR, tmp_path, 2)
    assert made.iterations == 2 and made.kernel.turns == 4 + 2
    # -1…1 and 0…2 an iteration, around 8 rows of 32
    assert made.halos == (HaloTiles("A", (8 + 4, 32 + 4)), HaloTiles("B", (12, 36)))
    assert made.kernel.block == (32, 8, 1) and made.kernel.turn is not None


def _wide(columns: int) -> str:
    return PAIR.replace("A[i][j + 2]", f"A[i][j + {columns}]").replace("n - 2; j", f"n - {columns}; j")


def test_blocks_are_smaller_where_tiles_do_not_fit(tmp_path: Path) -> None:
    # a block has 49152 bytes; two tiles of 16 rows of 232 take 59392, of 12 rows 44544
    made = build(_wide(50), tmp_path, 2)
    assert made.kernel.block == (32, 8, 1) and made.halos[0].extents == (12, 132)
    made = build(_wide(50), tmp_path, 4)
    assert made.kernel.block == (32, 4, 1) and made.halos[0].extents == (12, 232)
    # 12 rows of 264 take 50688, of 248 47616
    made = build(_wide(58), tmp_path, 4)
    assert made.kernel.block == (16, 4, 1) and made.halos[0].extents == (12, 248)
    with pytest.raises(TilesRefusedError, match="a block of 16,4,1 take 133120 bytes"):
        build(_wide(50), tmp_path, 8)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("A[i][j + 2]", "A[i][0]", "by its counters moved by numbers"),
        ("A[i][j + 2]", "B[0][0]", "."),
        ("A[i][j] = B[i + 1][j] + B[i][j]", "A[i][j] = D[i][j]", "does not read one array of the two"),
        ("A[i][j] = B[i + 1][j]", "D[i][j] = B[i + 1][j]", "does not read one array of the two"),
        ("B[i][j] = A[i - 1][j]", "B[i][j] = twice(A[i - 1][j])", "calls a function"),
    ],
)
def test_other_nests_are_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(TilesRefusedError, match=why):
        build(PAIR.replace(old, new), tmp_path, 2)
