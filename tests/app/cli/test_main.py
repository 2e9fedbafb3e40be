"""The table of commands: each is loaded when it is invoked, and no other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click
import pytest

from tests.app.cli.runs import typed
from warpsmith.app.cli import main as module
from warpsmith.app.cli import supervise
from warpsmith.app.cli.main import COMMANDS, warpsmith


def context() -> click.Context:
    return click.Context(warpsmith)


def test_every_command_of_the_table_is_one() -> None:
    assert warpsmith.list_commands(context()) == list(COMMANDS)
    for name in COMMANDS:
        command = warpsmith.get_command(context(), name)
        assert command is not None and command.name == name
    assert warpsmith.get_command(context(), "none") is None


def test_names_are_completed_from_the_table() -> None:
    found = warpsmith.shell_complete(context(), "d")
    assert [(one.value, one.help) for one in found] == [
        (n, COMMANDS[n][1]) for n in ("demo", "devices", "diff", "doctor")
    ]
    assert "--json" in [one.value for one in warpsmith.shell_complete(context(), "--j")]


def test_help_lists_all_and_a_wrong_name_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "--help")
    assert code == 0 and all(text in " ".join(out.split()) for _, text in COMMANDS.values())
    code, out, err = typed(capsys, "analyse")
    assert code == 2 and "no command is called 'analyse'. Did you mean 'analyze'?" in err and not out


def test_the_process_ends_with_the_code_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[click.Command, list[str]]] = []
    supervised: list[int] = []

    def run_supervised(work: Callable[[], int]) -> int:
        supervised.append(work())
        return supervised[-1]

    monkeypatch.setattr(supervise, "run_supervised", run_supervised)

    def guarded(root: click.Command, words: list[str]) -> int:
        ran.append((root, words))
        return 7

    monkeypatch.setattr(module, "run_guarded", guarded)
    monkeypatch.setattr(sys, "argv", ["warpsmith", "rules", "MEM"])
    # a starter may have closed a stream
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert (ended.value.code, ran) == (7, [(warpsmith, ["rules", "MEM"])])
    assert supervised == [7]
    assert sys.stdin is not None
    with sys.stdin as opened:
        assert opened.read() == ""
    # help and the version start nothing that a stop would have to end
    for words in ([], ["--help"], ["-V"]):
        monkeypatch.setattr(sys, "argv", ["warpsmith", *words])
        with pytest.raises(SystemExit) as ended:
            module.main()
        assert (ended.value.code, ran[-1], supervised) == (7, (warpsmith, words), [7])
