"""Times as text: rows between blanks, each a sum without blanks.

    2*t+i t i/32        (2t + i, t, floor(i / 32))        -i        counting down        k 1 j        0 and 1: places

Names are the counters of the loops around the statement, then the integer variables that it or its loops name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpsmith.poly.legality.times import Row, Time
from warpsmith.tree.types import Symbol

__all__ = ["TimeTextError", "read_time", "time_text"]

_ROW = re.compile(r"(?:\((?P<inner>[^()]+)\)|(?P<plain>[^()/]+))(?:/(?P<divisor>[1-9]\d*))?")
_TERM = re.compile(r"([+-])(?:(?:(\d+)\*)?([A-Za-z_]\w*)|(\d+))")
_LARGEST = 2**15


class TimeTextError(Exception):
    """The text of a time is wrong; says what."""


def read_time(text: str, symbols: Mapping[str, Symbol]) -> Time:
    """Return the time that `text` names; raises TimeTextError."""
    rows = text.split()
    if not rows:
        raise TimeTextError("a time needs at least one row")
    return tuple(_row(row, symbols) for row in rows)


def _row(text: str, symbols: Mapping[str, Symbol]) -> Row:
    parts = _ROW.fullmatch(text)
    if parts is None:
        raise TimeTextError(f"{text} is not a sum of counters")
    inner = parts["inner"] or parts["plain"]
    signed = inner if inner[0] in "+-" else f"+{inner}"
    if not re.fullmatch(f"(?:{_TERM.pattern})+", signed):
        raise TimeTextError(f"{text} is not a sum of counters")
    terms: dict[Symbol, int] = {}
    constant = 0
    for sign, factor, name, number in _TERM.findall(signed):
        value = int(f"{sign}{number or factor or 1}")
        if abs(value) > _LARGEST:
            raise TimeTextError(f"{value} in {text} is too large")
        if not name:
            constant += value
        elif name in symbols:
            terms[symbols[name]] = terms.get(symbols[name], 0) + value
        else:
            known = ", ".join(symbols) or "none"
            raise TimeTextError(f"{name} in {text} is no counter of the statement (they are: {known})")
    divisor = int(parts["divisor"] or 1)
    if divisor > _LARGEST:
        raise TimeTextError(f"{divisor} in {text} is too large")
    return Row(tuple((s, f) for s, f in terms.items() if f), constant, divisor)


def time_text(time: Time) -> str:
    """Return a time as `read_time` takes it."""
    return " ".join(_row_text(row) for row in time)


def _row_text(row: Row) -> str:
    pieces = [f"{'-' if f < 0 else '+'}{'' if abs(f) == 1 else f'{abs(f)}*'}{s.name}" for s, f in row.terms]
    if row.constant or not pieces:
        pieces.append(f"{row.constant:+d}")
    text = "".join(pieces).removeprefix("+")
    if row.divisor == 1:
        return text
    return f"{text}/{row.divisor}" if len(pieces) == 1 else f"({text})/{row.divisor}"
