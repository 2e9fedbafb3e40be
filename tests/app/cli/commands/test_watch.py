"""A command that runs again after every change of its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.app.cli.commands import watch
from warpsmith.app.cli.commands.watch import INTERRUPTED, watch_for_changes
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding


def looking(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object]) -> None:
    """Do one act at each pause; Ctrl-C after the last."""
    left = list(acts)

    def sleep(_: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr(watch, "sleep", sleep)


def test_a_change_runs_it_again_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text("1")
    runs: list[int] = []
    looking(monkeypatch, lambda: None, lambda: two.write_text("2"), lambda: None, lambda: two.unlink())
    assert watch_for_changes(lambda: runs.append(1), lambda: (str(one), str(two))) == INTERRUPTED == 130
    said = capsys.readouterr().err.splitlines()
    assert len(runs) == 3
    assert next(line for line in said if "changed" in line).endswith(f"changed: {two}")
    assert said.count("watching 2 files; Ctrl-C ends") == 3


def test_a_run_may_learn_of_more_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    header = tmp_path / "a.h"
    header.write_text("1")
    known: list[str] = []
    looking(monkeypatch, lambda: header.write_text("22"))
    assert watch_for_changes(lambda: known.append(str(header)), lambda: tuple(dict.fromkeys(known))) == INTERRUPTED
    assert "watching 1 file; Ctrl-C ends" in capsys.readouterr().err
    assert len(known) == 2


def test_a_change_during_the_run_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_text("")
    runs: list[int] = []

    def run() -> None:
        runs.append(1)
        if len(runs) == 1:
            path.write_text("changed meanwhile")

    looking(monkeypatch)
    watch_for_changes(run, lambda: (str(path),))
    assert len(runs) == 2


def test_input_that_cannot_be_used_is_told_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.toml"
    path.write_text("")

    def files() -> tuple[str, ...]:
        if path.read_text() == "wrong":
            raise UsageError(Finding("INP000", "error", "of no use"))
        return (str(path),)

    def run() -> None:
        files()

    looking(monkeypatch, lambda: path.write_text("wrong"), lambda: path.write_text("right again"))
    assert watch_for_changes(run, files) == INTERRUPTED
    said = capsys.readouterr().err
    assert said.count("of no use") == 1 and said.count("watching") == 3


def test_other_errors_are_not_kept_quiet() -> None:
    def run() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        watch_for_changes(run, tuple)
