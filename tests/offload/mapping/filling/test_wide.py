"""Which neighbors are loaded at once, as text; what it computes is judged by tests/random_programs/test_tiled.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.test_tiled_text import HEAD, LOOP, ROWS, text_of, write


def test_a_product(tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} {LOOP}", tmp_path, wide=2))
    assert (
        "const int row = thread / 8; if (row < 16) {"
        " const int i_at = i - i_in + row; const long long k_at = k_first + thread % 8 * 2;"
        " if (k_at < m && i_at < n && k_at + 1 < m)"
        " tile_load2(&A_tile[row][thread % 8 * 2], &A[i_at][(int)k_at]);"
        " else { if (k_at < m && i_at < n) A_tile[row][thread % 8 * 2] = A[i_at][(int)k_at];"
        " if (k_at + 1 < m && i_at < n) A_tile[row][thread % 8 * 2 + 1] = A[i_at][(int)(k_at + 1)]; } }"
    ) in text
    assert "tile_load2(&B_tile[row][thread % 8 * 2], &B[(int)k_at][j_at]);" in text


def test_rows_as_wide_as_the_block_times_the_elements(tmp_path: Path) -> None:
    head = HEAD.replace("double", "float")
    text = text_of(write(f"{ROWS} {LOOP}", tmp_path, (8, 32, 1), 32, head, wide=4))
    assert "tile_load4(&A_tile[i_in][j_in * 4], &A[i][(int)k_at]);" in text


@pytest.mark.parametrize(
    ("loop", "width", "wide", "loaded"),
    [
        ("C[i][j] += A[j][k];", 16, 2, False),  # rows of its tile are padded
        ("C[i][j] += B[k][2 * j];", 16, 2, False),  # every second element of a row
        ("C[i][j] += B[k][j];", 16, 4, False),  # 32 bytes
        ("C[i][j] += A[i][k];", 16, 2, True),
        ("C[i][j] += 2.5 * A[i][k] * B[k][j];", 16, 2, True),
    ],
)
def test_what_is_loaded_at_once(loop: str, width: int, wide: int, loaded: bool, tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} for (int k = 0; k < m; k++) {loop}", tmp_path, width=width, wide=wide))
    assert ("tile_load" in text) == loaded and "__syncthreads" in text


def test_products_have_their_factor(tmp_path: Path) -> None:
    loop = "for (int k = 0; k < m; k++) C[i][j] += 2.5 * A[i][k] * B[k][j];"
    text = text_of(write(f"{ROWS} {loop}", tmp_path, wide=2))
    assert "tile_load2(&A_tile[row][thread % 8 * 2], &A[i_at][(int)k_at], 2.5);" in text


def test_two_tiles_are_filled_straight(tmp_path: Path) -> None:
    loop = "for (int k = 0; k < m; k++) C[i][j] += 2.5 * A[i][k] * B[k][j];"
    text = text_of(write(f"{ROWS} {loop}", tmp_path, doubled=True, wide=2))
    assert "tile_fetch2(&B_tile[1 - stage][row][thread % 8 * 2], &B[(int)k_at][j_at]);" in text
    assert "B_tile_next" not in text and "tile_load2(&B_tile[0]" in text
    # a product waits in a register
    assert "A_tile[1 - stage][i_in][j_in] = 2.5 * A_tile_next;" in text
