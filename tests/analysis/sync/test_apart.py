"""Places that no two threads share: kernels by hand, each with a neighbor that has a clash, shown by numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.apart import apart_in_block, apart_in_grid
from warpsmith.simt.launch import Dim

XY = "int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y; "
G = "int g = blockIdx.x * 64 + threadIdx.x; "


TILE = """
    int first = threadIdx.y * 2, sum = 0;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++)
            if (threadIdx.x + c * 8 < n) sum += a[(first + r) * n + threadIdx.x + c * 8];
    for (int q = 0; q < 2; q++)
        for (int d = 0; d < 3; d++)
            if (threadIdx.x + d * WIDTH < n) a[(first + q) * n + threadIdx.x + d * WIDTH] = sum;
"""


TURNS = """
    int sum = 0;
    for (long long p = 0; p < n; p += 16)
        for (int e = 0; e < 2; e++) {
            const long long f = p + e * 8;
            __syncthreads();
            if (f + 8 < n) s[(1 - e) * 64 + threadIdx.y * 8 + threadIdx.x] = f;
            const int last = n - f < MOST ? (int)(n - f) : MOST;
            for (int k = 0; k < last; k++) sum += s[e * 64 + threadIdx.y * 8 + k];
        }
    if (sum == 7) a[threadIdx.y * 8 + threadIdx.x] = sum;
"""


@pytest.mark.parametrize(
    ("body", "block", "apart"),
    [
        # several elements a thread, read and written in loops of their own
        (TILE.replace("WIDTH", "8"), (8, 4, 1), True),
        (TILE.replace("WIDTH", "7"), (8, 4, 1), False),
        (TILE.replace("WIDTH", "8").replace("q < 2", "q < 3"), (8, 4, 1), False),
        (XY + "if (x < n) a[y * n + x] = 1;", (8, 8, 1), True),
        (XY + "if (x <= n) a[y * n + x] = 1;", (8, 8, 1), False),
        (XY + "if (x < n) a[y * m + x] = 1;", (8, 8, 1), False),
        (XY + "if (y < n) a[x * n + y] = 1;", (8, 8, 1), True),
        # three digits are more than is looked for
        (XY + "if (x < n && y < m) a[(threadIdx.z * m + y) * n + x] = 1;", (4, 4, 4), False),
        (XY + "a[y * n + x] = 1;", (8, 8, 1), False),
        (G + "if (g < n / 2) a[n - 1 - g] = a[g];", (64, 1, 1), True),
        (G + "if (g < n) a[n - 1 - g] = a[g];", (64, 1, 1), False),
        (G + "if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];", (64, 1, 1), True),
        (G + "if (threadIdx.x <= n) s[threadIdx.x] += s[threadIdx.x + n];", (64, 1, 1), False),
        ("s[threadIdx.x / 32 * n + threadIdx.x % 32] = 1;", (64, 1, 1), False),
        ("if (n >= 32) s[threadIdx.x / 32 * n + threadIdx.x % 32] = 1;", (64, 1, 1), True),
        ("for (int i = 0; i < n; i++) a[threadIdx.x * n + i] = i;", (64, 1, 1), True),
        # two tiles that take turns, of rows that may not be full
        (TURNS.replace("MOST", "8"), (8, 8, 1), True),
        (TURNS.replace("MOST", "9"), (8, 8, 1), False),
        (TURNS.replace("MOST", "8").replace("1 - e", "e"), (8, 8, 1), False),
        (TURNS.replace("MOST", "8").replace("n - f < 8 ?", "n - f > 8 ?"), (8, 8, 1), False),
        (TURNS.replace("MOST", "8").replace("? (int)(n - f)", "? (int)(n + f)"), (8, 8, 1), False),
        ("for (int i = 0; i <= n; i++) a[threadIdx.x * n + i] = i;", (64, 1, 1), False),
    ],
)
def test_threads_of_one_block(body: str, block: Dim, *, apart: bool, tmp_path: Path) -> None:
    judge, places = judge_of(body, tmp_path, block)
    meetings = judge.meetings(places)
    assert meetings
    shown = [judge.judge(m).clash is False or apart_in_block(judge, m) is not None for m in meetings]
    assert all(shown) == apart


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        (G + "a[g] = 1;", True),
        (G + "a[g] = a[g + 1];", False),
        (G + "for (int i = g; i < n; i += 64 * gridDim.x) a[i] = 1;", True),
        (G + "for (int i = g; i < n; i += 32 * gridDim.x) a[i] = 1;", False),
        (G + "if (threadIdx.x < 63) a[g + 1] = a[g];", True),
        (G + "if (g < n) a[g] = 1; if (g == 0) a[n] = 2;", True),
        (G + "if (g <= n) a[g] = 1; if (g == 0) a[n] = 2;", False),
        ("for (int i = threadIdx.x; i < n; i += 64) a[blockIdx.x * n + i] = 1;", True),
        ("for (int i = threadIdx.x; i <= n; i += 64) a[blockIdx.x * n + i] = 1;", False),
        ("if (threadIdx.x == 0) a[blockIdx.x] = 1;", True),
        ("a[blockIdx.y] = 1;", False),
    ],
)
def test_threads_of_different_blocks(body: str, *, apart: bool, tmp_path: Path) -> None:
    judge, places = judge_of(body, tmp_path)
    pairs = [(one, other) for one in places for other in places if one.kind == "store" and one.base is other.base]
    assert pairs
    shown = [apart_in_grid(judge, pair, (3, 3, 1) if "blockIdx.y" in body else None) for pair in pairs]
    assert all(texts is not None for texts in shown) == apart


def test_rows_of_blocks_that_are_not_known_are_said_to_be_one(tmp_path: Path) -> None:
    judge, (place,) = judge_of(G + "a[g] = 1;", tmp_path)
    told = apart_in_grid(judge, (place, place), None)
    assert told is not None and "the grid has one block along y and z" in told
    known = apart_in_grid(judge, (place, place), (5, 1, 1))
    assert known is not None and not any("grid" in text for text in known)


def test_what_is_compared_is_said_not_to_overflow(tmp_path: Path) -> None:
    judge, places = judge_of("unsigned g = blockIdx.x * 64 + threadIdx.x; if (g < n) a[n - g] = 1;", tmp_path)
    told = apart_in_grid(judge, (places[0], places[0]), None)
    assert told is None or "the index of a does not overflow" in told
