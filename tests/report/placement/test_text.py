"""Where a policy puts arrays, for people."""

from __future__ import annotations

import pytest

from tests.flows.placing.test_dpomap import PRODUCT, ported
from warpsmith.report.placed import PolicyReport
from warpsmith.report.placement.text import placement_text


def words(text: str) -> str:
    return " ".join(text.split())


def test_each_array_has_a_row_with_the_rule_and_what_no_step_can_do() -> None:
    found = ported(PRODUCT, "caicos").placement
    assert found is not None
    text = placement_text(found)
    assert text.startswith("placed by dpomap, for AMD: 32,768 bytes of shared memory a block (Radeon HD 6450 (Caicos))")
    rows = [line.split() for line in text.splitlines()]
    assert ["product/i", "A[i][k]", "row-major", "shared", "row", "shared", "tile"] in [row[:7] for row in rows]
    assert ["C[i][j]", "row-major", "shared", "row", "register"] in [row[:5] for row in rows]
    assert text.count("removes") == 3 and "not in shared memory:" in words(text)


@pytest.mark.slow
def test_what_does_not_fit_is_told() -> None:
    found = ported(PRODUCT.replace("40", "4096"), "gts250").placement
    assert found is not None
    text = words(placement_text(found))
    assert "and less is left than it takes, which the algorithm does not ask" in text and "; but " in text


def test_no_nest_is_told() -> None:
    text = placement_text(PolicyReport("dpomap", "nvidia", "A100", 1024, (), ()))
    assert text.endswith("no nest has arrays that it could place")
