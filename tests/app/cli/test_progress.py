"""The progress line is for terminals, comes late, and leaves nothing behind."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.app.cli.progress import is_wanted
from warpsmith.base.progress import Activity
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.front.load import FrontOptions
from warpsmith.kernels.units import KernelFile
from warpsmith.run.verification import VerifyOptions

# a kernel that takes some seconds, lane by lane
KERNEL = "__global__ void k(int *a, int n)\n{\n    for (int i = 0; i < n; i++)\n        a[threadIdx.x] += i;\n}\n"
WORDS = ["simulate", "k.cu", "--block", "64", "--arg", "n=100000000", "--arg", "a=zeros:i32[64]", "--max-steps"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "k.cu").write_text(KERNEL)
    return tmp_path


def on_a_terminal(words: list[str], *, interrupt: bytes = b"") -> tuple[int, bytes]:
    """Run the program with a terminal as standard error; return its exit code and what came there. With `interrupt`,
    Ctrl-C is pressed once that was seen."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "warpsmith", *words],
        stdout=subprocess.DEVNULL, stderr=terminal, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    seen, pressed, end = b"", False, time.monotonic() + 120
    while time.monotonic() < end:
        try:
            seen += os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if interrupt and not pressed and interrupt in seen:
            os.killpg(process.pid, signal.SIGINT)
            pressed = True
    os.close(master)
    return process.wait(timeout=60), seen


def test_the_line_comes_goes_and_stops_cleanly(here: Path) -> None:
    code, seen = on_a_terminal([*WORDS, "1000000000"], interrupt=b"instructions")
    assert code == 130
    assert b"simulating" in seen
    assert b"Traceback" not in seen
    # the line is erased, the cursor is back, and then comes the word
    assert b"\x1b[2K" in seen.rpartition(b"instructions")[2]
    last = seen.rpartition(b"\x1b[?25h")[2].rpartition(b"\x1b[2K")[2].strip()
    assert last.startswith((b"error[INT001] interrupted", b"k.cu:1:17: error[INT001]"))


def test_it_can_be_switched_off(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, seen = on_a_terminal([*WORDS, "15000", "--no-progress"])
    assert code == 3
    assert b"simulating" not in seen
    assert b"\x1b[" not in seen
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert is_wanted()
    for name, value in (("CI", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not is_wanted()


def test_a_log_has_the_stages(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["simulate", "k.cu", "--block", "32", "--arg", "n=2", "--arg", "a=zeros:i32[32]"]
    assert run_guarded(warpsmith, [*words, "-v", "--log-file", "run.log"]) == 0
    said = capsys.readouterr().err
    assert [line.split(":")[0] for line in said.splitlines()] == ["reading", "simulating"]
    assert "INFO simulating: " in (here / "run.log").read_text()


def test_flows_tell_what_they_do(here: Path) -> None:
    told: list[Activity] = []
    simulate(
        KernelFile("k.cu"),
        SimulateOptions(block=(32, 1, 1), arguments=("n=2", "a=zeros:i32[32]"), progress=told.append),
    )
    assert {one.stage for one in told} == {"reading", "simulating"}
    (here / "a.c").write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    told.clear()
    port(["a.c"], PortOptions(front=FrontOptions(), run=VerifyOptions(progress=told.append), verify=False))
    assert [*dict.fromkeys(one.stage for one in told)] == [
        "reading",
        "analyzing",
        "trying steps",
        "planning",
        "writing",
    ]
