"""Processes that we start end with us: all below a process, also what they left to others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells of the end of a parent")

PROLOGUE = "import os, signal, subprocess, sys, time\nfrom warpsmith.base.children import *\n"
SLEEP = "['sh', '-c', 'sleep 60 & sleep 60']"


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + code], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_below_a_process_ends() -> None:
    """A shell with two children, and an orphan whose parent has ended already."""
    out = _run(
        "adopt_orphans()\n"
        f"first = subprocess.Popen({SLEEP})\n"
        "orphan = subprocess.run(['sh', '-c', 'sleep 60 > /dev/null & echo $!'], stdout=subprocess.PIPE, text=True)\n"
        "number = int(orphan.stdout)\n"
        "time.sleep(0.1)\n"
        "end_descendants(reap=True)\n"
        "print(os.path.exists(f'/proc/{first.pid}'), os.path.exists(f'/proc/{number}'))\n"
    )
    assert out.split() == ["False", "False"]


def test_within_the_grace_a_process_may_end_by_itself(tmp_path: Path) -> None:
    """A shell that takes its file away on SIGTERM, by a program that needs a moment; without grace it has no time."""
    for grace, left in ((5.0, False), (0.0, True)):
        file = tmp_path / f"file-{grace}"
        _run(
            f"shell = 'trap \"sleep 0.1 && rm {file}; exit\" TERM; touch {file}; while :; do sleep 0.01; done'\n"
            "subprocess.Popen(['sh', '-c', shell])\n"
            f"while not os.path.exists({str(file)!r}): time.sleep(0.005)\n"
            f"end_descendants(reap=True, grace_s={grace})\n"
        )
        assert file.exists() == left


def test_the_end_of_the_parent_ends_a_process() -> None:
    code = (
        PROLOGUE + "parent = os.getpid()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    end_with_parent(parent)\n    os.write(1, b'ready')\n    os.close(1)\n    time.sleep(60)\n"
        "print(pid, flush=True)\ntime.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    told = b""
    while b"ready" not in told or b"\n" not in told:
        told += os.read(process.stdout.fileno(), 100)
    child = int(told.replace(b"ready", b"").split()[0])
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for _ in range(400):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            break
        time.sleep(0.01)
    else:
        pytest.fail("it outlives its parent")


def test_a_parent_that_is_gone_already() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + "end_with_parent(1 << 30, signal.SIGTERM)\nprint('still here')"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGTERM and not done.stdout
