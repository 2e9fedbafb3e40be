"""Two tiles for each read, as text; what it computes is judged by tests/random_programs/test_tiled.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.test_tiled_text import LOOP, ROWS, text_of, write
from warpsmith.offload.mapping.filling.staged import count_held


def written(body: str, folder: Path, block: tuple[int, int, int] = (16, 16, 1), width: int = 16) -> str:
    return text_of(write(f"{ROWS} {body}", folder, block, width, doubled=True))


def test_a_product(tmp_path: Path) -> None:
    assert written(LOOP, tmp_path) == (
        "{ { { const long long k_next = 0;"
        " { const long long k_at = k_next + j_in;"
        " if (k_at < m && i < n) A_tile[0][i_in][j_in] = A[i][(int)k_at]; }"
        " { const long long k_at = k_next + i_in;"
        " if (k_at < m && j < n) B_tile[0][i_in][j_in] = B[(int)k_at][j]; } }"
        " for (long long k_pair = 0; k_pair < m; k_pair += 32) {"
        " #pragma unroll for (int stage = 0; stage < 2; stage++) {"
        " const long long k_first = k_pair + stage * 16; if (k_first < m) { const long long k_next = k_first + 16;"
        " double A_tile_next; double B_tile_next; __syncthreads();"
        " if (k_next < m) { { const long long k_at = k_next + j_in; if (k_at < m && i < n)"
        " A_tile_next = tile_fetch(&A_tile[1 - stage][i_in][j_in], &A[i][(int)k_at]); }"
        " { const long long k_at = k_next + i_in; if (k_at < m && j < n)"
        " B_tile_next = tile_fetch(&B_tile[1 - stage][i_in][j_in], &B[(int)k_at][j]); } }"
        " if (inside) { const int k_last = (long long)m - k_first < 16 ? (int)((long long)m - k_first) : 16;"
        " for (int k_in = 0; k_in < k_last; k_in++)"
        " C[i][j] += A_tile[stage][i_in][k_in] * B_tile[stage][k_in][j_in]; }"
        " if (k_next < m) { { const long long k_at = k_next + j_in; if (k_at < m && i < n)"
        " tile_land(&A_tile[1 - stage][i_in][j_in], A_tile_next); }"
        " { const long long k_at = k_next + i_in; if (k_at < m && j < n)"
        " tile_land(&B_tile[1 - stage][i_in][j_in], B_tile_next); } tile_arrived(); } } } } } }"
    )


def test_several_elements_a_thread_are_written_out(tmp_path: Path) -> None:
    text = written(LOOP, tmp_path, (32, 8, 1), 32)
    assert "double A_tile_next; double B_tile_next[4];" in text
    assert "#pragma unroll for (int turn = 0; turn < 4; turn++) { const int row = i_in + turn * 8;" in text
    assert "B_tile_next[turn] = tile_fetch(&B_tile[1 - stage][row][j_in]," in text


def test_rows_that_not_all_threads_fill_are_tested(tmp_path: Path) -> None:
    text = written(LOOP, tmp_path, (32, 8, 1), 8)
    assert "const int row = thread / 32; if (row < 8)" not in text
    assert "const int row = thread / 8; if (row < 8) {" in text
    one = written("for (int k = 0; k < m; k++) C[i][j] += x[k];", tmp_path)
    assert "const int row = i_in; if (row < 1) {" in one


def test_a_product_with_a_value_waits_in_a_register(tmp_path: Path) -> None:
    loop = "for (int k = 0; k < m; k++) C[i][j] += 2.5 * A[i][k] * B[k][j];"
    text = written(loop, tmp_path)
    assert "A_tile_next = A[i][(int)k_at];" in text
    assert "A_tile[1 - stage][i_in][j_in] = 2.5 * A_tile_next;" in text and "tile_land(&B_tile" in text


def test_a_loop_around_it_parts_the_first_fill_from_the_last_use(tmp_path: Path) -> None:
    body = "for (int t = 0; t < 3; t++) { C[i][j] *= 2; for (int k = 0; k < m; k++) C[i][j] += B[k][j]; }"
    text = written(f"{{ {body} }}", tmp_path)
    assert "if (inside) C[i][j] *= 2; { __syncthreads(); { const long long k_next = 0;" in text


@pytest.mark.parametrize(("rows", "step", "held"), [(16, 16, 1), (32, 8, 4), (8, 32, 1), (20, 8, 3)])
def test_elements_of_a_thread(rows: int, step: int, held: int) -> None:
    assert count_held(rows, step) == held
