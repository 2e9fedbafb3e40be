"""After how many iterations a loop ends, as far as that decides where pointers lead that trade places in it.

    for (t = 0; t < steps; t++) { …; swap(p, q); }      p and q are where they were if steps % 2 == 0

Invariant: the loop, unless it is left by a jump, ends after a number of iterations that `ends_after` names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import find_changed_in, find_escaped
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.mapped.extents import polynomial
from warpsmith.tree.nodes import For, Function, Name
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol, is_integer
from warpsmith.tree.walk import peel

__all__ = ["Trips", "ends_after", "trips_of", "turning"]

_REMAINDER: Final = re.compile(r"\s*(\w+)\s*%\s*(\d+)\s*==\s*(\d+)\s*")


class Trips(Struct, frozen=True):
    """A loop makes `number` iterations, if `modulus` is 0, else so many that `number` is left over it."""

    number: int
    modulus: int = 0
    granted: Assumption | None = None


def trips_of(facts: Facts, function: Function, loop: For, values: Mapping[Symbol, Polynomial]) -> Trips | None:
    """Return what is known of the number of a loop's iterations; `values` are those of variables."""
    if loop.step != 1 or loop.relation not in ("<", "<="):
        return None
    past = 1 if loop.relation == "<=" else 0
    first = polynomial(loop.lower, values).number
    last = polynomial(loop.bound, values).number
    if first is None:
        return None
    if last is not None:
        return Trips(max(0, last + past - first))
    bound = _steady(facts, function, loop)
    for assumption in facts.options.granted if bound is not None else ():
        for part in assumption.text.split("&&"):
            found = _REMAINDER.fullmatch(part)
            if found is not None and bound is not None and found[1] == bound.name and int(found[2]) > 0:
                modulus = int(found[2])
                return Trips((int(found[3]) + past - first) % modulus, modulus, assumption)
    return None


def _steady(facts: Facts, function: Function, loop: For) -> Symbol | None:
    """Return the variable that is a loop's bound, if it has one value for good."""
    bound = peel(loop.bound)
    if not isinstance(bound, Name) or not is_integer(bound.symbol.type):
        return None
    changed = find_changed_in(function, facts.summaries) | find_escaped(facts.program, function, facts.summaries)
    steady = bound.symbol not in changed and bound.symbol.storage in ("local", "parameter")
    return bound.symbol if steady else None


def turning(facts: Facts, function: Function, loop: For, period: int) -> str | None:
    """Return what decides where pointers lead behind a loop in which they are where they were every `period`
    iterations, as `--assume` takes it; None where no variable is the number of iterations."""
    bound = _steady(facts, function, loop)
    whole = polynomial(loop.lower, {}).number == 0 and loop.step == 1 and loop.relation == "<"
    return f"{bound.name} % {period} == 0" if bound is not None and whole and period > 1 else None


def ends_after(trips: Trips | None, rounds: int, again: int) -> tuple[int, ...]:
    """Return the iterations behind which a loop may end, counted from 0, of `rounds` that were walked: behind the last
    one it goes on as behind iteration `again`.

    >>> ends_after(None, 3, 1), ends_after(Trips(2), 3, 1), ends_after(Trips(0, 2), 3, 1), ends_after(Trips(6), 3, 1)
    ((0, 1, 2), (1,), (1,), (1,))
    """
    if trips is None or trips == Trips(0):
        return tuple(range(rounds))
    period = rounds - again
    numbers = range(1, rounds + trips.modulus * period + 1) if trips.modulus else (trips.number,)
    wanted = [n - 1 for n in numbers if not trips.modulus or n % trips.modulus == trips.number]
    return tuple(sorted({n if n < rounds else again + (n - again) % period for n in wanted}))
