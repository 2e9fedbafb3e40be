"""A question to a process of ours: its answer, or how it ended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warpsmith.targets.llvm.own_process import ProcessEndedError, ask_process

MAIN = "import os, sys, time\n\ndef main():\n"


def _module(tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "asked_here.py").write_text(f"{MAIN}    {body}\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    return "asked_here"


def test_the_answer_is_what_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    assert ask_process(_module(tmp_path, body, monkeypatch), b"abc", 30) == b"cba"


@pytest.mark.parametrize(
    ("body", "limit", "why"),
    [
        ("os.kill(os.getpid(), 11)", 30.0, "ended by SIGSEGV"),
        ("raise ValueError('no such thing')", 30.0, "ValueError: no such thing"),
        ("time.sleep(30)", 0.5, "more than 0.5 s"),
    ],
)
def test_how_it_ends_is_said(
    body: str, limit: float, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProcessEndedError, match=why):
        ask_process(_module(tmp_path, body, monkeypatch), b"", limit)
