"""Results become a file, whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from warpsmith.app.cli.destination import results_in
from warpsmith.base.errors import UsageError


def work(text: str = "caf\u00e9\n", code: int = 0) -> object:
    print(text, end="")
    return code


def test_a_file_gets_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "r.txt"
    assert results_in(str(path), lambda: work(code=3), force=False) == 3
    assert path.read_text("utf-8") == "café\n" and capsys.readouterr().out == ""


def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert results_in("-", work, force=False) == 0 and capsys.readouterr().out == "café\n"


def test_a_file_that_is_there_is_told_before_anything_is_worked_out(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text("old")
    with pytest.raises(UsageError, match="already exists"):
        results_in(str(path), lambda: pytest.fail("it was worked out"), force=False)
    with pytest.raises(UsageError, match="it is a folder"):
        results_in(str(tmp_path), lambda: pytest.fail("it was worked out"), force=True)
    assert path.read_text() == "old"
    assert results_in(str(path), work, force=True) == 0 and path.read_text("utf-8") == "café\n"


def test_a_failure_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"

    def fails() -> object:
        print("half")
        raise UsageError

    with pytest.raises(UsageError):
        results_in(str(path), fails, force=False)
    assert results_in(str(path), lambda: work("", 2), force=False) == 2
    assert not path.exists()
    # nothing to say is a result where all went well
    assert results_in(str(path), lambda: work(""), force=False) == 0 and path.read_text() == ""


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "p"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    assert results_in(str(pipe), work, force=False) == 0
    reader.join(5)
    assert read == ["café\n"]
