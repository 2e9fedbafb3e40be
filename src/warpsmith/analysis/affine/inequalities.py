"""Whether whole numbers can fulfil some linear inequalities: Fourier–Motzkin elimination, with a bound on its work.

    t - u - h = 0, h - t - 1 >= 0, u >= 0        t = u + h:  -u - 1 >= 0 and u >= 0:  none can

A variable is a number, a row its coefficients and what is added: {1: 1, 2: -1, ONE: 3} is v1 - v2 + 3. Rows are divided
by what their coefficients have in common and rounded towards what whole numbers fulfil (Schrijver, Theory of Linear and
Integer Programming, 12.2 and 23.1). The shadow of an elimination may hold more whole numbers than there are: `False`
says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

__all__ = ["ONE", "Row", "have_no_solution"]

ONE = -1
Row = Mapping[int, int]

_MOST_ROWS = 140
_LARGEST = 1 << 80


def have_no_solution(zero: Iterable[Row], positive: Iterable[Row]) -> bool:
    """Return whether no whole numbers make all of `zero` 0 and all of `positive` at least 0; False: not known."""
    rows = [dict(row) for row in positive]
    equal = [dict(row) for row in zero]
    while equal:
        row = equal.pop()
        divisor = math.gcd(*(c for v, c in row.items() if v != ONE))
        if not divisor:
            if row.get(ONE, 0):
                return True
            continue
        if row.get(ONE, 0) % divisor:
            return True
        row = {v: c // divisor for v, c in row.items()}
        variable = min((v for v in row if v != ONE and row[v]), key=lambda v: abs(row[v]))
        equal = [_substitute(other, row, variable) for other in equal]
        rows = [_substitute(other, row, variable) for other in rows]
    return _eliminate(rows)


def _substitute(row: dict[int, int], equal: Row, variable: int) -> dict[int, int]:
    """Return a row without a variable, by a row that is 0."""
    factor = row.get(variable, 0)
    if not factor:
        return row
    own = equal[variable]
    sign = 1 if own > 0 else -1
    made = {v: abs(own) * c for v, c in row.items()}
    for v, c in equal.items():
        made[v] = made.get(v, 0) - sign * factor * c
    return {v: c for v, c in made.items() if c}


def _eliminate(rows: list[dict[int, int]]) -> bool:
    """Return whether rows that are at least 0 contradict each other."""
    known = _tighten(rows)
    while known is not None:
        variables = {v for key in known for v, _ in key}
        if not variables:
            return False
        split = {v: _sides(known, v) for v in variables}
        variable = min(variables, key=lambda v: len(split[v][0]) * len(split[v][1]))
        low, high, rest = split[variable]
        if len(low) * len(high) + len(rest) > _MOST_ROWS:
            return False
        made = [_combine(one, other, variable) for one in low for other in high]
        if any(abs(c) > _LARGEST for row in made for c in row.values()):
            return False
        known = _tighten([*rest, *made])
    return True


def _sides(
    known: Mapping[tuple[tuple[int, int], ...], int], variable: int
) -> tuple[list[dict[int, int]], list[dict[int, int]], list[dict[int, int]]]:
    """Return the rows that bound a variable from below, those from above, and the others."""
    found: tuple[list[dict[int, int]], list[dict[int, int]], list[dict[int, int]]] = [], [], []
    for key, constant in known.items():
        row = {**dict(key), ONE: constant}
        factor = row.get(variable, 0)
        found[0 if factor > 0 else 1 if factor < 0 else 2].append(row)
    return found


def _combine(one: Row, other: Row, variable: int) -> dict[int, int]:
    p, q = one[variable], -other[variable]
    made = {v: q * c for v, c in one.items()}
    for v, c in other.items():
        made[v] = made.get(v, 0) + p * c
    return {v: c for v, c in made.items() if c}


def _tighten(rows: Iterable[Row]) -> dict[tuple[tuple[int, int], ...], int] | None:
    """Return the rows for whole numbers, of those that differ by a number the strictest; None: one cannot hold."""
    known: dict[tuple[tuple[int, int], ...], int] = {}
    for row in rows:
        constant = row.get(ONE, 0)
        own = {v: c for v, c in row.items() if v != ONE and c}
        if not own:
            if constant < 0:
                return None
            continue
        divisor = math.gcd(*own.values())
        key = tuple(sorted((v, c // divisor) for v, c in own.items()))
        constant //= divisor
        known[key] = min(constant, known.get(key, constant))
    for key, constant in known.items():
        against = known.get(tuple((v, -c) for v, c in key))
        if against is not None and constant + against < 0:
            return None
    return known
