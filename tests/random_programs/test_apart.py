"""Calls in a process of their own answer, fail, or are ended, in time and with all that they have started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

from tests.random_programs.apart import Ended, apart


def test_the_answer_comes_back() -> None:
    assert apart(lambda: {"pid": os.getpid()}, 60.0) != {"pid": os.getpid()}


def test_failures_are_told() -> None:
    def fail() -> int:
        raise ValueError("seven")

    assert apart(fail, 60.0) == Ended(False, "ValueError('seven')")
    assert apart(lambda: os.kill(os.getpid(), signal.SIGKILL), 60.0) == Ended(False, "it ended with 137")


def test_a_call_of_a_library_that_does_not_return_is_ended_with_what_was_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def hang() -> int:
        pid.write_text(str(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid))
        # a call that holds the lock of the interpreter, as those of isl do: no signal handler of Python's runs
        return int(ctypes.PyDLL(None).sleep(ctypes.c_uint(1000)))

    started = time.monotonic()
    ended = apart(hang, 0.5)
    assert isinstance(ended, Ended) and ended.late
    assert "in hang" in ended.detail
    assert time.monotonic() - started < 30
    assert not Path("/proc", pid.read_text()).exists()
