"""Limits on the time that a piece of our own work may take: one that ends it, and one that it asks for and heeds.

Time is that of the clock, or that of the processors: what works on loops, and does not run anything, should come as far
on a machine that is busy with other things as on one that is not.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Final, Literal

__all__ = ["MOST_SECONDS", "NO_TIME", "OutOfTimeError", "lift_time_limit", "time_left", "time_limit", "time_share"]

MOST_SECONDS = 10_000_000
"""Some months: timers of the system take no more."""

NO_TIME: Final = "no time was left"
"""Why something was not done, in words."""
# a library that calls back may swallow what is raised there: it is raised again after so many seconds
_AGAIN_S = 1.0
Timer = Literal["clock", "processor"]
_TIMERS: dict[Timer, tuple[int, int]] = {
    "clock": (signal.ITIMER_REAL, signal.SIGALRM),
    "processor": (signal.ITIMER_PROF, signal.SIGPROF),
}


# what the processors will have worked for this process when a share ends
_ENDS: ContextVar[float] = ContextVar("_ENDS", default=math.inf)


class OutOfTimeError(Exception):
    """The time is up; `of`: which one."""

    def __init__(self, of: Timer = "clock") -> None:
        super().__init__(of)
        self.of = of


@contextmanager
def time_limit(seconds: float, of: Timer = "clock") -> Iterator[None]:
    """Raise OutOfTimeError in the body after `seconds` (0: never): those of the clock, or those that processors have
    worked for this process, its threads included and what it starts left out. Signals reach the main thread only:
    elsewhere there is no limit."""
    if seconds <= 0 or threading.current_thread() is not threading.main_thread():
        yield
        return

    def up(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError(of)

    timer, alarm = _TIMERS[of]
    before = signal.signal(alarm, up)
    signal.setitimer(timer, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)


def lift_time_limit() -> None:
    """Let the body of a `time_limit` of the clock go on for as long as it likes: its time is up, and it puts together
    what it has."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def time_share(seconds: float) -> Iterator[None]:
    """Give the body `seconds` of processor time (0: any), of those that are left to what is around it. Nothing ends it:
    work that can stop in good order asks `time_left`."""
    end = time.process_time() + seconds if seconds > 0 else math.inf
    before = _ENDS.set(min(end, _ENDS.get()))
    try:
        yield
    finally:
        _ENDS.reset(before)


def time_left() -> float:
    """Return the seconds that are left of the share of time that the caller works in; 0 where it is up, infinity where
    there is none."""
    return max(0.0, _ENDS.get() - time.process_time())
