"""Where a value comes from: flag, variable, nearest file, pyproject, the user's file, default; and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.settings.model import load_keys
from warpsmith.settings.read import Wanted, read_settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "warpsmith").mkdir(parents=True)
    (tmp_path / "a" / "b").mkdir(parents=True)
    return tmp_path


def test_the_nearer_source_wins_key_by_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "home/warpsmith/warpsmith.toml").write_text('device = ["v100"]\nevidence = "none"\ncontext = 7\n')
    (folder / "pyproject.toml").write_text('[tool.warpsmith]\nevidence = "full"\nfail-on = "note"\nlimit = 3\n')
    (folder / "a/warpsmith.toml").write_text('fail-on = "warning"\nlimit = 4\n')
    (folder / "a/b/pyproject.toml").write_text("[tool.other]\nx = 1\n")
    wanted = Wanted({"limit": 5}, folder=str(folder / "a" / "b"))
    monkeypatch.setenv("WARPSMITH_FAIL_ON", "never")
    found = read_settings(wanted)
    shown = {key: (found.values[key], found.origins[key].rpartition("/")[2]) for key in found.values}
    assert shown["limit"] == (5, "command line")
    assert shown["fail-on"] == ("never", "WARPSMITH_FAIL_ON")
    assert shown["evidence"] == ("full", "pyproject.toml")
    assert shown["context"] == (7, "warpsmith.toml")
    assert shown["sort"] == ("impact", "default")
    assert found.root == str(folder / "a")
    assert read_settings(Wanted(folder=str(folder / "a"), environment=False)).text("fail-on") == "warning"
    assert read_settings(Wanted(folder=str(folder / "a"), files=False, environment=False)).text("fail-on") == "error"


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("devise = ['a100']\n", "CFG001", "did you mean 'device'?"),
        ("[rules]\nselekt = ['MEM']\n", "CFG001", "did you mean 'select'?"),
        ("[kernels.k]\nblok = [3]\n", "CFG001", "did you mean 'block'?"),
        ("fail-on = 'sometimes'\n", "CFG002", "one of error, warning, note, never"),
        ("# fial-on\nfial-on = 'error'\n", "CFG001", "did you mean 'fail-on'?"),
        ("fail-on = 'warnings'\n", "CFG002", "did you mean 'warning'?"),
        ("[rules]\nseverity = { MEM001 = 'notes' }\n", "CFG002", "did you mean 'note'?"),
        ("[rules.severity]\nMEM001 = 3\n", "CFG002", "one of error, warning, note"),
        ("limit = 'many'\n", "CFG002", "a whole number"),
        ("timeout = 0\n", "CFG002", "a number above 0, at most"),
        ("runs = -1\n", "CFG002", "a number, at most"),
        ("[kernels.k]\nblock = [0]\n", "CFG002", "one to three numbers above 0"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(folder: Path, text: str, rule: str, words: str) -> None:
    (folder / "warpsmith.toml").write_text(f"# a comment\n{text}")
    with pytest.raises(UsageError) as caught:
        read_settings(Wanted(folder=str(folder)))
    (finding,) = caught.value.findings
    assert (finding.rule, finding.severity) == (rule, "error")
    assert words in f"{finding.message} {' '.join(finding.help)}"
    assert finding.span is not None
    assert finding.span.line >= 2


def test_no_seconds_are_a_number_where_that_is_what_nobody_asked_for(folder: Path) -> None:
    (folder / "warpsmith.toml").write_text("runs = 0\n")
    assert read_settings(Wanted(folder=str(folder), environment=False)).seconds("runs") == 0


def test_tables_are_put_together(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.warpsmith.kernels.'t*']\nblock = [32, 8]\nargs = { n = 4 }\n")
    (folder / "warpsmith.toml").write_text("[kernels.'tr*']\ngrid = 9\nargs = { m = 5 }\n")
    found = read_settings(Wanted(folder=str(folder))).of_kernel("transpose")
    assert (found.block, found.grid, dict(found.args)) == ((32, 8, 1), (9, 1, 1), {"n": 4, "m": 5})


@pytest.mark.parametrize("text", ["x = = 3\n", "\xff\xfe"])
def test_a_file_that_is_no_toml_is_an_error(folder: Path, text: str) -> None:
    (folder / "warpsmith.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(Wanted(folder=str(folder)))
    with pytest.raises(UsageError, match="does not exist"):
        read_settings(Wanted(file=str(folder / "no.toml")))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WARPSMITH_FIAL_ON", "error", "did you mean 'WARPSMITH_FAIL_ON'?"),
        ("WARPSMITH_FAIL_ON", "warnings", "did you mean 'warning'?"),
        ("WARPSMITH_JOBS", "many", "a whole number"),
    ],
)
def test_variables_are_checked_like_files(
    folder: Path, name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as caught:
        read_settings(Wanted(folder=str(folder)))
    assert words in str(caught.value)
    assert name in str(caught.value)
    assert read_settings(Wanted(folder=str(folder), environment=False)).text("fail-on") == "error"


def test_variables_of_others_are_told_and_those_of_ours_are_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WARPSMITH_OFF", "WARPSMITH_CACHE_DIR", "WARPSMITH_EMULATION_SEED", "WARPSMITH_SECRET_TOKEN"):
        monkeypatch.setenv(name, "1")
    (finding,) = read_settings(Wanted(folder=str(folder))).findings
    assert (finding.severity, finding.message) == ("warning", "no variable is called WARPSMITH_SECRET_TOKEN")


def test_every_key_guesses_a_misspelled_name(folder: Path) -> None:
    for name in load_keys():
        table, _, key = name.rpartition(".")
        wrong = key[:1] + key[2:]
        (folder / "warpsmith.toml").write_text(f"[{table}]\n{wrong} = 1\n" if table else f"{wrong} = 1\n")
        with pytest.raises(UsageError, match=f"did you mean '{key}'"):
            read_settings(Wanted(folder=str(folder)))
