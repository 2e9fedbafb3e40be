"""For each kernel of a program one question: would other values in what it writes be noticed?"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Questions"]


class Questions:
    """Of which single kernels other values would be noticed, asked until `timeout_s` have passed since the first
    question. `unasked`: the kernels whose turn did not come."""

    def __init__(self, notices: Callable[[str], bool], timeout_s: float) -> None:
        self._notices = notices
        self._timeout_s = timeout_s
        self._ends: float | None = None
        self.unasked: list[str] = []

    def ask(self, kernel: str) -> bool | None:
        """Return whether other values in what `kernel` writes are noticed; None where time is up."""
        if self._ends is None:
            self._ends = time.monotonic() + self._timeout_s
        if time.monotonic() > self._ends:
            self.unasked.append(kernel)
            return None
        return self._notices(kernel)
