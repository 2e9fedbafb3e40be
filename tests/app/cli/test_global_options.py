"""Global options mean one thing, before and after the name of a command."""

from __future__ import annotations

from importlib import import_module

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.global_options import GlobalOptions, global_options
from warpsmith.app.cli.main import warpsmith


def test_before_and_after_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[GlobalOptions] = []

    def noted() -> tuple[()]:
        seen.append(global_options())
        return ()

    monkeypatch.setattr(import_module("warpsmith.app.cli.about.devices"), "load_devices", noted)
    given = ["-q", "-v", "--color", "never", "-j", "3", "--no-progress", "--isolated", "--json", "--exit-zero"]
    for words in ([*given, "devices"], ["devices", *given], [*given[:4], "devices", *given[4:]]):
        run_guarded(warpsmith, words)
    assert len(set(seen)) == 1
    assert seen[0] == GlobalOptions(1, True, "never", True, jobs=3, isolated=True, json=True, exit_zero=True)
    run_guarded(warpsmith, ["-j", "3", "devices", "-j", "4"])
    assert seen[-1].jobs == 4


def test_where_no_command_runs_they_are_the_defaults() -> None:
    assert global_options() == GlobalOptions()
