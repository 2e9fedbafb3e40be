"""Answers about the lanes of a warp, in plain words that name the user's lines."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from warpsmith.base.source import Span, readable
from warpsmith.flows.stepping.conditions import Number, UnknownNameError, evaluate, names_in
from warpsmith.flows.stepping.turns import Parting, Place, StepPosition
from warpsmith.flows.stepping.values import LaneScope
from warpsmith.simt.meeting.waiting import is_grid_barrier
from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import Branch, Jump, Return

__all__ = [
    "HELP",
    "describe_groups",
    "describe_values",
    "explain_lane",
    "line_of",
    "name_lanes",
    "picture",
    "source_line",
]

HELP: Final = """\
next             go on until the warp is at another line, or other lanes are active
until LINE       go on until the warp comes to a line
continue         go on to the next breakpoint, or to the end
back             go back to where the warp stood before
print X [LANE]   what a variable, an element (out[3]) or an expression is: in each active lane, or in one
lanes            which lanes are active, and where the others are
why LANE         why a lane is inactive
where            the line, the warp, the step
break LINE[:X]   stop there as well, if X holds in an active lane
quit             leave"""
_SHOWN: Final = 8
_FEW: Final = 4
"""So many different values are told in a line each."""


def line_of(place: Place) -> int:
    """Return the line of an instruction; 0 where it is that of the one before: nobody wrote a jump."""
    span = place.span
    if span is None or isinstance(place, Jump):
        return 0
    return span.end_line if isinstance(place, Return) else span.line


def source_line(place: Place, line: int, kernel: Span | None) -> str:
    """Return the text of a line, as the user wrote it."""
    span = place.span or kernel
    return "" if span is None or not line else readable(span.file.line(line)).strip()


def name_lanes(lanes: Sequence[int]) -> str:
    """Return lanes as one names them.

    >>> name_lanes([0, 1, 2, 3, 7]), name_lanes([5])
    ('lanes 0-3, 7', 'lane 5')
    """
    parts: list[list[int]] = []
    for lane in sorted(lanes):
        if parts and lane == parts[-1][-1] + 1:
            parts[-1].append(lane)
        else:
            parts.append([lane])
    text = ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
    return f"lane{'' if len(lanes) == 1 else 's'} {text}"


def picture(threads: Mapping[int, Thread], active: Sequence[int], width: int) -> str:
    """Return a sign for each lane of a warp."""
    there = {lane: "." if thread.ended else "-" for lane, thread in threads.items()}
    there.update(dict.fromkeys(active, "#"))
    return "".join(there.get(lane, ".") for lane in range(width))


# --- where lanes are


def describe_groups(position: StepPosition) -> Iterator[str]:
    """Yield where the lanes of a warp are, those that are active first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for lane in position.warp.threads:
        groups[_place_in_words(position, lane)].append(lane)
    for place, lanes in groups.items():
        yield f"{name_lanes(lanes)}: {place}"


def _place_in_words(position: StepPosition, lane: int) -> str:
    """Return where a lane is."""
    thread = position.warp.threads[lane]
    if lane in position.lanes:
        return "active here"
    if thread.ended:
        last = position.warp.last.get(lane)
        return "ended" if last is None or not last.span else f"ended at line {line_of(last) or last.span.line}"
    if thread.waiting is not None:
        return _waits(thread)
    return f"at line {_line_ahead(thread)}"


def _waits(thread: Thread) -> str:
    """Return for whom a lane waits."""
    assert thread.waiting is not None
    where = "" if thread.waiting.span is None else f" at line {thread.waiting.span.line}"
    if thread.waiting.op == "barrier":
        return f"waits{where} until all threads of its block have come to the barrier"
    if is_grid_barrier(thread.waiting):
        return f"waits{where} until all threads of the grid have come to the barrier"
    return f"waits{where} for other lanes of its warp ({thread.waiting.op.replace('_', ' ')})"


def _line_ahead(thread: Thread) -> int:
    """Return the line of what a lane executes next."""
    frame = thread.frames[-1]
    ahead = (*frame.block.instructions[frame.place :], frame.block.terminator)
    return next((line for one in ahead if (line := line_of(one))), 0) or (
        0 if thread.span is None else thread.span.line
    )


