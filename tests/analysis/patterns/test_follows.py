"""What an index that is no sum follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.patterns.samples import spaces


@pytest.mark.parametrize(
    ("index", "follows"),
    [
        ("idx[threadIdx.x]", {"tid.x"}),
        ("idx[blockIdx.x]", {"ctaid.x"}),
        ("threadIdx.x / 3", {"tid.x"}),
        ("threadIdx.y % 3", {"tid.y"}),
        ("threadIdx.x * threadIdx.y", {"tid.x", "tid.y"}),
        ("idx[n]", set()),
        ("__shfl_sync(~0u, (int)threadIdx.y, 0)", {"tid.y", "tid.x"}),
    ],
)
def test_follows(index: str, follows: set[str], tmp_path: Path) -> None:
    made = spaces(f"x[{index}] = blockIdx.x;", tmp_path)
    reference = next(r for s in made for r in s.space.references if r.writes)
    moving = {made[0].columns[k].name for row in reference.rows if row.irregular for k in row.follows}
    assert moving == follows


def test_a_table_that_is_written(tmp_path: Path) -> None:
    text = "x[(int)y[threadIdx.x]] = 1; y[0] = blockIdx.x;"
    (found,) = spaces(text, tmp_path, parameters="float *x, int *y, int n")
    reference = next(r for r in found.space.references if r.array == "x")
    assert set(reference.rows[0].follows) == set(range(len(found.columns)))
