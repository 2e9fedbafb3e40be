"""A polite kill leaves no running program, no temporary folder and no output behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ENDLESS = """static double a[100];
int main(void)
{
    volatile int run = 1;
    for (int i = 0; i < 100; i++)
        a[i] = i;
    while (run) { }
    return (int)a[3];
}
"""


def _running(below: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode("latin-1")
            except OSError:
                continue
            if command.startswith(str(below)) and "program" in command:
                found.append(entry.name)
    return found


def _wait_until(holds: bool, below: Path) -> bool:
    for _ in range(600):
        if bool(_running(below)) == holds:
            return True
        time.sleep(0.1)
    return False


def test_sigterm_stops_what_we_started(tmp_path: Path) -> None:
    scratch, gpu = tmp_path / "scratch", tmp_path / "gpu"
    scratch.mkdir()
    source = tmp_path / "endless.c"
    source.write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-m", "warpsmith", "port", str(source), "-o", str(gpu)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert _wait_until(True, scratch), "the program never ran"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert _wait_until(False, scratch)
    assert not list(scratch.iterdir())
    assert not gpu.exists()
