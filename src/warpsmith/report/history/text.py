"""A run of a machine with clocks as text: clocks by state, ALUs, caches, and the first clocks of each slot.

#  active: an instruction is issued, or still taken in      m  waits for memory or the sampler
d  waits for the result of an ALU                           r  ready, and not issued       .  no wave
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.report.history.model import History
from warpsmith.report.words import Speech
from warpsmith.simt.clocks.model import CACHES, STATES, SlotState

__all__ = ["history_text"]

_LETTERS: Final = {"empty": ".", "active": "#", "memory": "m", "dependency": "d", "ready": "r"}


def _state_names(words: Speech) -> dict[SlotState, str]:
    return {
        "active": "active", "memory": "stalled: memory", "dependency": "stalled: dependency",
        "ready": "ready, not issued", "empty": f"no {words.one('warp')}",
    }  # fmt: skip


def history_text(history: History, width: int = 100) -> str:
    """Return a run as text, in lines of at most `width` letters."""
    parts = [_head(history), *_strips(history, width), *_states(history), *_caches(history)]
    return "\n".join(parts)


def _head(history: History) -> str:
    totals, machine, words = history.run.totals, history.machine, history.words
    lanes = totals.instructions * machine.width
    per_clock = totals.instructions / max(1, totals.clocks)
    alus = totals.alu_clocks / max(1, totals.clocks * machine.alus * machine.cores)
    return (
        f"{history.title}: {totals.clocks:,} clocks, {totals.instructions:,} instructions ({per_clock:.2f} a clock)\n"
        f"{words.many('lane')} active {_percent(totals.lane_instructions, lanes)} of issued   "
        f"{words.many('arithmetic unit')} busy {100 * alus:.1f} %   "
        f"{history.row_word}s {history.run.slots} a {words.one('core')}   DRAM {totals.dram_bytes:,} bytes\n"
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def _strips(history: History, width: int) -> Iterator[str]:
    """Yield clocks of each slot, from the first that is shown on."""
    first, end = history.shown or (0, history.clocks)
    shown = min(history.clocks, end, first + max(20, width - 16))
    for core in range(history.machine.cores):
        for slot in range(history.run.slots):
            own = (one for one in history.run.stretches if (one.core, one.slot) == (core, slot) and one.start < shown)
            strip = "".join(_LETTERS[one.state] * (min(one.end, shown) - max(one.start, first)) for one in own)
            name = f"{core}.{slot}" if history.machine.cores > 1 else str(slot)
            if strip:
                yield f"{history.row_word:<4} {name:<6} {strip}{'…' if shown < min(end, history.clocks) else ''}"
    if history.shown:
        yield f"clocks {first:,} to {shown - 1:,}"
    if history.run.stretches:
        no = f"no {history.words.one('warp')}"
        yield f"# active  m waits for memory  d waits for a result  r ready, not issued  . {no}\n"


def _states(history: History) -> Iterator[str]:
    totals = history.run.totals
    whole = sum(totals.slot_clocks)
    counts = dict(zip(STATES, totals.slot_clocks, strict=True))
    yield from _table(
        f"{history.row_word} clocks",
        [
            (word, f"{counts[state]:,}", _percent(counts[state], whole))
            for state, word in _state_names(history.words).items()
        ],
    )


def _caches(history: History) -> Iterator[str]:
    rows: Sequence[tuple[str, tuple[int, int, int]]] = list(zip(CACHES, history.run.totals.cache_events, strict=True))
    for name, (hits, misses, evictions) in rows:
        if hits or misses:
            rate = _percent(hits, hits + misses)
            yield f"{name:<8} {hits:,} hits, {misses:,} misses ({rate} hits), {evictions:,} evictions"


def _table(title: str, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    first, second = max(len(row[0]) for row in rows), max(len(row[1]) for row in rows)
    yield title
    for one, two, three in rows:
        yield f"{one:<{first}}  {two:>{second}}  {three:>7}"
