"""The details of an error of ours are in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli import crash


def test_the_details_of_an_error_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(crash, "lasting_folder", lambda: str(tmp_path))
    path = crash.crash_file(["port", "a.c"], "details\udcff")
    text = Path(path).read_text("utf-8")
    assert text.startswith("warpsmith port a.c\nin ") and text.endswith("details\\udcff")
