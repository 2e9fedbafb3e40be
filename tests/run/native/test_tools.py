"""Finding compilers, and running programs under limits."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.run.native.tools import RunLimits, c_compiler, cxx_compiler, run_limited


def test_output_input_and_exit_code(tmp_path: Path) -> None:
    ran = run_limited(["sh", "-c", "cat; echo no >&2; echo $X; exit 3"], tmp_path, stdin=b"in ", environment={"X": "y"})
    assert (ran.exit_code, ran.stdout, ran.stderr, ran.timed_out) == (3, b"in y\n", b"no\n", False)


@pytest.mark.slow
def test_the_whole_group_ends_with_the_time_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    command = ["sh", "-c", "(sleep 2; touch late) & sleep 60"]
    ran = run_limited(command, tmp_path, limits=RunLimits(seconds=0.3))
    assert ran.timed_out
    assert ran.exit_code < 0
    assert time.monotonic() - started < 20
    time.sleep(2.2)
    assert not (tmp_path / "late").exists()


def test_limits_are_the_same_with_and_without_the_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show = "for x in c s f d; do ulimit -S$x; done; ulimit -Hs; kill -SEGV $$"
    limits = RunLimits(memory=1 << 30, file=1 << 20, stack=32 << 20)
    shell = shutil.which("sh") or ""
    with_launcher = run_limited([shell, "-c", show], tmp_path, limits=limits)
    assert with_launcher.stdout.split()[:4] == [b"0", b"32768", b"2048", b"1048576"]
    assert with_launcher.exit_code == -signal.SIGSEGV
    monkeypatch.setattr("warpsmith.run.native.tools._launcher", lambda limits: None)
    without = run_limited([shell, "-c", show], tmp_path, limits=limits)
    assert (without.exit_code, without.stdout) == (with_launcher.exit_code, with_launcher.stdout)


def test_a_program_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    imports = "import sys, pathlib; from warpsmith.run.native.tools import run_limited"
    start = f"{imports}; run_limited(sys.argv[1:], pathlib.Path())"
    sleeper = ["sh", "-c", "echo $$ > pid.new; mv pid.new pid; exec sleep 60"]
    with subprocess.Popen([sys.executable, "-c", start, *sleeper], cwd=tmp_path) as parent:
        assert _is_soon(lambda: (tmp_path / "pid").exists())
        parent.kill()
    program = Path("/proc", (tmp_path / "pid").read_text().strip())
    assert _is_soon(lambda: not program.exists() or "(sleep) Z" in (program / "stat").read_text())


def _is_soon(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def test_a_missing_compiler_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(UsageError, match="no C compiler"):
        c_compiler()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(UsageError, match="no-such-compiler"):
        cxx_compiler()
