"""A loop explained, as text or JSON, with the options of its compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.cli.runs import typed

TEXT = "void f(int n, double *a)\n{\n    for (int i = LOW; i < n; i++)\n        a[i] = 0;\n}\n"


def test_text_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text(TEXT)
    code, out, _ = typed(capsys, "explain", "a.c:3", "-DLOW=1")
    assert code == 0 and out.startswith("a.c:3:5: loop f/i (for i), depth 1: parallel")
    made = json.loads(typed(capsys, "explain", "a.c:3", "-DLOW=1", "--json")[1])
    assert (made["command"], made["loops"][0]["id"], made["loops"][0]["category"]) == ("explain", "f/i", "parallel")
    assert typed(capsys, "explain", "a.c:3")[0] == 2
