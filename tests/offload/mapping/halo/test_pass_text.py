"""Bodies of kernels of several iterations, as text; what they compute: tests/random_programs/test_time.py."""

from __future__ import annotations

from pathlib import Path

from tests.offload.mapping.halo.passing import build
from warpsmith.tree.printing.printer import print_stmt

ROWS = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
PAIR = f"{ROWS} B[i][j] = A[i - 1][j] + A[i][j + 1]; {ROWS} A[i][j] = B[i][j] * i;"


def text_of(nests: str, folder: Path, iterations: int) -> str:
    return " ".join(print_stmt(build(nests, folder, iterations).kernel.body).split())


def test_one_iteration_a_pass(tmp_path: Path) -> None:
    text = text_of(PAIR, tmp_path, 1)
    inside = "i_at >= 1 && i_at < n - 1 && j_at >= 1 && j_at < n - 1"
    assert text.startswith("{ const int thread = i_in * 32 + j_in; if (turn < 4) { for (int at = thread; at < 297;")
    assert f"if ({inside}) A_tile[place] = turn % 2 ? B_gpu[" in text
    assert "const int place = at;" in text
    # the first nest computes the block alone: the second one reads nothing around it
    assert "const int place = at / 32 * 33 + at % 32 + 33;" in text
    assert f"if ({inside}) B_tile[place] = A_tile[place - 33] + A_tile[place + 1];" in text
    assert f"if ({inside}) A_tile[place] = B_tile[place] * i_at;" in text
    own = "A_tile[i_in * 33 + j_in + 33]"
    assert f"if (turn % 2) A_gpu[(long long)i * n + j] = {own}; else B_gpu[(long long)i * n + j] = {own};" in text
    assert text.endswith(
        "else if (inside) { if (turn == 4) B_gpu[(long long)i * n + j] = A_gpu[(long long)(i - 1) * n + j]"
        " + A_gpu[(long long)i * n + (j + 1)]; else A_gpu[(long long)i * n + j] = B_gpu[(long long)i * n + j] * i; } }"
    )
    assert text.count("__syncthreads()") == 3


def test_each_iteration_reaches_less_far(tmp_path: Path) -> None:
    text = text_of(PAIR, tmp_path, 3)
    assert text.count("__syncthreads()") == 1 + 2 * 3
    sizes = [int(part.split(";")[0]) for part in text.split("; at < ")[1:]]
    # 8 + k rows of 32 + k: before three iterations, then twice before two, one and none
    assert sizes == [11 * 35, 10 * 34, 10 * 34, 9 * 33, 9 * 33, 8 * 32, 8 * 32]
