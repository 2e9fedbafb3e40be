"""Every example with its report (`examples/reports/`). `WARPSMITH_UPDATE=1` rewrites them; look at the difference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.c"))


@pytest.mark.parametrize("path", one_in(6, EXAMPLES), ids=lambda path: path.stem)
def test_the_report_is_what_is_printed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    assert run_guarded(warpsmith, ["port", f"examples/{path.name}"]) == 0
    printed = capsys.readouterr().out
    report = ROOT / "examples" / "reports" / f"{path.stem}.txt"
    if os.environ.get("WARPSMITH_UPDATE"):
        report.parent.mkdir(exist_ok=True)
        report.write_text(printed)
    assert printed == report.read_text()
    assert "verify  PASS" in printed or "Nothing was ported" in printed
