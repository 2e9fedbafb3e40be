"""A stop takes a second, whatever the worker is doing, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from warpsmith.app.cli.supervise import GRACE_S

# generous: the machine may be busy with other things
SOON_S = GRACE_S + 5

# in one call of a C library, which notices no signal; a program of its own runs beside, with a child in a new session
STUCK = """
import hashlib, os, signal, subprocess, sys, time
from warpsmith.app.cli.supervise import run_supervised
from warpsmith.base.scratch import ask_for_time

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored

def work():
    subprocess.Popen(["sh", "-c", "setsid sleep 987 & sleep 986"])
    print(os.getpid(), flush=True)
    ACT
    return 0

sys.exit(run_supervised(work))
"""
FINISHING = """
    try:
        time.sleep(900)
    except KeyboardInterrupt:
        ask_for_time()
        time.sleep(SLEEP)
        print("counters", flush=True)
        return 130
"""
FOR_EVER = 'hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)'


@contextmanager
def _started(action: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a supervised worker that does `action`; yield it with the worker's process."""
    command = [sys.executable, "-c", STUCK.replace("ACT", action)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        try:
            yield process, worker
        finally:
            # a stop that was not obeyed must not keep the tests waiting
            for pid in (process.pid, worker):
                if not _ended(pid):
                    os.kill(pid, signal.SIGKILL)


def _ended(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def _below(root: int) -> set[int]:
    """The processes below `root`, that in the new session included."""
    found = {root}
    for _ in range(4):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                except (FileNotFoundError, ProcessLookupError):
                    continue
                found |= {int(entry.name)} if parent in found else set()
    return found - {root}


def _children(worker: int) -> set[int]:
    """Wait for the shell and both its programs."""
    for _ in range(200):
        if len(found := _below(worker)) >= 3:
            return found
        time.sleep(0.05)
    raise AssertionError("the programs never started")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_is_obeyed_inside_a_c_library(number: signal.Signals) -> None:
    with _started(FOR_EVER) as (process, worker):
        children = _children(worker)
        started = time.monotonic()
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number
        assert time.monotonic() - started < SOON_S
        assert all(map(_ended, {worker, *children}))


def test_a_worker_that_puts_its_results_together_is_waited_for() -> None:
    with _started(FINISHING.replace("SLEEP", str(GRACE_S + 1))) as (process, worker):
        children = _children(worker)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None and process.stdout.read() == "counters\n"
        assert process.wait(timeout=60) == 130
        assert all(map(_ended, {worker, *children}))


def test_a_second_stop_ends_it() -> None:
    with _started(FINISHING.replace("SLEEP", "900")) as (process, worker):
        _children(worker)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(GRACE_S + 0.5)
        assert not _ended(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert time.monotonic() - started < 2 * SOON_S
        assert _ended(worker)


def test_what_the_worker_returns_is_returned_and_what_it_left_is_ended() -> None:
    with _started("import time; time.sleep(1); return 3") as (process, worker):
        children = _children(worker)
        assert process.wait(timeout=60) == 3
        assert all(map(_ended, children))


def test_a_worker_that_is_killed_is_an_internal_error() -> None:
    with _started(FOR_EVER) as (process, worker):
        children = _children(worker)
        os.kill(worker, signal.SIGKILL)
        assert process.wait(timeout=60) == 70
        assert process.stderr is not None
        assert "SIGKILL ended the command" in process.stderr.read()
        assert all(map(_ended, children))


def test_the_worker_ends_with_a_supervisor_that_is_killed() -> None:
    with _started("import time; time.sleep(900)") as (process, worker):
        children = _children(worker)
        process.kill()
        for _ in range(int(SOON_S * 20)):
            if all(map(_ended, {worker, *children})):
                return
            time.sleep(0.05)
        pytest.fail("something is left")


# a stop that waits until the worker hears stops at all
EARLY = """
import os, signal, sys
from warpsmith.app.cli import supervise

started = os.getpid()
adopt = supervise.adopt_orphans

def adopt_orphans():
    adopt()
    if os.getpid() != started:
        os.kill(os.getpid(), signal.SIGINT)

supervise.adopt_orphans = adopt_orphans
sys.exit(supervise.run_supervised(lambda: print("worked") or 0))
"""


def test_a_stop_before_the_work_begins_is_quiet() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
