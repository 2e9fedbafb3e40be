"""The report on programs of IL: how it ended."""

from __future__ import annotations

import pytest

from warpsmith.base.findings import Finding
from warpsmith.report.vliw.model import VliwReport, VliwRow

GOOD = VliwRow("a.il", "pixel shader", (Finding("ILT002", "warning", "w"),))
WRONG = VliwRow("b.il", "", (Finding("ILT001", "error", "e"),))


@pytest.mark.parametrize(
    ("rows", "status", "code"),
    [((GOOD,), "ok", 0), ((GOOD, WRONG), "incomplete", 3), ((WRONG,), "error", 2), ((WRONG, WRONG), "error", 2)],
)
def test_how_it_ended(rows: tuple[VliwRow, ...], status: str, code: int) -> None:
    report = VliwReport(rows)
    assert (report.status, report.exit_code) == (status, code)
