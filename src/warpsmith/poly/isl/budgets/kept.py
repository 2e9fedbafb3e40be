"""Answers about sets that are kept: a step that changes one loop of a nest leaves the sets of the others as they are,
and the search asks the same of them in every form of the program.

    pieces([n] -> { [i] : 0 <= i < n })     worked out: 310 steps, taken from the budget around it
    pieces([n] -> { [i] : 0 <= i < n })     found: 310 steps, taken from the budget around it

Invariant: what is asked leaves of its budget what it would leave if nothing were kept, so that no verdict depends on
what was asked before. Two sets are the same where isl writes them with the same text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from typing import ClassVar, TypeVar

from warpsmith.base.records import Partial
from warpsmith.poly.isl.budgets.budget import charge, measure_apart, without_budget
from warpsmith.poly.isl.library import isl

__all__ = ["kept"]

T = TypeVar("T")

_MOST_KEPT = 2048


class _Question(Partial, frozen=True, eq=False):
    compared: ClassVar[attrgetter[object]] = attrgetter("text", "greatest")
    text: str
    greatest: bool
    values: isl.Set


def kept(work: Callable[..., T]) -> Callable[..., T]:
    """Let what is said of a set's least or greatest element be worked out once for each text of a set."""

    @functools.lru_cache(maxsize=_MOST_KEPT)
    def find(question: _Question) -> tuple[T, int]:
        return measure_apart(lambda: work(question.values, greatest=question.greatest))

    @functools.wraps(work)
    def ask(values: isl.Set, *, greatest: bool) -> T:
        with without_budget():
            text = values.to_str()
        answer, steps = find(_Question(text, greatest, values))
        charge(steps)
        return answer

    return ask
