"""A stop at any moment: the documented exit code, a sentence, no child, no temporary file, nothing half written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from warpsmith.app.cli.output import write_files
from warpsmith.emit.files import OutputFile

C = """#include <stdio.h>
static double a[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = i * 0.5;
    printf("%g\\n", a[63]);
    return 0;
}
"""
BUILD = ("--", "sh", "-c", "for i in 1 2 3; do gcc -c a.c -o a.o; done; gcc a.o -o p")
COMMANDS = {
    "port": ("port", "a.c", "-o", "new"),
    "verify": ("verify", "-o", "new", "a.c", "--", "b.c"),
    "survey": ("survey", "-j2", "-o", "new", "--no-cache", *BUILD),
    "survey --run": ("survey", "-j2", "-o", "new", "--no-cache", "--run", "./p", *BUILD),
}


def _of(folder: Path) -> list[str]:
    """Return the processes whose temporary files are in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"TMPDIR={folder}".encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_text())
            except OSError:
                continue
    return [words for words in found if words]


def stopped(words: Sequence[str], here: Path, number: signal.Signals, after_s: float | None) -> tuple[int, str, Path]:
    """Start a command in the folder and stop it after some time, or, with None, once it has written its first temporary
    file; return its exit code and what it said."""
    scratch = here.with_name(f"{here.name}-tmp")
    scratch.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", "from warpsmith.app.cli.start import main; print('on', flush=True); main()", *words],
        cwd=here, env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        while after_s is None and not any(path.is_file() for path in scratch.rglob("*")) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(after_s or 0)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    return process.returncode, said, scratch


def check(name: str, here: Path, number: signal.Signals, after_s: float | None) -> bool:
    """Whether the command was stopped, and not over before; what is wrong with a stop fails the test."""
    for file in ("a.c", "b.c"):
        (here / file).write_text(C)
    code, said, scratch = stopped(COMMANDS[name], here, number, after_s)
    told = f"{name}, {number.name} after {after_s} s: {code}\n{said}"
    assert "Traceback" not in said and "INT070" not in said, told
    assert not _of(scratch), told
    left = [path for path in scratch.iterdir() if not (name.startswith("survey") and path.name.startswith("cc"))]
    # a compiler of the user's own build has its temporary files in the user's folder, and a moment in which it forgets
    assert not left, told
    over = code in (0, 1, 3)
    assert over or code == {signal.SIGINT: 130, signal.SIGTERM: 143}[number], told
    # a stop may come when all is written, and then it is whole
    if over or (here / "new").exists():
        assert len(list((here / "new").iterdir())) == 3 if name == "port" else (here / "new").read_text(), told
    assert not [path.name for path in here.rglob(".warpsmith-*")], told
    return not over


@pytest.mark.parametrize(("name", "number"), [("survey --run", signal.SIGTERM), ("verify", signal.SIGINT)])
def test_a_stop_in_the_middle(name: str, number: signal.Signals, tmp_path: Path) -> None:
    assert check(name, tmp_path, number, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_stops_at_random_moments(name: str, tmp_path: Path) -> None:
    chosen = random.Random(name)
    number, longest = 0, 6.0
    for turn in range(12):
        folder = tmp_path / str(turn)
        folder.mkdir()
        stopped = check(name, folder, chosen.choice((signal.SIGINT, signal.SIGTERM)), longest * chosen.random() ** 2)
        number += stopped
        # a command that had ended by then is asked earlier
        longest *= 1.0 if stopped else 0.6
    assert number >= 4


def test_several_files_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        os.kill(os.getpid(), signal.SIGTERM)
        return real(self, target)

    def stop(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    monkeypatch.setattr(Path, "replace", interrupted)
    try:
        with pytest.raises(SystemExit):
            write_files(str(tmp_path / "gpu"), [OutputFile(name, "x\n") for name in ("a.c", "a.cu")], force=False)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert sorted(path.name for path in (tmp_path / "gpu").iterdir()) == ["a.c", "a.cu"]
