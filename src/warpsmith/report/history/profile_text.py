"""Lost lane clocks by line as text and as JSON: lines that lost most, then what masked lanes off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.report.history.model import History, line_of
from warpsmith.report.history.profile import LaneProfile, profile_of
from warpsmith.report.json_parts import Json

__all__ = ["profile_json", "profile_text"]

_HEAD: Final[tuple[str, ...]] = (
    "line",
    "lost",
    "share",
    "masked off",
    "memory",
    "result",
    "ready",
    "active",
    "instruction",
)


def profile_text(history: History) -> str:
    """Return the profile of a run: lines by lost lane clocks, and what lanes were masked off by."""
    profile = profile_of(history)
    return "\n".join([*_lines(history, profile), "", *_parted(history, profile)]).rstrip()


def _lines(history: History, profile: LaneProfile) -> Iterator[str]:
    words, rows = history.words, [_HEAD]
    lane, lanes, warps = words.one("lane"), words.many("lane"), words.many("warp")
    for row in profile.rows:
        line, text = line_of(history, row.index)
        losses = (row.masked, row.memory, row.dependency, row.ready, row.active)
        rows.append((str(line), f"{row.lost:,}", _share(row.lost, profile.lost), *(f"{n:,}" for n in losses), text))
    sums = [sum(column) for column in zip(*((r.masked, r.memory, r.dependency, r.ready, r.active)
                                            for r in profile.rows), strict=True)] or [0] * 5  # fmt: skip
    rows.append(("all", f"{profile.lost:,}", _share(profile.lost, profile.lost), *(f"{n:,}" for n in sums), ""))
    yield from _table(rows)
    yield ""
    yield f"lost      clocks of {lanes} of {warps} that are there, in which no instruction counted for the {lane}:"
    yield "          masked off, waiting for memory, waiting for a result, ready and not issued"
    if history.machine.forms:
        yield f"          masked off: no {words.one('thread')} was put into the {lane}"
    if profile.unfilled:
        yield f"unfilled  {profile.unfilled:,} more, of {lanes} that no {words.one('thread')} has"


def _parted(history: History, profile: LaneProfile) -> Iterator[str]:
    if not profile.parted:
        return
    whole = sum(one.masked for one in profile.parted)
    rows: list[tuple[str, ...]] = [("line", "masked off", "share", f"{history.words.many('lane')} parted by")]
    for one in profile.parted:
        line, text = line_of(history, one.index)
        rows.append((str(line), f"{one.masked:,}", _share(one.masked, whole), text))
    yield from _table(rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows, numbers to the right, the last column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *cells, row[-1]]).rstrip()


def profile_json(history: History) -> Json:
    """Return the profile as the values of JSON."""
    profile = profile_of(history)
    lines = []
    for row in profile.rows:
        line, text = line_of(history, row.index)
        lines.append({
            "line": line, "instruction": text, "lost": row.lost, "masked": row.masked, "memory": row.memory,
            "dependency": row.dependency, "ready": row.ready, "active": row.active,
        })  # fmt: skip
    parted = [
        {"line": line, "instruction": text, "masked": one.masked}
        for one in profile.parted
        for line, text in [line_of(history, one.index)]
    ]
    return {"lost": profile.lost, "active": profile.active, "unfilled": profile.unfilled, "lines": lines,
            "parted": parted}  # fmt: skip
