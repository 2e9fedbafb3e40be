"""Answers about sets that are kept: a step that changes one loop of a nest leaves the sets of the others as they are,
and the search asks the same of them in every form of the program.

    pieces([n] -> { [i] : 0 <= i < n })     worked out: 310 steps, taken from the budget around it
    pieces([n] -> { [i] : 0 <= i < n })     found: 310 steps, taken from the budget around it

Invariant: what is asked leaves of its budget what it would leave if nothing were kept, so that no verdict depends on
what was asked before. Two sets are the same where isl writes them with the same text.

A step on a large set takes longer than one on a small set, and the more so the larger the numbers in it get: the
larger the set, the fewer steps are taken (its matrix: constraints times variables).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import ClassVar, TypeVar

from warpsmith.base.records import Partial
from warpsmith.poly.isl.budgets.budget import OutOfBudgetError, charge, measure_apart, try_within, without_budget
from warpsmith.poly.isl.library import isl

__all__ = ["kept"]

T = TypeVar("T")

_MOST_KEPT = 2048
# entries of a matrix on which a step is as fast as on any, and how many steps are taken on one with as many
_FEW_ENTRIES = 40
_MOST_STEPS = 2_000_000


class _Question(Partial, frozen=True, eq=False):
    compared: ClassVar[attrgetter[object]] = attrgetter("text", "greatest")
    text: str
    greatest: bool
    values: isl.Set


def kept(work: Callable[..., T]) -> Callable[..., T]:
    """Let what is said of a set's least or greatest element be worked out once for each text of a set."""

    @functools.lru_cache(maxsize=_MOST_KEPT)
    def find(question: _Question) -> tuple[tuple[T] | None, int]:
        with without_budget():
            most = _MOST_STEPS // max(1, _count_entries(question.values) // _FEW_ENTRIES) ** 3
        return measure_apart(lambda: try_within(most, lambda: work(question.values, greatest=question.greatest)))

    @functools.wraps(work)
    def ask(values: isl.Set, *, greatest: bool) -> T:
        with without_budget():
            text = values.to_str()
        answer, steps = find(_Question(text, greatest, values))
        charge(steps)
        if answer is None:
            raise OutOfBudgetError(f"its bounds and subscripts are too complicated ({steps:,} steps)")
        return answer[0]

    return ask


def _count_entries(values: isl.Set) -> int:
    """Return the size of the largest matrix of a set: its constraints, times the variables in them and the constant."""
    kinds = (isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)
    return max(
        (len(part.get_constraints()) * (1 + sum(map(part.dim, kinds))) for part in values.get_basic_sets()), default=0
    )
