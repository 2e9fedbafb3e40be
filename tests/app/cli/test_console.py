"""Output to standard error, and whether results have colors."""

from __future__ import annotations

import sys

import click
import pytest

from warpsmith.app.cli.command import Command
from warpsmith.app.cli.console import is_colored, tell
from warpsmith.app.cli.failure import run_guarded
from warpsmith.base.findings import Finding

NOTE, ERROR = Finding("INP000", "note", "a note"), Finding("INP000", "error", "an error")


@click.command("probe", cls=Command)
def probe() -> int:
    tell((NOTE, ERROR))
    click.echo(is_colored())
    return 0


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[bool, str]:
    assert run_guarded(probe, words) == 0
    printed = capsys.readouterr()
    return printed.out.split()[-1] == "True", printed.err


def test_findings_go_to_standard_error_the_errors_even_where_it_is_to_be_quiet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "a note" in ran(capsys)[1] and "an error" in ran(capsys)[1]
    quiet = ran(capsys, "-q")[1]
    assert "a note" not in quiet and "an error" in quiet


@pytest.mark.parametrize(
    ("words", "variables", "terminal", "expected"),
    [
        ((), {}, False, False),
        ((), {}, True, True),
        ((), {"TERM": "dumb"}, True, False),
        ((), {"NO_COLOR": "1"}, True, False),
        ((), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ((), {"FORCE_COLOR": "1"}, False, True),
        ((), {"CLICOLOR_FORCE": "0"}, False, False),
        ((), {"CLICOLOR_FORCE": "1"}, False, True),
        (("--color", "always"), {"NO_COLOR": "1"}, False, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colors(
    words: tuple[str, ...], variables: dict[str, str], expected: object, *, terminal: bool,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert ran(capsys, *words)[0] == expected
