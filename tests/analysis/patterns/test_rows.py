"""The subscripts of accesses, and what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.patterns.samples import spaces

_ROW = "16 * blockIdx.x + threadIdx.x"


@pytest.mark.parametrize(
    ("index", "text", "classes"),
    [
        (_ROW, "x[16·ctaid.x + tid.x]", ("row",)),
        (f"{_ROW} + 3", "x[16·ctaid.x + tid.x + 3]", ("row", "offset by 3")),
        (f"n - 1 - ({_ROW})", "x[-16·ctaid.x - tid.x + n - 1]", ("row", "reversed")),
        (f"2 * ({_ROW})", "x[32·ctaid.x + 2·tid.x]", ("row", "strided by 2")),
        ("(threadIdx.y - 1) * n + threadIdx.x", "x[tid.y - 1][tid.x]", ("row-major", "offset by (-1, 0)")),
        ("threadIdx.x * n + threadIdx.y", "x[tid.x][tid.y]", ("column-major",)),
        ("threadIdx.x * n", "x[tid.x][0]", ("column",)),
        ("threadIdx.x * 33 + threadIdx.x", "x[34·tid.x]", ("row", "strided by 34")),
        ("threadIdx.y * 18 + 19 + threadIdx.x", "x[tid.y + 1][tid.x + 1]", ("row-major", "offset by (1, 1)")),
        ("idx[threadIdx.x] * n + threadIdx.y", "x[index read from idx][tid.y]", ("irregular",)),
        ("threadIdx.y * threadIdx.y", "x[index that follows tid.y]", ("irregular",)),
        ("(size_t)threadIdx.y * m + threadIdx.x", "x[tid.y][tid.x]", ("row-major",)),
        ("threadIdx.x / 4 * n + threadIdx.x % 4", "x[tid.x/4][tid.x%4]", ("row-major",)),
        ("threadIdx.x % 4 * n + threadIdx.x / 4 - 1", "x[tid.x%4][tid.x/4 - 1]", ("column-major", "offset by (0, -1)")),
        ("threadIdx.x / 4 * 5 + threadIdx.x % 4", "x[tid.x/4][tid.x%4]", ("row-major",)),
        ("threadIdx.x / 4 * n + threadIdx.x", "x[tid.x/4][tid.x]", ("row-major",)),
        ("3 * (threadIdx.x / 4)", "x[3·(tid.x/4)]", ("row", "strided by 3")),
        ("threadIdx.x ^ 1", "x[2·(tid.x/2) - (tid.x%2) + 1]", ("row", "reversed")),
        ("n", "x[n]", ("one element",)),
    ],
)
def test_rows(index: str, text: str, classes: tuple[str, ...], tmp_path: Path) -> None:
    made = spaces(f"x[{index}] = 1;", tmp_path)
    (reference,) = [r for s in made for r in s.space.references if r.writes]
    assert (reference.text, reference.classes) == (text, classes)
