"""Clocks of each thread as bars, a row for each of some runs: x thread, y clocks, one scale for all.

width 8   ▂▅▂▇▅▅…      a bar: active at the bottom, then masked off, stalled, ready and not issued
width 64  ▇▇▇▇▇▇…
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.report.history.layout import HistoryBox, HistoryDrawing, HistoryWords
from warpsmith.report.history.model import state_words
from warpsmith.report.words import DOCUMENT
from warpsmith.simt.clocks.model import THREAD_STATES, ThreadClocks

__all__ = ["MOST_BARS", "draw_thread_bars"]

MOST_BARS: Final = 1024
_TITLED: Final = 128
_GUTTER, _TOP, _HIGH, _GAP, _LINE = 150, 50, 72, 12, 20


def draw_thread_bars(title: str, caption: str, runs: Sequence[tuple[str, ThreadClocks]]) -> HistoryDrawing:
    """Return the picture of some runs, each with its name; of many threads the first ones."""
    count = min(MOST_BARS, max(len(clocks) for _, clocks in runs))
    most = max(1, *(int(clocks.sum(axis=1).max()) for _, clocks in runs))
    bar = max(1, min(12, 800 // count))
    boxes: list[HistoryBox] = []
    words = [HistoryWords(8, 20, title), HistoryWords(8, 38, caption)]
    y = _TOP
    for name, clocks in runs:
        boxes.append(HistoryBox(_GUTTER, y, count * bar, _HIGH, "empty"))
        boxes += _bars(clocks[:count], (bar, y, most))
        words += _beside(name, clocks, y, most)
        y += _HIGH + _GAP
    for thread in range(0, count + 1, max(1, count // 8)):
        words.append(HistoryWords(_GUTTER + thread * bar, y + 4, str(thread), "middle"))
    words.append(HistoryWords(_GUTTER - 14, y + 4, "thread", "end"))
    y += 20
    names = state_words(DOCUMENT)
    for n, state in enumerate(THREAD_STATES):
        x, top = 8 + 440 * (n // 2), y + _LINE * (n % 2)
        boxes += (HistoryBox(x, top, 20, 14, "edge"), HistoryBox(x + 1, top + 1, 18, 12, state))
        words.append(HistoryWords(x + 28, top + 11, f"{names[state][0]}: {names[state][1]}"))
    wide = max(_GUTTER + count * bar + 24, 900)
    return HistoryDrawing(wide, y + 2 * _LINE + 4, tuple(boxes), tuple(words), f"{title}: {caption}")


def _bars(clocks: ThreadClocks, place: tuple[int, int, int]) -> Iterator[HistoryBox]:
    """Yield the parts of bars; threads side by side with equal bars are one."""
    bar, top, most = place
    first = 0
    rows = clocks.tolist()
    for thread in range(1, len(rows) + 1):
        if thread < len(rows) and rows[thread] == rows[first]:
            continue
        low = float(top + _HIGH)
        for state, count in zip(THREAD_STATES, rows[first], strict=True):
            high = _HIGH * count / most
            low -= high
            if count:
                named = f"thread {first}" + (f" to {thread - 1}" if thread - first > 1 else "")
                title = f"{named}: {state_words(DOCUMENT)[state][0]} {count:,} clocks" if len(rows) <= _TITLED else ""
                yield HistoryBox(_GUTTER + first * bar, low, (thread - first) * bar, high, state, title)
        first = thread


def _beside(name: str, clocks: ThreadClocks, y: int, most: int) -> Iterator[HistoryWords]:
    sums = clocks.sum(axis=0)
    share = 100 * int(sums[0]) / max(1, int(sums.sum()))
    yield HistoryWords(_GUTTER - 14, y + 14, name, "end")
    yield HistoryWords(_GUTTER - 14, y + 34, f"active {share:.0f} %", "end")
    yield HistoryWords(_GUTTER - 14, y + 54, f"top: {most:,}", "end")
