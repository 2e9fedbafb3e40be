"""What a place does about memory."""

from __future__ import annotations

import pytest

from warpsmith.offload.dpomap import AccessedArray, PlacedArray
from warpsmith.report.placed import ArrayRow, PortedPlace


@pytest.mark.parametrize(
    ("rank", "ported", "removes"),
    [(2, "shared tile", True), (2, "register", True), (2, "global", False), (3, "register", False), (2, "host", False)],
)
def test_an_element_that_is_used_again_is_read_once(rank: int, ported: PortedPlace, *, removes: bool) -> None:
    placed = PlacedArray(AccessedArray("a", 3, rank, "row", 8), "shared row", "rule")
    assert ArrayRow("a[i]", ("row-major",), placed, ported).removes_redundant_access == removes
