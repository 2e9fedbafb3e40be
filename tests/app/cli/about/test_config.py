"""The settings: what is set, where it comes from, what can be set; a file to start with."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.app.cli.runs import document, typed
from warpsmith.settings.model import load_keys

FILE = """device = ["h100"]
fail-on = "warning"
[rules]
ignore = ["MEM003"]
severity = { MEM001 = "note" }
[kernels."k*"]
block = [32, 8]
args = { n = 4096 }
assume = ["n % 32 == 0"]
[per-file-ignores]
"third/**" = ["ALL"]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / "warpsmith.toml").write_text(FILE)
    return tmp_path


def test_what_is_shown_is_a_configuration_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "config", "show")
    shown = tomllib.loads(out)
    assert code == 0
    assert (shown["device"], shown["fail-on"]) == (["h100"], "warning")
    assert (shown["rules"]["ignore"], shown["rules"]["severity"]) == (["MEM003"], {"MEM001": "note"})
    assert shown["kernels"] == {"k*": {"block": [32, 8, 1], "args": {"n": 4096}, "assume": ["n % 32 == 0"]}}
    assert shown["per-file-ignores"] == {"third/**": ["ALL"]}
    (here / "warpsmith.toml").write_text(out)
    assert typed(capsys, "config", "show")[1] == out


def test_where_a_value_comes_from(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = typed(capsys, "config", "show", "--origin")[1].splitlines()
    (device,) = (line for line in lines if line.startswith("device"))
    assert "warpsmith.toml" in device and any("default" in line for line in lines)
    made = document(capsys, "config", "show", "--origin")
    assert made["device"] == ["h100"] and "warpsmith.toml" in made["origins"]["device"]
    assert made["kernels"]["k*"]["block"] == [32, 8, 1] and "origins" not in document(capsys, "config", "show")


def test_every_key_is_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "config", "schema")
    assert code == 0 and all(any(line.startswith(name) for line in out.splitlines()) for name in load_keys())
    rows = {row["name"]: row for row in document(capsys, "config", "schema")}
    assert set(rows) == set(load_keys()) and "never" in rows["fail-on"]["words"]


def test_a_file_to_start_with(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(capsys, "config", "init")[0] == 2 and (here / "warpsmith.toml").read_text() == FILE
    assert document(capsys, "config", "init", "-o", "other.toml")["outputs"] == ["other.toml"]
    assert tomllib.loads((here / "other.toml").read_text())["fail-on"] == "error"
    code, out, _ = typed(capsys, "config", "init", "--force")
    assert (code, out) == (0, "wrote warpsmith.toml\n")
    assert typed(capsys, "config", "show")[0] == 0
