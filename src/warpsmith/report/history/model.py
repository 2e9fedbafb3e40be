"""The history of a run, as reports show it.

x is time, y the lanes of each slot of each core: white active, black masked off, blue waits for a result, red could
issue and did not, grey no wave there. Beneath each core what its ALUs took, by wave, and what happened in its caches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, get_args

from msgspec import Struct

from warpsmith.machine.simt.parameters import ClockMachine
from warpsmith.report.words import DOCUMENT, Speech
from warpsmith.simt.clocks.model import ClockRun, Stretch
from warpsmith.simt.mask.disassembler import instruction_text
from warpsmith.simt.mask.nodes import MaskProgram

__all__ = ["LANE_STATES", "History", "LaneState", "lane_runs", "line_of", "shares", "state_words"]

LaneState = Literal["active", "masked", "stalled", "ready", "empty"]
LANE_STATES: Final[tuple[LaneState, ...]] = get_args(LaneState)


def state_words(words: Speech) -> dict[LaneState, tuple[str, str]]:
    """Return what each state of a lane is called, and what it means."""
    warp, lane = words.one("warp"), words.one("lane")
    return {
        "active": ("active", f"an instruction counts for the {lane}"),
        "masked": ("masked off", f"the {warp} goes on, the {lane} does not"),
        "stalled": ("stalled", "waits for memory or for a result"),
        "ready": ("ready, not issued", "could go on; it is not its turn"),
        "empty": (f"no {warp}", "the slot has nothing to do"),
    }


_OF_SLOT: Final[dict[str, LaneState]] = {
    "active": "active", "memory": "stalled", "dependency": "stalled", "ready": "ready", "empty": "empty",
}  # fmt: skip


class History(Struct, frozen=True, eq=False):
    """A run with its program, the machine, and what is said above its picture; `shown`: the first clock that is drawn,
    and the one behind the last, None for all, or as many as a picture has room for; `words`: of whom it speaks."""

    title: str
    caption: str
    program: MaskProgram
    machine: ClockMachine
    run: ClockRun
    shown: tuple[int, int] | None = None
    words: Speech = DOCUMENT

    @property
    def clocks(self) -> int:
        """How many clocks it has."""
        return self.run.totals.clocks

    @property
    def row_word(self) -> str:
        """What a row is called: a slot of a core, or a row of formed waves."""
        return "row" if self.machine.forms else "slot"


def lane_runs(stretch: Stretch, width: int) -> Iterator[tuple[int, int, LaneState]]:
    """Yield first lane, count and state of lanes side by side that are in one state."""
    state = _OF_SLOT[stretch.state]
    if state == "empty":
        yield 0, width, state
        return
    first = 0
    for lane in range(1, width + 1):
        if lane == width or (stretch.mask >> lane & 1) != (stretch.mask >> first & 1):
            yield first, lane - first, state if stretch.mask >> first & 1 else "masked"
            first = lane


def line_of(history: History, index: int) -> tuple[int, str]:
    """Return the line and the text of an instruction."""
    if index < 0:
        return 0, ""
    instruction = history.program.instructions[index]
    return instruction.span.line, instruction_text(instruction)


def shares(history: History) -> dict[LaneState, int]:
    """Return the clocks of all lanes of all slots by state."""
    found: dict[LaneState, int] = dict.fromkeys(("active", "masked", "stalled", "ready", "empty"), 0)
    for stretch in history.run.stretches:
        for _, count, state in lane_runs(stretch, history.machine.width):
            found[state] += count * (stretch.end - stretch.start)
    return found
