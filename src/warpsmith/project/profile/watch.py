"""A source text that watches assumptions while it runs; every line stays the line that it was.

    for (i = 0; i < n; i++)           {WS_WATCH(3); for (i = 0; i < n; i++) {ws_next(3);
        b[idx[i]] = a[i];                 b[(*WS_VALUE(3, &(idx[i])))] = a[i];}}

Invariant: what the program computes and prints does not change: an element that is read or written is the same element,
evaluated once, and where it is. One process runs an assumption's loop many times: it is watched in each execution by
itself, since it needs to hold in each alone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from warpsmith.project.profile.instrument import Insert, apply_inserts
from warpsmith.project.profile.loop_text import LoopText, find_loops

__all__ = ["AssumptionWatch", "Observation", "WatchKind", "WatchedPlace", "read_seen", "watch_header", "watched_text"]

WatchKind = Literal["values", "ranges", "accesses", "condition"]

_HEAD: Final = 64
_MARK: Final = 0x7774
_FIELDS: Final = 8
_COUNTED: Final = re.compile(r"\b(?:collapse|ordered)\s*\(")
_UNTOUCHABLE: Final = re.compile(r"#\s*pragma\s+omp\s+atomic")


_MACROS: Final = {"values": "WS_VALUE({0}", "ranges": "WS_TOUCH({0}, {1}", "accesses": "WS_ACCESS({0}, {1}"}


class WatchedPlace(Struct, frozen=True):
    """An access that is watched: the offsets of its text; `side`: through which of the two pointers, or whether it
    writes."""

    start: int
    end: int
    side: int = 0


class AssumptionWatch(Struct, frozen=True):
    """One assumption of one loop: `start` is the offset of the loop's keyword.

    values: no two elements of a table are equal; ranges: what is touched through two pointers lies apart; accesses: no
    two iterations touch one element, one of them writing; condition: `text` holds where the loop is entered."""

    kind: WatchKind
    file: str
    start: int
    text: str
    spots: tuple[WatchedPlace, ...] = ()


class Observation(Struct, frozen=True):
    """What a run has shown of an assumption. `violated`: how often it did not hold; of the first time the iterations
    (-1: not known), the value, and the execution of the loop, from 1 on. `lost`: what was not looked at."""

    executions: int = 0
    seen: int = 0
    violated: int = 0
    first: int = -1
    second: int = -1
    value: int = 0
    execution: int = 0
    lost: int = 0

    def after(self, earlier: Observation) -> Observation:
        """Return what two processes have shown together; the witness is the first one's."""
        told = earlier if earlier.violated else self
        return Observation(
            self.executions + earlier.executions, self.seen + earlier.seen, self.violated + earlier.violated,
            told.first, told.second, told.value, told.execution, self.lost + earlier.lost,
        )  # fmt: skip


def watch_header(folder: str, watches: int) -> str:
    """Return the header in front of every watching file; what is seen goes to files in `folder`."""
    quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
    text = files("warpsmith.project.profile").joinpath("watch_runtime.h").read_text("utf-8")
    return f'#define WS_WATCH_FOLDER "{quoted}"\n#define WS_WATCHES {max(1, watches)}\n{text}'


def watched_text(text: str, header: str, watches: Sequence[tuple[int, AssumptionWatch]]) -> tuple[str, frozenset[int]]:
    """Return `text` with the assumptions of its loops watched, each under its number, and the numbers of those that
    are; `header` is the path to include. A loop whose text cannot be changed is not watched."""
    loops = {loop.start: loop for loop in find_loops(text)}
    inserts: list[Insert] = []
    done: set[int] = set()
    for number, watch in watches:
        loop = loops.get(watch.start)
        if loop is not None and not loop.refused and not _UNTOUCHABLE.search(text[loop.start : loop.end]):
            inserts += _inserts(text, loop, number, watch)
            done.add(number)
    made = apply_inserts(text, inserts)
    start = 3 if text.startswith("\xef\xbb\xbf") else 0
    return (f'{made[:start]}#include "{header}"\n#line 1\n{made[start:]}' if done else text), frozenset(done)


def _inserts(text: str, loop: LoopText, number: int, watch: AssumptionWatch) -> Iterator[Insert]:
    """Yield what is put in for one assumption: what closes at a place stands before what opens there."""
    enter = f"{{ws_hold({number}, ({watch.text}) != 0); " if watch.kind == "condition" else "{"
    enter += f"WS_WATCH({number});"
    if loop.before < loop.start:
        line = text.rfind("\n", 0, loop.before) + 1
        yield Insert(line, (1, loop.start * 2), f"{enter}\n#line {text.count(chr(10), 0, line) + 1}\n")
    else:
        yield Insert(loop.start, (1, loop.start * 2), f"{enter} ")
    yield Insert(loop.end, (0, -loop.start * 2 + 1), "}")
    if not any(_COUNTED.search(pragma) for pragma in loop.pragmas):
        yield Insert(loop.body[0], (1, loop.start * 2), f"{{ws_next({number});" + (" " if loop.kind == "do" else ""))
        yield Insert(loop.body[1], (0, -loop.start * 2), "}")
    for spot in watch.spots:
        yield Insert(spot.start, (2, -spot.end), f"(*{_MACROS[watch.kind].format(number, spot.side)}, &(")
        yield Insert(spot.end, (-1, -spot.start), ")))")


def read_seen(paths: Iterable[Path], watches: int) -> list[Observation]:
    """Return what the files of a run tell of so many assumptions, in the order of their numbers; a file that its
    process had not yet marked as ready is left out."""
    found = [Observation()] * watches
    for path in paths:
        data = path.read_bytes()
        if len(data) < _HEAD + 8 * _FIELDS * watches or struct.unpack_from("<q", data)[0] != _MARK:
            continue
        for number in range(watches):
            row = struct.unpack_from(f"<{_FIELDS}q", data, _HEAD + 8 * _FIELDS * number)
            found[number] = Observation(*row).after(found[number])
    return found
