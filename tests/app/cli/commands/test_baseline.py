"""A baseline: who uses it, where it is found, and what it is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

KERNEL = "__global__ void k(int *a)\n{\n    a[threadIdx.x * 32] = 1;\n}\n"
GATE = ("--fail-on", "warning", "--select", "MEM")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / "warpsmith.toml").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.cu").write_text(KERNEL)
    assert run_guarded(warpsmith, ["baseline", "write", "--select", "MEM", "src"]) == 0
    return tmp_path


def run(*words: str) -> int:
    return run_guarded(warpsmith, words)


def test_it_lies_beside_the_configuration_and_is_found_from_below(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("baseline", "write", "--select", "MEM", "src") == 0
    assert "`warpsmith analyze` uses it from here on" in capsys.readouterr().out
    (row,) = json.loads((here / "warpsmith-baseline.json").read_text())["findings"]
    assert row["file"] == "src/k.cu"
    assert run("analyze", *GATE, "src") == 0
    assert run("analyze", *GATE, "src", "--no-baseline") == 1
    assert run("analyze", *GATE, "src", "--isolated") == 1
    monkeypatch.chdir(here / "src")
    assert run("analyze", *GATE, "k.cu") == 0
    assert run("baseline", "check", "--select", "MEM", "k.cu") == 0


def test_another_place_is_told_with_what_names_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("baseline", "write", "--baseline", "src/b.json", "--select", "MEM", "src") == 0
    assert "`warpsmith analyze --baseline src/b.json` uses it; `baseline = " in capsys.readouterr().out
    (here / "warpsmith-baseline.json").unlink()
    assert run("analyze", *GATE, "src") == 1
    # a path in a file counts from that file's folder
    (here / "warpsmith.toml").write_text('baseline = "src/b.json"\n')
    assert run("-C", "src", "analyze", *GATE, "k.cu") == 0


def test_a_copy_in_another_file_is_new_and_a_moved_file_is_known(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "src" / "copy.cu").write_text(KERNEL)
    assert run("baseline", "check", "--select", "MEM", "src") == 1
    assert "copy.cu:3" in capsys.readouterr().out
    (here / "src" / "k.cu").rename(here / "src" / "moved.cu")
    (here / "src" / "copy.cu").unlink()
    assert run("baseline", "check", "--select", "MEM", "src") == 0
    assert run("baseline", "prune", "--select", "MEM", "src") == 0
    assert "0 findings taken out, 1 kept" in capsys.readouterr().out
    (here / "src" / "moved.cu").write_text(KERNEL.replace(" * 32", ""))
    assert run("baseline", "prune", "--select", "MEM", "src") == 0
    assert "1 finding taken out, 0 kept" in capsys.readouterr().out
