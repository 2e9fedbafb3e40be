"""How long the stages of a flow take."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Seconds of each named stage, in order; `worked` are those of the processors since the start."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()
        self._start = time.process_time()

    @property
    def worked(self) -> float:
        """The seconds that processors have worked for this process since the start, its children left out."""
        return time.process_time() - self._start

    def lap(self, name: str) -> None:
        """Say that the stage `name` ends here."""
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now
