"""The folder and the cache that the global options name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

KERNEL = "__global__ void k(int *a)\n{\n    a[threadIdx.x * 32] = 1;\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_and_the_exit_code(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "in").mkdir()
    (here / "in" / "deep.cu").write_text(KERNEL)
    given = ["deep.cu", "--fail-on", "warning", "--isolated", "--select", "MEM"]
    assert run_guarded(warpsmith, ["analyze", *given]) == 2
    assert run_guarded(warpsmith, ["-C", "in", "analyze", *given]) == 1
    assert run_guarded(warpsmith, ["analyze", *given, "-C", "in", "--exit-zero"]) == 0
    assert Path.cwd() == here
    assert run_guarded(warpsmith, ["analyze", "-C", "nowhere", *given]) == 2
    assert "nowhere: no such file" in capsys.readouterr().err


def test_no_cache_leaves_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.c").write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "home"))
    assert run_guarded(warpsmith, ["survey", "-j1", "a.c", "--no-cache"]) == 0
    assert not (here / "home").exists()
    assert run_guarded(warpsmith, ["--cache-dir", "kept", "survey", "-j1", "a.c"]) == 0
    assert list((here / "kept" / "survey").glob("*.json"))
    assert "WARPSMITH_CACHE_DIR" not in os.environ
