"""Where the compiler's own headers are: the libclang wheel ships none, so an installed compiler's are used.

Before them stand ours, for what clang cannot read in gcc's (omp.h).
"""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

__all__ = ["own_headers", "system_arguments"]

_QUESTIONS = (
    ("clang", "-print-resource-dir", "include"),
    ("gcc", "-print-file-name=include", ""),
    ("cc", "-print-file-name=include", ""),
)


def own_headers() -> Path:
    """Return the folder of the headers that warpsmith ships."""
    return Path(__file__).resolve().parents[1] / "headers"


@lru_cache(maxsize=1)
def system_arguments() -> tuple[str, ...]:
    """Return the `-isystem` options for stddef.h and its like, asked of the installed compiler once a process."""
    ours = "-isystem", str(own_headers() / "first")
    for compiler, question, below in _QUESTIONS:
        found = _ask(compiler, question)
        if found is not None and (found / below / "stddef.h").is_file():
            return *ours, "-isystem", str(found / below)
    return ours


def _ask(compiler: str, question: str) -> Path | None:
    path = shutil.which(compiler)
    if path is None:
        return None
    try:
        done = subprocess.run([path, question], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(done.stdout.strip()) if done.returncode == 0 else None
