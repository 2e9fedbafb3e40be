"""Instructions over clocks, a row for each that is issued: how long its unit is taken, and for which lanes it counts.

    wave 0, line 2: mul.u32 r2.x …   │██
    wave 0, line 3: ld r0.x, t0 …    │  ▓▓█            waits for r2, then is issued
    wave 0, line 7: div.f32 r0.x …   │       ████      white for lanes for which it counts, black for the others

A bar goes from the clock in which the instruction is issued until its unit is free; before it, what its wave waited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from msgspec import Struct

from warpsmith.report.history.layout import HistoryBox, HistoryDrawing, HistoryWords
from warpsmith.report.history.model import History, LaneState, lane_runs, line_of, state_words
from warpsmith.simt.clocks.model import AluStretch, Stretch

__all__ = ["IssuedRow", "draw_pipeline", "issued_rows"]

_TOP, _GAP, _LETTER, _MOST_ROWS = 76, 5, 6.6, 80
_WIDEST: Final = 900
_SHOWN: Final[tuple[LaneState, ...]] = ("active", "masked", "stalled", "ready")


class IssuedRow(Struct, frozen=True):
    """An instruction that is issued: in which stretch of its slot, what its wave waited before, until when its unit is
    taken, and which unit that is, "" for none."""

    issued: Stretch
    waits: tuple[Stretch, ...]
    end: int
    unit: str


def issued_rows(history: History) -> list[IssuedRow]:
    """Return the instructions that are issued in the clocks that are shown, in order of clocks; of those that a wave
    issues in one clock, the first."""
    start, end = history.shown or (0, history.clocks)
    alus = {(one.core, one.wave, one.start): one for one in history.run.alus}
    waves: dict[int, list[Stretch]] = defaultdict(list)
    for one in sorted(history.run.stretches, key=attrgetter("start")):
        if one.wave >= 0:
            waves[one.wave].append(one)
    found = []
    for stretches in waves.values():
        waits: list[Stretch] = []
        for one in stretches:
            if one.state != "active":
                waits.append(one)
                continue
            if start <= one.start < end:
                found.append(_row(history, one, tuple(waits), alus.get((one.core, one.wave, one.start))))
            waits = []
    return sorted(found, key=attrgetter("issued.start", "issued.core", "issued.slot"))


def _row(history: History, one: Stretch, waits: tuple[Stretch, ...], taken: AluStretch | None) -> IssuedRow:
    if taken is not None:
        name = f"{history.words.one('arithmetic unit')} {taken.alu}"
        return IssuedRow(one, waits, max(one.end, taken.end), name)
    unit = history.program.instructions[one.index].op.unit
    return IssuedRow(one, waits, one.end, "" if unit == "control" else unit)


class _Scale(Struct, frozen=True):
    """Pixels: where clock `first` is, how wide a clock is, how high a bar."""

    left: float
    first: int
    clock: float
    high: float

    def box(self, times: tuple[int, int], rows: tuple[float, float], kind: str, title: str = "") -> HistoryBox:
        x = self.left + (max(times[0], self.first) - self.first) * self.clock
        wide = (times[1] - max(times[0], self.first)) * self.clock
        return HistoryBox(x, rows[0], wide, rows[1], kind, title)


def draw_pipeline(history: History) -> HistoryDrawing:
    """Return the picture of instructions over clocks, wave by wave, of the first 80 that are shown."""
    rows = issued_rows(history)
    shown = sorted(rows[:_MOST_ROWS], key=attrgetter("issued.core", "issued.wave", "issued.start"))
    texts = [_text(history, row) for row in shown]
    first = min((row.issued.start for row in shown), default=0)
    first = min([first, *(wait.start for row in shown for wait in row.waits if wait.end > first)])
    last = max((row.end for row in shown), default=first + 1)
    left = 16 + _LETTER * max(map(len, texts), default=10)
    high = float(max(14, min(32, 3 * history.machine.width)))
    scale = _Scale(left, first, max(2.0, min(30.0, _WIDEST / (last - first))), high)
    boxes: list[HistoryBox] = []
    words = [HistoryWords(8, 20, history.title), HistoryWords(8, 38, history.caption)]
    words += _clocks(scale, last)
    y = float(_TOP)
    for number, (row, text) in enumerate(zip(shown, texts, strict=True)):
        if number % 2 == 0:
            boxes.append(scale.box((first, last), (y - _GAP / 2, high + _GAP), "frame"))
        boxes += _bar(history, row, scale, y)
        words.append(HistoryWords(8, y + high / 2 + 4, text))
        words.append(HistoryWords(left + (row.end - first) * scale.clock + 6, y + high / 2 + 4, row.unit))
        y += high + _GAP
    y = _legend(history, y + 8, (boxes, words))
    if len(rows) > len(shown):
        words.append(HistoryWords(8, y + 11, f"{len(rows) - len(shown):,} more instructions are not drawn."))
        y += 20
    wide = max(left + (last - first) * scale.clock + 80, 8 + 6.2 * len(history.caption), 860)
    return HistoryDrawing(int(wide), int(y) + 8, tuple(boxes), tuple(words), f"{history.title}: {history.caption}")


def _text(history: History, row: IssuedRow) -> str:
    machine = history.machine
    line, text = line_of(history, row.issued.index)
    more = " …" if machine.threading == "interleaved" and machine.issue > 1 else ""
    return f"{history.words.one('warp')} {row.issued.wave}, line {line}: {text}{more}"


def _clocks(scale: _Scale, last: int) -> Iterator[HistoryWords]:
    """Yield numbers of clocks, above the middle of each."""
    step = next(n for power in range(8) for n in (10**power, 2 * 10**power, 5 * 10**power) if n * scale.clock >= 24)
    yield HistoryWords(scale.left - 10, _TOP - 10, "clock", "end")
    for clock in range(-(-scale.first // step) * step, last, step):
        x = scale.left + (clock - scale.first + 0.5) * scale.clock
        yield HistoryWords(x, _TOP - 10, str(clock), "middle")


def _bar(history: History, row: IssuedRow, scale: _Scale, y: float) -> Iterator[HistoryBox]:
    names = {"memory": "waits for memory", "dependency": "waits for a result", "ready": "ready, not issued"}
    for wait in row.waits:
        if wait.end > scale.first:
            kind = "ready" if wait.state == "ready" else "stalled"
            title = f"clocks {wait.start} to {wait.end - 1}: {names[wait.state]}"
            yield scale.box((wait.start, wait.end), (y + scale.high / 3, scale.high / 3), kind, title)
    times, width = (row.issued.start, row.end), history.machine.width
    whole = scale.box(times, (y, scale.high), "edge")
    yield whole
    title = f"clocks {times[0]} to {times[1] - 1}: {row.issued.mask.bit_count()} of {width}"
    lane = (scale.high - 2) / width
    for first, count, state in lane_runs(row.issued, width):
        top, size = y + 1 + first * lane, count * lane - (0.6 if width <= 8 else 0)
        yield HistoryBox(whole.x + 1, top, whole.wide - 2, size, state, f"{title}, {state}")


def _legend(history: History, top: float, parts: tuple[list[HistoryBox], list[HistoryWords]]) -> float:
    boxes, words = parts
    names = state_words(history.words)
    for n, kind in enumerate(_SHOWN):
        x, y = 8 + 440 * (n // 2), top + 20 * (n % 2)
        boxes += (HistoryBox(x, y, 20, 14, "edge"), HistoryBox(x + 1, y + 1, 18, 12, kind))
        words.append(HistoryWords(x + 28, y + 11, f"{names[kind][0]}: {names[kind][1]}"))
    lane = history.words.one("lane")
    words.append(
        HistoryWords(
            8, top + 51, f"A bar: from issue until its unit is free; a stripe for each {lane}, {lane} 0 on top."
        )
    )
    return top + 62
