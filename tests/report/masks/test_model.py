"""Exit codes of runs of assembly text."""

from __future__ import annotations

import pytest

from tests.report.masks.reports import report_of
from warpsmith.base.findings import Finding


@pytest.mark.parametrize(("rules", "code"), [((), 0), (("ASM002",), 1), (("ASM003",), 3)])
def test_the_exit_code_says_how_it_ended(rules: tuple[str, ...], code: int) -> None:
    assert report_of(1, *(Finding(rule, "error", "x") for rule in rules)).exit_code == code
