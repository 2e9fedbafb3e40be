"""`port --data`: where the choice comes from, what contradicts it, and what the port then does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.commands.ports.data import data_scheme
from warpsmith.base.errors import UsageError
from warpsmith.settings.read import Wanted, read_settings

SOURCE = """void f(int n, double *restrict a, double *restrict b)
{
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < n; i++)
            b[i] = a[i] * 0.5;
        for (int i = 0; i < n; i++)
            a[i] = b[i] + 1;
    }
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    Path("a.c").write_text(SOURCE)
    return tmp_path


def copies(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the copies and loops of a port in order, each with how far it is indented."""
    code, out, _ = typed(capsys, "port", "a.c", "--all", "--verify", "off", "--timeline", "-", *words)
    assert code == 0, out
    return [line.split("  [")[0] for line in out[out.index("timeline\n") :].splitlines()[2:]]


def test_copies_stand_around_each_kernel(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    resident, alone = copies(capsys), copies(capsys, "--data", "per-call")
    inside = [line for line in alone[alone.index("    for t  line 3") :] if "->" in line]
    assert [line.split(" for")[0].split() for line in inside] == [
        ["a", "->", "device"],
        ["b", "->", "host"],
        ["b", "->", "device"],
        ["a", "->", "host"],
    ]
    at = resident.index("    for t  line 3")
    assert not [line for line in resident[at:] if line.startswith("      ") and "->" in line], (
        "nothing moves in the loop"
    )


def test_the_configuration_says_it_and_an_option_wins(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = copies(capsys, "--data", "per-call")
    (here / "warpsmith.toml").write_text('data = "per-call"\n')
    assert copies(capsys) == asked
    assert copies(capsys, "--data", "resident") != asked


@pytest.mark.parametrize("scheme", ["host", "mixed"])
def test_a_scheme_that_keeps_data_between_kernels_contradicts(scheme: str) -> None:
    settings = read_settings(Wanted({"data": "per-call"}, files=False, environment=False))
    with pytest.raises(UsageError, match="copies around each kernel"):
        data_scheme({"transfers": scheme}, settings)
    assert data_scheme({"transfers": "fragment"}, settings) == "per-call"
    kept = read_settings(Wanted({}, files=False, environment=False))
    assert data_scheme({"transfers": scheme}, kept) == "resident"
