"""A limit on the time that a piece of our own work may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["MOST_SECONDS", "OutOfTimeError", "lift_time_limit", "time_limit"]

MOST_SECONDS = 10_000_000
"""Some months: timers of the system take no more."""

# a library that calls back may swallow what is raised there: it is raised again after so many seconds
_AGAIN_S = 1.0


class OutOfTimeError(Exception):
    """The time is up."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the body after `seconds` (0: never). Signals reach the main thread only: elsewhere there
    is no limit."""
    if seconds <= 0 or threading.current_thread() is not threading.main_thread():
        yield
        return

    def up(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def lift_time_limit() -> None:
    """Let the body of `time_limit` go on for as long as it likes: its time is up, and it puts together what it has."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
