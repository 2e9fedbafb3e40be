"""A question to a module of ours that runs in a process of its own: what ends that process ends nothing else.

ask_process("warpsmith.a.b", question)    →    python -c "from warpsmith.a.b import main; main()"  <  question
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import warpsmith

__all__ = ["ProcessEndedError", "ask_process"]

_SHOWN = 200


class ProcessEndedError(Exception):
    """The process gave no answer; the message says how it ended."""


def ask_process(module: str, question: bytes, limit_s: float) -> bytes:
    """Return what `main` of a module writes to its standard output; raises ProcessEndedError where it ends by a signal,
    with an error, or not in time."""
    package = str(Path(warpsmith.__file__).resolve().parents[1])
    start = f"import sys; sys.path.insert(0, {package!r}); from {module} import main; main()"
    command = [sys.executable, "-c", start]
    try:
        done = subprocess.run(command, input=question, capture_output=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        raise ProcessEndedError(f"it took more than {limit_s:g} s") from None
    if done.returncode < 0:
        raise ProcessEndedError(f"its process was ended by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        raise ProcessEndedError(f"its process ended: {done.stderr.decode(errors='replace').strip()[-_SHOWN:]}")
    return done.stdout
