"""Clocks by thread as a heat map: a cell a thread, which may be a pixel.

clocks in a wave      of these lost           a cell: how long the thread was in a wave that was there; how long of
▓▓▒▒░░▓▓              ░░▒▒▓▓░░                that no instruction counted for it: masked off, stalled, not its turn
▓▓▒▒░░▓▓              ░░▒▒▓▓░░
0 ░░▒▒▓▓ 90           0 ░░▒▒▓▓ 70             dark is little
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from warpsmith.report.history.colors import HEAT_STEPS
from warpsmith.report.history.layout import HistoryBox, HistoryDrawing, HistoryWords
from warpsmith.report.history.model import History
from warpsmith.simt.clocks.model import THREAD_STATES, ThreadState

__all__ = ["draw_heat", "lost_words"]

Numbers = npt.NDArray[np.int64]
_MARGIN, _TOP, _BETWEEN, _RAMP, _LINE = 8, 76, 40, 14, 20
_LARGEST, _SMALLEST_WIDE = 420, 300
_TITLED: Final = 512
_WORDS: Final[dict[ThreadState, str]] = {
    "active": "active", "masked": "masked off", "stalled": "stalled", "ready": "ready, not issued",
}  # fmt: skip


def draw_heat(history: History, wide: int) -> HistoryDrawing:
    """Return the picture of the threads of a run, `wide` of them in a row."""
    clocks: Numbers = history.run.thread_clocks
    there = clocks.sum(axis=1)
    rows = -(-len(clocks) // wide)
    cell = max(1, min(24, _LARGEST // max(wide, rows)))
    panel = max(wide * cell, _SMALLEST_WIDE)
    boxes: list[HistoryBox] = []
    title = f"{history.title}: clocks by thread"
    words = [HistoryWords(_MARGIN, 20, title), HistoryWords(_MARGIN, 38, history.caption)]
    panels = (("clocks in a wave", there), ("of these lost", there - clocks[:, 0]))
    below = _TOP + rows * cell
    for n, (name, values) in enumerate(panels):
        left = _MARGIN + n * (panel + _BETWEEN)
        words.append(HistoryWords(left, _TOP - 10, name))
        boxes += _cells(values, clocks, (left, wide, cell))
        boxes += _ramp(left, below + 10)
        words += _ends(values, left, below + 10 + _RAMP + 14)
    y = below + 10 + _RAMP + 34
    for line in (f"A cell is a thread, {wide} in a row from the upper left on. Dark is little.", lost_words(clocks)):
        words.append(HistoryWords(_MARGIN, y, line))
        y += _LINE
    whole = max(_MARGIN * 2 + 2 * panel + _BETWEEN, 760)
    return HistoryDrawing(whole, y, tuple(boxes), tuple(words), f"{title}, {history.caption}")


def lost_words(clocks: Numbers) -> str:
    """Return the shares of the clocks of all threads by state."""
    sums = clocks.sum(axis=0)
    whole = max(1, int(sums.sum()))
    parts = (f"{_WORDS[state]} {100 * int(sums[n]) / whole:.1f} %" for n, state in enumerate(THREAD_STATES))
    return f"Of the clocks of all threads: {', '.join(parts)}."


def _steps(values: Numbers) -> Numbers:
    """Return the color of each value, from the least to the most."""
    least, most = int(values.min()), int(values.max())
    return (values - least) * (HEAT_STEPS - 1) // max(1, most - least)


def _cells(values: Numbers, clocks: Numbers, place: tuple[int, int, int]) -> Iterator[HistoryBox]:
    """Yield a box for threads side by side of one color; for each thread where there are few, with what it did."""
    left, wide, cell = place
    steps, titled = _steps(values).tolist(), len(values) <= _TITLED
    first = 0
    for thread in range(1, len(steps) + 1):
        joined = thread < len(steps) and thread % wide and not titled and steps[thread] == steps[first]
        if joined:
            continue
        x, y = left + first % wide * cell, _TOP + first // wide * cell
        title = _title(first, clocks) if titled else ""
        yield HistoryBox(x, y, (thread - first) * cell, cell, f"heat{steps[first]}", title)
        first = thread


def _title(thread: int, clocks: Numbers) -> str:
    parts = (f"{_WORDS[state]} {clocks[thread, n]:,}" for n, state in enumerate(THREAD_STATES))
    return f"thread {thread}: {', '.join(parts)}"


def _ramp(left: int, top: int) -> Iterator[HistoryBox]:
    for step in range(HEAT_STEPS):
        yield HistoryBox(left + step * 16, top, 16, _RAMP, f"heat{step}")


def _ends(values: Numbers, left: int, y: int) -> Iterator[HistoryWords]:
    """Yield the numbers beneath a ramp: the least, the middle, the most."""
    least, most = int(values.min()), int(values.max())
    yield HistoryWords(left, y, f"{least:,}")
    if most > least:
        yield HistoryWords(left + 8 * HEAT_STEPS, y, f"{(least + most) // 2:,}", "middle")
        yield HistoryWords(left + 16 * HEAT_STEPS, y, f"{most:,}", "end")
