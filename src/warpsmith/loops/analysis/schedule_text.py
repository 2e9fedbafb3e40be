"""Schedules as text: dimensions between blanks, each a sum without blanks.

    2*t+i t i/32        (2t + i, t, floor(i / 32))        -i        counting down        k 1 j        0 and 1: places

Names are the counters of the loops around the statement, then the integer variables that it or its loops name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension
from warpsmith.tree.types import Symbol

__all__ = ["ScheduleTextError", "read_schedule", "schedule_text"]

_ROW = re.compile(r"(?:\((?P<inner>[^()]+)\)|(?P<plain>[^()/]+))(?:/(?P<divisor>[1-9]\d*))?")
_TERM = re.compile(r"([+-])(?:(?:(\d+)\*)?([A-Za-z_]\w*)|(\d+))")
_LARGEST = 2**15


class ScheduleTextError(Exception):
    """The text of a schedule is wrong; says what."""


def read_schedule(text: str, symbols: Mapping[str, Symbol]) -> Schedule:
    """Return the schedule that `text` names; raises TimeTextError."""
    dimensions = text.split()
    if not dimensions:
        raise ScheduleTextError("a schedule needs at least one dimension")
    return tuple(_dimension(dimension, symbols) for dimension in dimensions)


def _dimension(text: str, symbols: Mapping[str, Symbol]) -> ScheduleDimension:
    parts = _ROW.fullmatch(text)
    if parts is None:
        raise ScheduleTextError(f"{text} is not a sum of counters")
    inner = parts["inner"] or parts["plain"]
    signed = inner if inner[0] in "+-" else f"+{inner}"
    if not re.fullmatch(f"(?:{_TERM.pattern})+", signed):
        raise ScheduleTextError(f"{text} is not a sum of counters")
    terms: dict[Symbol, int] = {}
    constant = 0
    for sign, factor, name, number in _TERM.findall(signed):
        value = int(f"{sign}{number or factor or 1}")
        if abs(value) > _LARGEST:
            raise ScheduleTextError(f"{value} in {text} is too large")
        if not name:
            constant += value
        elif name in symbols:
            terms[symbols[name]] = terms.get(symbols[name], 0) + value
        else:
            known = ", ".join(symbols) or "none"
            raise ScheduleTextError(f"{name} in {text} is no counter of the statement (they are: {known})")
    divisor = int(parts["divisor"] or 1)
    if divisor > _LARGEST:
        raise ScheduleTextError(f"{divisor} in {text} is too large")
    return ScheduleDimension(tuple((s, f) for s, f in terms.items() if f), constant, divisor)


def schedule_text(schedule: Schedule) -> str:
    """Return a schedule as `read_schedule` takes it."""
    return " ".join(_row_text(dimension) for dimension in schedule)


def _row_text(dimension: ScheduleDimension) -> str:
    pieces = [f"{'-' if f < 0 else '+'}{'' if abs(f) == 1 else f'{abs(f)}*'}{s.name}" for s, f in dimension.terms]
    if dimension.constant or not pieces:
        pieces.append(f"{dimension.constant:+d}")
    text = "".join(pieces).removeprefix("+")
    if dimension.divisor == 1:
        return text
    return f"{text}/{dimension.divisor}" if len(pieces) == 1 else f"({text})/{dimension.divisor}"
