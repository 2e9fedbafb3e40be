"""The entry point of the executable: Ctrl-C is quiet from here on, also while the command line is loaded."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from types import FrameType

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Load the command line, and run it."""
    signal.signal(signal.SIGINT, _leave)
    import_module("warpsmith.app.cli.main").main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    # nothing was begun: there is nothing to put away
    os._exit(_INTERRUPTED)
