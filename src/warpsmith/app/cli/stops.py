"""A stop may come while something is written that must be there as a whole or not at all."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

__all__ = ["defer_stops"]

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def defer_stops() -> Iterator[None]:
    """Let a stop wait, whichever thread it is delivered to: what is written is there as a whole or not at all, and
    nothing else is left in the folder."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for stop in came[:1]:
            signal.raise_signal(stop)