def explain_lane(position: StepPosition, lane: int) -> str:
    """Return why a lane is active, or is not."""
    warp = position.warp
    if lane not in warp.threads:
        count = len(warp.threads)
        return f"lane {lane} has no thread: this warp of the block has {count} thread{'' if count == 1 else 's'}"
    if lane in position.lanes:
        return f"lane {lane} is active"
    thread = warp.threads[lane]
    parting = next((one for one in reversed(warp.partings) if _separates(one, lane, position.lanes)), None)
    how = "" if parting is None else f"; {_way(parting, lane, position)}"
    return f"lane {lane} is inactive: it {_stands(position, lane, thread)}{how}"


def _stands(position: StepPosition, lane: int, thread: Thread) -> str:
    said = _place_in_words(position, lane)
    return said if thread.ended or thread.waiting is not None else f"stands {said}, until the others come there"


def _separates(parting: Parting, lane: int, active: Sequence[int]) -> bool:
    """Whether a lane and one that is active went different ways there."""
    ways = parting.ways
    return lane in ways and any(other in ways and ways[other] != ways[lane] for other in active)


def _way(parting: Parting, lane: int, position: StepPosition) -> str:
    """Return how a lane left those that are active."""
    branch, ways = parting.branch, parting.ways
    other = [one for one in position.lanes if one in ways and ways[one] != ways[lane]]
    line, text = 0, ""
    if branch.span is not None:
        line, text = branch.span.line, readable(branch.span.file.line(branch.span.line)).strip()
    where = f"at line {line} ({text})" if line else "at a branch"
    if isinstance(branch, Branch):
        holds = ways[lane] == branch.then
        if branch.construct:
            return (
                f"{where} the condition was {'true' if holds else 'false'} for it,"
                f" and {'false' if holds else 'true'} for {name_lanes(other)}"
            )
    return f"{where} it went another way than {name_lanes(other)}"


# --- what variables hold


def describe_values(text: str, expression: ast.expr, scopes: Mapping[int, LaneScope]) -> Iterator[str]:
    """Yield what an expression is in some lanes."""
    if not scopes:
        return
    first = next(iter(scopes.values()))
    if isinstance(expression, ast.Name) and text in first.arrays():
        yield f"{text} = {_elements(first, text)}"
        return
    groups: dict[Number | str, list[int]] = defaultdict(list)
    for lane, scope in scopes.items():
        try:
            groups[evaluate(expression, scope)].append(lane)
        except UnknownNameError as error:
            groups[str(error)].append(lane)
    if len(groups) == 1:
        (value,) = groups
        if isinstance(value, str):
            yield _nothing(text, value, first)
        else:
            count = len(scopes)
            yield f"{text} = {_number(value)}" + (f" in all {count} active lanes" if count > 1 else "")
    elif len(groups) <= _FEW:
        for value, lanes in groups.items():
            yield f"{text} = {_number(value)} in {name_lanes(lanes)}" if not isinstance(value, str) else value
    else:
        values = {lane: value for value, lanes in groups.items() for lane in lanes}
        cells = [f"{lane}: {_short(values[lane])}" for lane in sorted(values)]
        width = max(map(len, cells)) + 2
        yield f"{text} by lane"
        for start in range(0, len(cells), _SHOWN):
            yield "  " + "".join(cell.ljust(width) for cell in cells[start : start + _SHOWN]).rstrip()
    yield from _caveats(expression, first)


def _nothing(text: str, why: str, scope: LaneScope) -> str:
    known = dict.fromkeys([*scope.recorded.names.listed, *scope.arrays()])
    if text.isidentifier() and text not in known:
        return f"there is no variable {text}; there are {', '.join(known)}"
    return why


def _caveats(expression: ast.expr, scope: LaneScope) -> Iterator[str]:
    """Yield what may make a value another one than the text says."""
    for name, _ in names_in(expression):
        lines = scope.recorded.names.unseen.get(name, ())
        if lines:
            listed = ", ".join(map(str, lines))
            yield f"  ({name} as it was computed last; what line {listed} gives it takes no instruction)"


def _elements(scope: LaneScope, array: str) -> str:
    found: list[str] = []
    for at in range(_SHOWN):
        try:
            found.append(_number(scope.element(array, at)))
        except UnknownNameError:
            return " ".join(found)
    return f"{' '.join(found)} …"


def _short(value: Number | str) -> str:
    return "?" if isinstance(value, str) else _number(value)


def _number(value: Number) -> str:
    return f"{value:g}" if isinstance(value, float) else str(int(value))
