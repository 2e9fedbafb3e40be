"""Where the compiler's own headers are: the first installed compiler that has them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpsmith.front.clang import system_headers
from warpsmith.front.clang.system_headers import own_headers, system_arguments


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    system_arguments.cache_clear()
    yield
    system_arguments.cache_clear()


def answering(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Path | None]) -> None:
    monkeypatch.setattr(system_headers, "_ask", lambda compiler, _: answers.get(compiler))


def test_ours_stand_first_and_the_compilers_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "stddef.h").touch()
    ours = ("-isystem", str(own_headers() / "first"))
    assert (own_headers() / "first").is_dir()
    answering(monkeypatch, {"clang": tmp_path, "gcc": tmp_path / "include"})
    assert system_arguments() == (*ours, "-isystem", str(tmp_path / "include"))
    system_arguments.cache_clear()
    # clang without its headers: gcc's
    (tmp_path / "bare").mkdir()
    answering(monkeypatch, {"clang": tmp_path / "bare", "gcc": tmp_path / "include"})
    assert system_arguments() == (*ours, "-isystem", str(tmp_path / "include"))
    system_arguments.cache_clear()
    answering(monkeypatch, {})
    assert system_arguments() == ours


def test_a_compiler_that_does_not_answer_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system_headers._ask("warpsmith-no-such-compiler", "-v") is None
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    done = {"good": 0, "bad": 1}

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if command[0] == "/bin/slow":
            raise subprocess.TimeoutExpired(command, 10)
        return subprocess.CompletedProcess(command, done[Path(command[0]).name], "/some/folder\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert system_headers._ask("good", "-q") == Path("/some/folder")
    assert system_headers._ask("bad", "-q") is None and system_headers._ask("slow", "-q") is None
