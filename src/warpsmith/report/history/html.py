"""A history as one HTML file that zooms: the runs of each slot travel in it, and are drawn by `history.js`.

Where a pixel is a clock or less, each lane is drawn; where it is more, the exact share of each state in the
pixel, by sums up to each run: so a history of a million runs is drawn in the time of its pixels.
"""

from __future__ import annotations

import json
from typing import Any

from warpsmith.report.history.colors import PAINTS
from warpsmith.report.history.model import History, line_of, state_words
from warpsmith.report.history.text import history_text
from warpsmith.report.pages.page import page
from warpsmith.simt.clocks.model import STATES

__all__ = ["history_data", "history_html"]


def history_html(history: History) -> str:
    """Return the report as one HTML document."""
    data = json.dumps(history_data(history), separators=(",", ":"))
    return page(
        "history/history.html",
        history=history,
        data=data,
        text=history_text(history),
        paints=PAINTS,
        states=state_words(history.words),
    )


def history_data(history: History) -> dict[str, Any]:
    """Return what the page draws: for each slot the starts of its runs, their states, masks (by number), instructions;
    the ALUs, each as starts, ends and slots; events of caches; the texts of instructions."""
    words = history.words
    masks: dict[int, int] = {}
    slots: dict[tuple[int, int], dict[str, list[int]]] = {}
    of_wave: dict[int, int] = {}
    for one in history.run.stretches:
        row = slots.setdefault((one.core, one.slot), {"start": [], "state": [], "mask": [], "index": [], "wave": []})
        row["start"].append(one.start)
        row["state"].append(STATES.index(one.state))
        row["mask"].append(masks.setdefault(one.mask, len(masks)))
        row["index"].append(one.index)
        row["wave"].append(one.wave)
        of_wave[one.wave] = one.slot
    alus: dict[tuple[int, int], dict[str, list[int]]] = {}
    for taken in history.run.alus:
        bar = alus.setdefault((taken.core, taken.alu), {"start": [], "end": [], "slot": []})
        bar["start"].append(taken.start)
        bar["end"].append(taken.end)
        bar["slot"].append(of_wave.get(taken.wave, 0))
    row_word = history.row_word
    return {
        "clocks": history.clocks,
        "shown": list(history.shown or (0, history.clocks)),
        "width": history.machine.width,
        "words": {"warp": words.one("warp"), "lane": words.one("lane")},
        "masks": [f"{mask:x}" for mask in masks],
        "slots": [
            {"name": f"{words.one('core')} {core} {row_word} {slot}", **row}
            for (core, slot), row in sorted(slots.items())
        ],
        "alus": [
            {"name": f"{words.one('core')} {core} {words.one('arithmetic unit')} {alu}", **bar}
            for (core, alu), bar in sorted(alus.items())
        ],
        "caches": [{"name": name, **row} for name, row in sorted(_caches(history).items())],
        "lines": [list(line_of(history, n)) for n in range(len(history.program.instructions))],
        "paints": {name: [paint.fill, paint.pattern, paint.ink] for name, paint in PAINTS.items()},
    }


def _caches(history: History) -> dict[str, dict[str, list[int]]]:
    """Return the events of each cache, in order of clocks."""
    caches: dict[str, dict[str, list[int]]] = {}
    for event in history.run.caches:
        name = event.cache if event.cache == "l2" else f"{history.words.one('core')} {event.core} {event.cache}"
        row = caches.setdefault(name, {"clock": [], "hits": [], "misses": [], "evictions": []})
        row["clock"].append(event.clock)
        row["hits"].append(event.hits)
        row["misses"].append(event.misses)
        row["evictions"].append(event.evictions)
    return caches
