"""How long the stages of a flow take."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Seconds of each named stage, in order."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Say that the stage `name` ends here."""
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
