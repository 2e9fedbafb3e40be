"""Ports of the programs: made once, by the command line, and kept as files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.wrong_candidates.programs import Program

__all__ = ["Port", "make_port", "warpsmith"]

_LONGEST = 300
Port = dict[str, str]
"""The files of a candidate: by name, those that take the place of the program's own, and those besides."""


def warpsmith(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run warpsmith's command line; raises TimeoutExpired."""
    command = [sys.executable, "-m", "warpsmith", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=timeout, env=dict(os.environ)
    )


def make_port(program: Program, kept: Path) -> Port | None:
    """Return the port of a program, from `kept` where it is there already; None where no kernel comes of it."""
    folder = kept / program.name
    if not folder.is_dir():
        fresh = kept / f"{program.name}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        files = [str(program.folder / name) for name in program.port]
        options = [*program.options, "-I", str(program.folder)]
        warpsmith("port", "-o", str(fresh), "--verify", "off", *options, *files, timeout=_LONGEST)
        fresh.mkdir(exist_ok=True)
        fresh.rename(folder)
    files_made = {path.name: path.read_text(errors="replace") for path in sorted(folder.rglob("*")) if path.is_file()}
    return files_made if any(name.endswith(".cu") for name in files_made) else None
