"""Bodies with tiles, as text; what they compute is judged by tests/random_programs/test_halo.py."""

from __future__ import annotations

from pathlib import Path

from tests.offload.mapping.halo.made import ROWS, build
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.program import Decision


def text_of(text: str, folder: Path, block: tuple[int, ...] = (32, 4)) -> str:
    axes = ("y", "x") if len(block) > 1 else ("x",)
    made = build(text, folder, Decision("f/i", "f", "threads", None, axes=axes, block=block))  # type: ignore[arg-type]
    return " ".join(print_stmt(made.kernel.body).split())


def test_a_cross(tmp_path: Path) -> None:
    assert text_of(f"{ROWS} B[i][j] = A[i - 1][j] + A[i][j - 2] + A[i][j + 1];", tmp_path) == (
        "{ const int thread = i_in * 32 + j_in; for (int at = thread; at < 175; at += 128) {"
        " const int i_at = (int)((unsigned int)i - i_in - 1 + at / 35);"
        " const int j_at = (int)((unsigned int)j - j_in - 2 + at % 35);"
        " if ((i_at >= 1 && j_at >= 0 && j_at < m && i_at <= n - 2)"
        " || (i_at >= 0 && j_at >= 2 && j_at <= m - 2 && i_at <= n - 3))"
        " A_tile[at] = A_gpu[(long long)i_at * m + j_at]; }"
        " __syncthreads();"
        " if (inside) B_gpu[(long long)i * m + j] ="
        " A_tile[i_in * 35 + j_in + 2] + A_tile[i_in * 35 + j_in + 35] + A_tile[i_in * 35 + j_in + 38]; }"
    )


def test_windows_go_on_from_the_place_of_the_thread(tmp_path: Path) -> None:
    text = "for (int i = 2; i < n; i++) { double s = 0; for (int a = 0; a <= 2; a++) s += y[i - a]; x[i] = s; }"
    made = text_of(text, tmp_path, (64,))
    assert "for (int at = thread; at < 66; at += 64)" in made and "y_tile[i_in - a + 2]" in made
    assert made.startswith("{ const int thread = i_in;")


def test_rows_in_one_subscript_are_found_in_64_bits(tmp_path: Path) -> None:
    made = text_of(f"{ROWS} B[i][j] = y[(i - 1) * m + j] + y[i * m + j + 1];", tmp_path)
    assert "const long long i_at = (long long)(int)((unsigned int)i - i_in) - 1 + at / 33;" in made
    assert "y_gpu[i_at * (long long)m + j_at]" in made


def test_a_continue_leaves_the_thread_behind_the_barrier(tmp_path: Path) -> None:
    made = text_of(f"{ROWS} B[i][j] = A[i][j] + A[i][j - 1] + D[i][j] + D[i - 1][j];", tmp_path)
    assert made.count("__syncthreads()") == 1 and made.index("D_tile[") < made.index("__syncthreads()")
