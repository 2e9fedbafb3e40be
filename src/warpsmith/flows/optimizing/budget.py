"""The time that processors may work for a search: before each candidate it is asked whether there is any left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Budget", "BudgetEndedError"]


class BudgetEndedError(Exception):
    """No time is left for another candidate."""


class Budget:
    """So many `seconds` from now on."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.process_time) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raise BudgetEndedError where the time is up."""
        if self._clock() >= self._end:
            raise BudgetEndedError

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Let what is done meanwhile take a share of what is left."""
        end, now = self._end, self._clock()
        self._end = now + share * max(0.0, end - now)
        try:
            yield
        finally:
            self._end = end
