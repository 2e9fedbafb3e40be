"""Where each part of a history's picture stands, in pixels: rectangles and words, which svg.py and png.py draw alike.

    title, caption
    gutter │ core 0   slot 0  ▒▒▒▒▒▒▒▒      a rectangle for lanes side by side, as long as they stay as they are
           │          slot 1  ▒▒▒▒▒▒▒▒
           │          ALU 0   ▬▬ ▬▬▬        the color of the slot whose wave it takes
           │          l1      ▁▂ ▁          hits above, then misses, evictions: as high as there are many
           │ ticks of clocks; what colors mean, in two columns; which clocks these are

Of a long history the part is drawn that `History.shown` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from warpsmith.report.history.model import History, lane_runs, line_of, state_words

__all__ = ["MOST_CLOCKS", "HistoryBox", "HistoryDrawing", "HistoryWords", "draw_history"]

MOST_CLOCKS: Final = 2000
_GUTTER, _TOP, _GAP, _BAR, _CACHE, _LINE = 110, 50, 6, 12, 24, 20
_WIDEST: Final = 1000
_SLOT_COLORS: Final = ("slot0", "slot1", "slot2", "slot3", "slot4", "slot5", "slot6", "slot7")


class HistoryBox(Struct, frozen=True):
    """A rectangle: what it shows (a state of lanes, a slot, an event, `frame`), and its title."""

    x: float
    y: float
    wide: float
    high: float
    kind: str
    title: str = ""


class HistoryWords(Struct, frozen=True):
    """Speech at the base line `y`."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"


class HistoryDrawing(Struct, frozen=True):
    """All of a picture."""

    wide: int
    high: int
    boxes: tuple[HistoryBox, ...]
    words: tuple[HistoryWords, ...]
    title: str


class _Scale(Struct, frozen=True):
    """Clocks `start` up to `end`, so many pixels each; so many pixels a lane."""

    start: int
    end: int
    clock: float
    lane: int

    def x(self, clock: int) -> float:
        return _GUTTER + (min(max(clock, self.start), self.end) - self.start) * self.clock

    def box(self, times: tuple[int, int], rows: tuple[float, float], kind: str, title: str = "") -> HistoryBox:
        left, right = self.x(times[0]), self.x(times[1])
        return HistoryBox(left, rows[0], right - left, rows[1], kind, title)


