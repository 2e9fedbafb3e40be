"""The entry point of the executable: a stop is quiet from here on, also while the command line is loaded."""

from __future__ import annotations

import gc
import os
import signal
from importlib import import_module
from types import FrameType

__all__ = ["main"]

_STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143}


def main() -> None:
    """Load the command line, and run it."""
    for number in _STOPPED:
        signal.signal(number, _leave)
    # Modules, trees and memos only grow: looking for circles at every 700th new object takes a tenth of the time.
    gc.set_threshold(200_000, 20, 20)
    import_module("warpsmith.app.cli.main").main()


def _leave(number: int, _frame: FrameType | None) -> None:
    # nothing was begun: there is nothing to put away
    os._exit(_STOPPED[signal.Signals(number)])
