"""How often what stands in a loop is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.patterns.samples import spaces


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("for (int k = 0; k <= 8; k++) x[k] = 1;", 9),
        ("for (int k = 0; k != 8; k++) x[k] = 1;", 8),
        ("for (int k = 0; 8 > k; k += 3) x[k] = 1;", 3),
        ("for (int k = 9; k > 1; k -= 3) x[k] = 1;", 3),
        ("int k = 0; do { x[k] = 1; } while (++k < 8);", 8),
        ("for (int k = 0; k < 8; k++) { if (idx[k]) break; x[k] = 1; }", 8),
        ("for (int k = 0; k < n; k++) x[k] = 1;", None),
        ("for (int k = 0; x[k] > 0; k++) x[k] = 1;", None),
    ],
)
def test_trips(text: str, extent: int | None, tmp_path: Path) -> None:
    found = next(s for s in spaces(text, tmp_path) if any(r.writes for r in s.space.references))
    assert found.columns[-1].extent == extent
