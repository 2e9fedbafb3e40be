"""Shell completion of commands and options."""

from __future__ import annotations

import pytest

from tests.app.cli.runs import typed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "completion", shell)
    assert code == 0 and f"_WARPSMITH_COMPLETE={shell}_complete" in out


def test_other_shells_and_json_have_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(capsys, "completion", "csh")[0] == 2
    code, _, err = typed(capsys, "completion", "bash", "--json")
    assert code == 2 and "has no JSON form" in err
