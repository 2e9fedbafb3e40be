"""The loop profile of a program, from one instrumented run.

counters     64 bytes of head (mark, ticks a second), then for every thread a row a loop: entries, iterations, ticks,
             ticks without inner loops; a file for every process
Profile      the sums of all of them, by the loop's place in the user's text
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

__all__ = ["CountedLoop", "LoopProfile", "Profile", "UncountedLoop", "profile_of", "read_counters"]

_HEAD: Final = 64
_MARK: Final = 0x7773
_COLUMNS: Final = 4


class LoopProfile(Struct, frozen=True):
    """One loop, by the absolute path of its file and its line: how often it was entered, how many iterations that made
    in all, the seconds in it (inner loops and calls included), and the bytes that it touched (an estimate; 0: none was
    made). `self_seconds`: without the loops inside it, those in functions that it calls included. Seconds of loops that
    several threads run at the same time are added up. Loops that are entered often are timed by samples."""

    file: str
    line: int
    entries: int
    iterations: int
    seconds: float
    bytes: int
    self_seconds: float = 0.0
    column: int = 0


class UncountedLoop(Struct, frozen=True):
    """A loop that the run says nothing of, and why."""

    file: str
    line: int
    reason: str


class CountedLoop(Struct, frozen=True):
    """Where the loop with a number stands; `around` is the number of one that lasts at least as long, -1 for none."""

    file: str
    line: int
    column: int
    around: int = -1


class Profile(Struct, frozen=True):
    """The loops of a run by (absolute file, line), and how long all of it took; `exact` has the loops of a line apart.
    `status`: how the program ended (0: well); `uncounted`: the loops of which nothing is known."""

    loops: Mapping[tuple[str, int], LoopProfile]
    total_seconds: float
    status: int = 0
    uncounted: tuple[UncountedLoop, ...] = field(default=())
    exact: Mapping[tuple[str, int, int], LoopProfile] = field(default_factory=dict)

    @property
    def busy_seconds(self) -> float:
        """What shares are shares of: how long the run took, or more where several threads ran loops at once."""
        return max(self.total_seconds, sum(loop.self_seconds for loop in self.exact.values()))

    def at(self, file: str, line: int, column: int) -> LoopProfile | None:
        """Return the loop whose keyword stands there, else all of its line."""
        return self.exact.get((file, line, column)) or self.loops.get((file, line))


def read_counters(paths: Iterable[Path], places: Sequence[CountedLoop]) -> list[LoopProfile]:
    """Return what the files of counters tell of the loops at `places`, which stand in the order of their numbers.

    A file that its process had not yet marked as ready is left out.
    """
    width = len(places) * _COLUMNS
    totals = [0.0] * width
    for path in paths:
        data = path.read_bytes()
        mark, frequency = struct.unpack_from("<qq", data) if len(data) >= _HEAD else (0, 0)
        if mark != _MARK or frequency <= 0 or not places:
            continue
        rows = array("q", data[_HEAD:])
        for at in range(width):
            totals[at] += sum(rows[at::width]) / (1.0 if at % _COLUMNS < 2 else frequency)
    found: list[LoopProfile] = []
    for number, place in enumerate(places):
        entries, iterations, seconds, own = totals[number * _COLUMNS : (number + 1) * _COLUMNS]
        # what is timed by samples is not longer than what is around it
        longest = min(seconds, found[place.around].seconds) if place.around >= 0 else seconds
        counts = int(entries), int(iterations), longest, 0, min(longest, max(0.0, own))
        found.append(LoopProfile(place.file, place.line, *counts, place.column))
    return found


def profile_of(
    loops: Sequence[LoopProfile], seconds: float, status: int = 0, uncounted: tuple[UncountedLoop, ...] = ()
) -> Profile:
    """Return the loops of a run by their places; those of one line are added up, their times are not."""
    lines: dict[tuple[str, int], LoopProfile] = {}
    for loop in loops:
        known = lines.get((loop.file, loop.line))
        if known is not None:
            loop = replace(
                loop, entries=loop.entries + known.entries, iterations=loop.iterations + known.iterations,
                seconds=max(loop.seconds, known.seconds), bytes=max(loop.bytes, known.bytes),
                self_seconds=max(loop.self_seconds, known.self_seconds), column=known.column,
            )  # fmt: skip
        lines[loop.file, loop.line] = loop
    exact = {(loop.file, loop.line, loop.column): loop for loop in loops}
    return Profile(lines, seconds, status, uncounted, exact)
