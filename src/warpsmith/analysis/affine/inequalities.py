"""Whether whole numbers can fulfil some linear inequalities: Fourier–Motzkin elimination, with a bound on its work.

    t - u - h = 0, h - t - 1 >= 0, u >= 0        t = u + h:  -u - 1 >= 0 and u >= 0:  none can

A variable is a number, a row its coefficients and what is added: {1: 1, 2: -1, ONE: 3} is v1 - v2 + 3. Rows are divided
by what their coefficients have in common and rounded towards what whole numbers fulfil (Schrijver, Theory of Linear and
Integer Programming, 12.2 and 23.1). The shadow of an elimination may hold more whole numbers than there are: `False`
says nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["ONE", "Row", "have_no_solution"]

ONE = -1
Row = Mapping[int, int]
_Rows = dict[tuple[tuple[int, int], ...], int]
"""The coefficients of rows in the order of their variables, and what is added."""

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
    known: _Rows = {}
    holds = _add(known, rows)
    while holds:
        below = Counter(v for key in known for v, c in key if c > 0)
        above = Counter(v for key in known for v, c in key if c < 0)
        variables = {*below, *above}
        if not variables:
            return False
        variable = min(variables, key=lambda v: below[v] * above[v])
        low, high, known = _sides(known, variable)
        if len(low) * len(high) + len(known) > _MOST_ROWS:
            return False
        made = [_combine(one, other, variable) for one in low for other in high]
        if any(abs(c) > _LARGEST for row in made for c in row.values()):
            return False
        holds = _add(known, made)
    return True


def _sides(known: _Rows, variable: int) -> tuple[list[dict[int, int]], list[dict[int, int]], _Rows]:
    """Return the rows that bound a variable from below, those from above, and the others."""
    low, high, rest = list[dict[int, int]](), list[dict[int, int]](), _Rows()
    for key, constant in known.items():
        factor = next((c for v, c in key if v == variable), 0)
        if factor:
            (low if factor > 0 else high).append({**dict(key), ONE: constant})
        else:
            rest[key] = constant
    return low, high, rest


def _combine(one: Row, other: Row, variable: int) -> dict[int, int]:
    p, q = one[variable], -other[variable]
    made = {v: q * c for v, c in one.items()}
    for v, c in other.items():
        made[v] = made.get(v, 0) + p * c
    return {v: c for v, c in made.items() if c}


def _add(known: _Rows, rows: Iterable[Row]) -> bool:
    """Add rows, made strict for whole numbers, of those that differ by a number the strictest; return whether none
    contradicts another."""
    for row in rows:
        constant = row.get(ONE, 0)
        own = [(v, c) for v, c in row.items() if v != ONE and c]
        if not own:
            if constant < 0:
                return False
            continue
        divisor = math.gcd(*(c for _, c in own))
        if divisor > 1:
            own = [(v, c // divisor) for v, c in own]
            constant //= divisor
        own.sort()
        key = tuple(own)
        constant = min(constant, known.get(key, constant))
        known[key] = constant
        against = known.get(tuple((v, -c) for v, c in own))
        if against is not None and constant + against < 0:
            return False
    return True
