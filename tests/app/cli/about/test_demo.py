"""A small example, and which of the user's options hold for the commands that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli.about import demo
from warpsmith.app.cli.about.demo import _keep_global_options
from warpsmith.app.cli.global_options import GlobalOptions


def test_options_that_hold_for_the_commands_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _keep_global_options(GlobalOptions(output="x", force=True, log_file="l", cache_dir="c", json=True)) == []
    given = GlobalOptions(quiet=True, isolated=True, color="never", config="c.toml", jobs=0, timeout=3.0)
    assert _keep_global_options(given) == [
        "-q", "--isolated", "--color=never", f"--config={tmp_path / 'c.toml'}", "--jobs=0", "--timeout=3.0"
    ]  # fmt: skip


def test_it_writes_the_example_and_stops_where_a_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    codes = iter((3, 0, 0, 0))

    def guarded(root: object, words: list[str]) -> int:
        ran.append(list(words))
        return next(codes)

    monkeypatch.setattr(demo, "run_guarded", guarded)
    code, out, _ = typed(capsys, "demo", "-o", "d", "--jobs", "1")
    assert code == 3 and ran == [["port", "heat.c", "-o", "gpu", "--jobs=1"]]
    assert (tmp_path / "d" / "heat.c").exists() and out.startswith("$ cd d && warpsmith port heat.c -o gpu")
    # nothing is overwritten without leave
    assert typed(capsys, "demo", "-o", "d")[0] == 2 and len(ran) == 1
    code, out, _ = typed(capsys, "demo", "-o", "d", "--force")
    assert code == 0 and out.rstrip().endswith("`warpsmith explain referee`.")
    assert [words[0] for words in ran[1:]] == ["port", "analyze"] and "--force" in ran[1]
    assert typed(capsys, "demo", "-o", "d", "--force", "--json")[0] == 0 and ran[-1][-1] == "--json"
