"""The difference between two reports, or two sources, and how that ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.cli.runs import typed
from tests.flows.ptx import HEAD, kernel
from warpsmith.report.json_parts import SCHEMA


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, findings in (("none", []), ("one", [{"rule": "MEM001", "severity": "warning", "message": "words"}])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": SCHEMA, "findings": findings}))
    (tmp_path / "good.ptx").write_text(HEAD + kernel(body=""))
    (tmp_path / "bad.ptx").write_text(HEAD + kernel())
    (tmp_path / "broken.ptx").write_text("no PTX\n")
    return tmp_path


def test_reports(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "diff", "none.json", "one.json")
    assert code == 1 and out.startswith("+ warning[MEM001] words")
    assert typed(capsys, "diff", "one.json", "none.json")[0] == 0
    code, out, _ = typed(capsys, "diff", "none.json", "one.json", "--json")
    made = json.loads(out)
    assert (made["status"], len(made["diff"]["new"]), made["inputs"]) == ("negative", 1, ["none.json", "one.json"])


def test_sources_of_kernels_are_analyzed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "diff", "good.ptx", "bad.ptx")
    assert code == 1 and "MEM001" in out
    assert typed(capsys, "diff", "bad.ptx", "good.ptx")[0] == 0


def test_what_cannot_be_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = typed(capsys, "diff", "gone.cu", "good.ptx")
    assert code == 2 and "gone.cu is no file" in err
    assert typed(capsys, "diff", "broken.ptx", "good.ptx")[0] == 2
    assert typed(capsys, "diff", "gone.json", "one.json")[0] == 2
