"""How every command ends: its exit code, a sentence, and one JSON document where that was asked for."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from warpsmith.app.cli import crash, failure
from warpsmith.app.cli.failure import exit_code, is_late, report_killed, run_guarded
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding

LATE = Finding("INP009", "error", "too long")


def raising(error: BaseException | None, code: object = 0) -> click.Command:
    @click.command("probe", context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1)
    def probe(words: tuple[str, ...]) -> object:
        if error is not None:
            raise error
        return code

    return probe


def test_reports_have_the_code_of_their_status() -> None:
    assert [exit_code(status, ()) for status in ("ok", "negative", "incomplete", "error")] == [0, 1, 3, 2]
    assert exit_code("ok", (LATE,)) == exit_code("error", (LATE,)) == 124 and exit_code("negative", (LATE,)) == 1
    assert is_late((LATE,)) and not is_late((Finding("INP001", "error", "x"),))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError(Finding("INP000", "error", "no such thing")), 2, "no such thing"),
        (InputError(LATE), 124, "too long"),
        (click.UsageError("wrong words"), 2, "wrong words"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), 2, "/x cannot be read or written: no space left"),
        (ValueError("oops"), 70, "internal error: this is a bug in warpsmith"),
        (OSError(errno.ENOENT, "no such file", "/x"), 70, "internal error"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_whatever_happens_is_told_in_words(
    error: BaseException, code: int, said: str, *, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setattr(crash, "lasting_folder", lambda: str(tmp_path))
    monkeypatch.setattr(failure, "_let_go", lambda stream: None)
    assert run_guarded(raising(error), ["a"]) == code
    printed = capfd.readouterr()
    assert said in printed.err and "Traceback" not in printed.err and not printed.out
    assert len(list(tmp_path.glob("warpsmith-crash-*.txt"))) == (code == 70)


def test_one_document_where_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    error = UsageError(Finding("INP000", "error", "no such thing"))
    for words in (["a", "--json"], ["a", "--format=json"], ["a", "--format", "json"]):
        assert run_guarded(raising(error), words) == 2
        made = json.loads(capsys.readouterr().out)
        assert (made["command"], made["status"], made["diagnostics"][0]["message"]) == ("a", "error", "no such thing")
    # what stands behind -- belongs to others
    assert run_guarded(raising(error), ["a", "--", "--json"]) == 2 and not capsys.readouterr().out


def test_negative_answers_that_shall_not_fail() -> None:
    codes: list[Callable[[], int]] = [lambda n=n: run_guarded(raising(None, n), ["--exit-zero"]) for n in (0, 1, 2, 3)]  # type: ignore[misc]
    assert [code() for code in codes] == [0, 0, 2, 0]
    assert run_guarded(raising(None, 1), ["--", "--exit-zero"]) == 1 and run_guarded(raising(None, "text"), []) == 0


def test_a_process_that_a_signal_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_killed(9, ["port"]) == 70
    assert "SIGKILL ended the command" in (said := capsys.readouterr().err) and "memory may be short" in said
    assert report_killed(11, []) == 70 and "this is a bug" in capsys.readouterr().err
    assert report_killed(200, []) == 70 and "signal 200" in capsys.readouterr().err
