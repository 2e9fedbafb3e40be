"""How tiles lie in shared memory, and the block for which they have the fewest sectors."""

from __future__ import annotations

from pathlib import Path

from tests.offload.mapping.halo.made import ROWS, find
from warpsmith.offload.mapping.halo.neighbors import HaloRead
from warpsmith.offload.mapping.halo.tile_shape import choose_block, count_bytes, lay_out
from warpsmith.offload.mapping.tile_shape import TileBlock
from warpsmith.tree.program import Axis

CROSS = f"{ROWS} B[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 2] + A[i][j + 1];"


def reads_of(text: str, folder: Path) -> tuple[HaloRead, ...]:
    found = find(text, folder).reads
    assert found
    return found


def block(read: HaloRead, shape: tuple[int, int, int], axes: tuple[Axis, ...] = ("y", "x")) -> TileBlock:
    return TileBlock(read.by, axes, shape)


def test_a_tile_has_the_block_and_what_is_around_it(tmp_path: Path) -> None:
    (read,) = reads_of(CROSS, tmp_path)
    layout = lay_out(read, block(read, (32, 8, 1)))
    assert layout.extents == (10, 35) and layout.elements == 350
    assert count_bytes((read,), block(read, (32, 8, 1))) == 350 * 8


def test_rows_lie_along_what_moves_the_address_least(tmp_path: Path) -> None:
    (read,) = reads_of(CROSS, tmp_path)
    assert lay_out(read, block(read, (8, 5, 1), ("x", "y"))).extents == (10, 8)


def test_one_thread_without_neighbors_is_no_dimension(tmp_path: Path) -> None:
    (read,) = reads_of(f"{ROWS} B[i][j] = A[i][j - 1] + A[i][j + 1];", tmp_path)
    assert lay_out(read, block(read, (64, 1, 1))).extents == (66,)


def test_blocks_are_nearly_square(tmp_path: Path) -> None:
    reads = reads_of(CROSS, tmp_path)
    chosen = choose_block(reads, block(reads[0], (256, 1, 1)))
    assert chosen.block in ((32, 8, 1), (16, 16, 1)) and chosen.threads == 256
    # in one dimension there is nothing to choose
    line = reads_of("for (int i = 1; i < n; i++) x[i] = y[i] + y[i - 1];", tmp_path)
    assert choose_block(line, TileBlock(line[0].by, ("x",), (256, 1, 1))).block == (256, 1, 1)


def test_the_given_block_stays_where_none_fits(tmp_path: Path) -> None:
    far = reads_of(f"{ROWS} B[i][j] = A[i - 1][j] + A[i + 9000][j];".replace("i < n - 1", "i < n - 9000"), tmp_path)
    given = block(far[0], (256, 1, 1))
    assert choose_block(far, given) is given
