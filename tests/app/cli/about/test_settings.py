"""The settings of a command: its options, the environment and the configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli.about.settings import baseline_path, default_settings, settings_of
from warpsmith.base.errors import UsageError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / "warpsmith.toml").write_text('device = ["h100"]\nfail-on = "note"\n')
    return tmp_path


def test_options_that_were_given_win(here: Path) -> None:
    nothing = settings_of({"device": (), "fail_on": None, "limit": None})
    assert (nothing.texts("device"), nothing.text("fail-on")) == (("h100",), "note")
    given = settings_of({"device": ("a100, t4", "v100"), "fail_on": "never", "limit": 3, "select": ("MEM,DIV",)})
    assert given.texts("device") == ("a100", "t4", "v100") and given.texts("rules.select") == ("MEM", "DIV")
    assert (given.text("fail-on"), given.number("limit")) == ("never", 3)
    assert default_settings().texts("device") == ("sm_80",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("device = []\n", "'device' names no GPU model"),
        ('assume = ["n ?"]\n', "'assume' of the configuration"),
        ('[kernels.k]\nassume = ["n ?"]\n', "'kernels.\"k\".assume' of the configuration"),
    ],
)
def test_values_that_make_no_sense(here: Path, text: str, said: str) -> None:
    (here / "warpsmith.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        settings_of({})
    assert error.value.findings[0].rule == "CFG002" and said in error.value.findings[0].message


def test_a_baseline_lies_beside_the_configuration_unless_it_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "src").mkdir()
    monkeypatch.chdir(here / "src")
    assert baseline_path(settings_of({})) == "../warpsmith-baseline.json"
    assert baseline_path(settings_of({"baseline": "b.json"})) == "b.json"
