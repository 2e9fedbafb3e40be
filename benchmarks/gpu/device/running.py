"""Programs run in folders of their own, within a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ran", "run"]


@dataclass(frozen=True)
class Ran:
    """How a run ended: `code` None where it did not in time; `files` that it wrote, `log`: its capture log."""

    code: int | None
    out: bytes
    err: str
    files: dict[str, bytes]
    log: bytes
    wall: float

    def trouble(self, expected: int) -> tuple[str, str]:
        """Return the class of a run that did not end as it should, and a word on it; nothing where it did."""
        if self.code is None:
            return "hangs", f"no end within {self.wall:.0f} s"
        said = self.err.strip().splitlines()[-1:] or [""]
        if self.code < 0:
            return "crashes", f"signal {-self.code}: {said[0]}"
        if self.code != expected and "failed:" in self.err:
            return "CUDA error", self.err.strip()[-300:]
        return ("crashes", f"exit code {self.code}: {said[0]}") if self.code != expected else ("", "")


def run(command: list[str], environment: dict[str, str], limit: float) -> Ran:
    """Run a command; its capture log is read and removed."""
    work = Path(tempfile.mkdtemp(prefix="run-"))
    log, place = work / "log", work / "files"
    place.mkdir()
    wanted = {**os.environ, "OMP_NUM_THREADS": "1", **environment, "WS_CAPTURE_LOG": str(log)}
    started = time.perf_counter()
    try:
        ran = subprocess.run(
            command, cwd=place, env=wanted, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL
        )
        code, out, err = ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired as late:
        code, out, err = None, late.stdout or b"", late.stderr or b""
    wall = time.perf_counter() - started
    files = {str(p.relative_to(place)): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}
    logged = log.read_bytes() if log.exists() else b""
    shutil.rmtree(work, ignore_errors=True)
    return Ran(code, out, err.decode(errors="replace")[-4000:], files, logged, wall)