def draw_history(history: History) -> HistoryDrawing:
    """Return the picture of the clocks of a history that are shown, the first ones where nothing is said."""
    start, end = history.shown or (0, MOST_CLOCKS)
    last = min(history.clocks, end)
    count = max(1, last - start)
    clock = max(1, min(max(12, min(48, 760 // count)), _WIDEST // count))
    scale = _Scale(start, max(last, start + 1), clock, max(1, min(6, 160 // history.machine.width)))
    boxes: list[HistoryBox] = []
    words = [HistoryWords(8, 20, history.title), HistoryWords(8, 38, history.caption)]
    y = float(_TOP)
    for core in range(history.machine.cores):
        y = _core(history, core, scale, y, (boxes, words))
    words += _ticks(scale, y)
    y = _legend(history, y + 26, (boxes, words))
    for line in _remarks(history, start, last):
        words.append(HistoryWords(8, y + 11, line))
        y += _LINE
    wide = max(_GUTTER + count * clock + 12, 900)
    return HistoryDrawing(wide, int(y) + 4, tuple(boxes), tuple(words), f"{history.title}: {history.caption}")


_Parts = tuple[list[HistoryBox], list[HistoryWords]]


def _core(history: History, core: int, scale: _Scale, top: float, parts: _Parts) -> float:
    """Add the slots, ALUs and caches of a core; return where the next one begins."""
    boxes, words = parts
    width, y = history.machine.width, top
    words_of, states = history.words, state_words(history.words)
    prefix = f"{words_of.one('core')} {core} " if history.machine.cores > 1 else ""
    high = width * scale.lane
    for slot in range(history.run.slots):
        own = [one for one in history.run.stretches if (one.core, one.slot) == (core, slot)]
        if all(one.wave < 0 for one in own):
            continue
        for stretch in own:
            if stretch.end <= scale.start or stretch.start >= scale.end:
                continue
            line, text = line_of(history, stretch.index)
            wave = f"{words_of.one('warp')} {stretch.wave}"
            title = f"clocks {stretch.start} to {stretch.end - 1}: {wave}, line {line}: {text}"
            for first, count, state in lane_runs(stretch, width):
                rows = (y + first * scale.lane, float(count * scale.lane))
                name = states[state][0]
                what = name if state == "empty" else f"{name}, {title}"
                boxes.append(scale.box((stretch.start, stretch.end), rows, state, what))
        boxes.append(HistoryBox(_GUTTER - 8, y, 5, high, _SLOT_COLORS[slot % len(_SLOT_COLORS)]))
        words.append(HistoryWords(_GUTTER - 14, y + high / 2 + 4, f"{prefix}{history.row_word} {slot}", "end"))
        y += high + _GAP
    y = _alus(history, core, scale, y, parts)
    for name in ("l1", "sampler", *(("l2",) if core == 0 else ())):
        y = _cache(history, (core, name), scale, y, parts)
    return y + 2 * _GAP


def _alus(history: History, core: int, scale: _Scale, top: float, parts: _Parts) -> float:
    boxes, words = parts
    unit, warp = history.words.one("arithmetic unit"), history.words.one("warp")
    slots = {one.wave: one.slot for one in history.run.stretches if one.core == core and one.wave >= 0}
    for alu in range(history.machine.alus):
        y = top + alu * (_BAR + 3)
        boxes.append(scale.box((scale.start, scale.end), (y, _BAR), "empty", f"{unit} {alu}: nothing"))
        words.append(HistoryWords(_GUTTER - 14, y + 10, f"{unit} {alu}", "end"))
        for one in history.run.alus:
            if (one.core, one.alu) == (core, alu) and one.end > scale.start and one.start < scale.end:
                kind = _SLOT_COLORS[slots.get(one.wave, 0) % len(_SLOT_COLORS)]
                boxes.append(scale.box((one.start, one.end), (y, _BAR), kind, f"{unit} {alu}: {warp} {one.wave}"))
    return top + history.machine.alus * (_BAR + 3) + _GAP


def _cache(history: History, which: tuple[int, str], scale: _Scale, top: float, parts: _Parts) -> float:
    """Add the bar of a cache, if anything happens in it in these clocks; that of l2 has the events of all cores."""
    core, name = which
    boxes, words = parts
    own: dict[int, list[int]] = {}
    for one in history.run.caches:
        shown = scale.start <= one.clock < scale.end
        if shown and one.cache == name and (name == "l2" or one.core == core):
            counts = own.setdefault(one.clock, [0, 0, 0])
            for n, count in enumerate((one.evictions, one.misses, one.hits)):
                counts[n] += count
    if not own:
        return top
    most = max(sum(counts) for counts in own.values())
    boxes.append(scale.box((scale.start, scale.end), (top, _CACHE), "frame"))
    words.append(HistoryWords(_GUTTER - 14, top + 16, name, "end"))
    for clock, counts in own.items():
        y = top + _CACHE
        for kind, count in zip(("evictions", "misses", "hits"), counts, strict=True):
            high = _CACHE * count / most
            y -= high
            if count:
                title = f"clock {clock}: {count} {kind}"
                boxes.append(scale.box((clock, clock + 1), (y, high), kind, title))
    return top + _CACHE + _GAP


def _ticks(scale: _Scale, y: float) -> Iterator[HistoryWords]:
    least = 60 / scale.clock
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if size * 10**power >= least)
    first = -(-scale.start // step) * step
    for clock in range(first, scale.end + 1, step):
        yield HistoryWords(scale.x(clock), y + 10, str(clock), "middle")


def _legend_items(history: History) -> Iterator[tuple[str, str]]:
    words, lane = history.words, history.words.one("lane")
    for kind, (text, meaning) in state_words(words).items():
        free = kind == "masked" and history.machine.forms
        yield kind, f"free {lane}: of the {words.one('warp')} that is formed there" if free else f"{text}: {meaning}"
    yield "slot0", f"in the row of {words.one('arithmetic unit')} 0, 1 …: whose {words.one('warp')} it takes"
    if history.run.caches:
        yield "hits", "cache: lines that it has"
        yield "misses", "cache: lines that it asks for"
        yield "evictions", "cache: lines that go for them"


def _legend(history: History, top: float, parts: _Parts) -> float:
    """Add what colors mean; return where that ends."""
    boxes, words = parts
    items = list(_legend_items(history))
    rows = -(-len(items) // 2)
    for n, (kind, text) in enumerate(items):
        x, y = 8 + 440 * (n // rows), top + _LINE * (n % rows)
        boxes += (HistoryBox(x, y, 20, 14, "edge"), HistoryBox(x + 1, y + 1, 18, 12, kind))
        words.append(HistoryWords(x + 28, y + 11, text))
    return top + _LINE * rows + 6


def _remarks(history: History, start: int, end: int) -> list[str]:
    used = {(one.core, one.slot) for one in history.run.stretches if one.wave >= 0}
    idle = history.run.slots * history.machine.cores - len(used)
    row, wave = history.row_word.title(), history.words.one("warp")
    shown = [f"{row}s that never had a {wave} are not drawn: {idle}."] if idle else []
    whole = start == 0 and end == history.clocks
    return shown if whole else [*shown, f"Clocks {start:,} to {end - 1:,} of {history.clocks:,}."]
