"""The columns around an access: names, extents, where counters begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.patterns.samples import spaces


@pytest.mark.parametrize(
    ("loop", "name", "extent", "text"),
    [
        ("int k = 0; k < 8; k++", "k", 8, "x[k]"),
        ("int k = 3; k < 8; k++", "k", 5, "x[k]"),
        ("int k = 7; k >= 0; k--", "k", 8, "x[k]"),
        ("int k = 0; k < n; k++", "k", None, "x[k]"),
        ("int k = 0; k < 8; k += 2", "k/2", 4, "x[k]"),
        ("int k = n; k < 2 * n; k++", "k", None, "x[k]"),
        ("int k = threadIdx.x; k < n; k++", "i1", None, "x[tid.x + i1]"),
    ],
)
def test_loops(loop: str, name: str, extent: int | None, text: str, tmp_path: Path) -> None:
    (found,) = spaces(f"for ({loop}) x[k] = 1;", tmp_path)
    column = found.columns[-1]
    assert (column.name, column.extent, found.space.references[0].text) == (name, extent, text)


def test_axes(tmp_path: Path) -> None:
    (found,) = spaces("x[blockIdx.y] = 1;", tmp_path)
    assert [c.name for c in found.columns] == ["ctaid.y", "tid.y", "tid.x"]
    assert [d.index(1) for d in found.space.references[0].reuse] == [1, 2]


def test_a_triangle(tmp_path: Path) -> None:
    (found,) = spaces("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) x[j] = 1;", tmp_path)
    (reference,) = found.space.references
    assert reference.text == "x[j]"
    assert reference.classes == ("row", "triangular")
