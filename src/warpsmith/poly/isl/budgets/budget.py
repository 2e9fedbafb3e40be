"""Budgets of isl's operations: what bounds every question that is asked of it.

    with budget(2_000_000):                 more than so many steps: OutOfBudgetError
        … with side_budget(100_000): …      of which these are not a part

isl counts its operations, and fails once they are more than allowed. It reports that inside its parser as a syntax
error, so the count is asked, not the words. An answer that is not finite is an error to isl, too, and is told apart.
Any other error is a mistake of ours: it is not caught here.

Inside `shared_effort` each budget that was spent halves those after it, so that all the answers that do not come take
together no longer than the first two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from msgspec import Struct

from warpsmith.poly.isl.library import isl

__all__ = [
    "Effort",
    "OutOfBudgetError",
    "budget",
    "charge",
    "count_steps",
    "measure_apart",
    "narrow_budget",
    "part_of_budget",
    "shared_effort",
    "side_budget",
    "try_within",
    "without_budget",
]

T = TypeVar("T")

# more steps than anything takes, for work that is counted and not bounded
_UNBOUNDED = 1 << 40
# isl's words where it has no answer though there are steps left: the extreme is infinitely far away, what it called
# back was stopped from outside, and its scheduler has met a dependence that it cannot carry
_NO_ANSWER = {
    "isl_scheduler.c": "isl's scheduler finds no order of its statements",
    "unbounded optimum": "an end of its bounds or subscripts is infinitely far away",
    "<no message>": "the work on its bounds and subscripts was interrupted",
}


class OutOfBudgetError(Exception):
    """A question is more work than it is worth: it is answered Unknown, and the text says of what there is too much."""


class Effort(Struct):
    """What questions of one origin share: `given_up` is how many have spent their budget."""

    given_up: int = 0


_SHARED: ContextVar[Effort | None] = ContextVar("_SHARED", default=None)
# what the budget in force was at first, and what it is for the sets that have come into it
_GRANTED: ContextVar[int] = ContextVar("_GRANTED", default=0)
_NARROWED: ContextVar[int] = ContextVar("_NARROWED", default=0)


@contextmanager
def shared_effort(effort: Effort | None = None) -> Iterator[Effort]:
    """Let each budget that is spent in the body halve those that are given after it there; `effort`: those that were
    spent on the same before count too."""
    effort = Effort() if effort is None else effort
    before = _SHARED.set(effort)
    try:
        yield effort
    finally:
        _SHARED.reset(before)


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """Bound the isl work inside; raises OutOfBudgetError when it runs out. A budget inside another has its own bound,
    and leaves of the other one what it found. A budget of nothing allows one step: isl takes 0 for no bound at all."""
    effort = _SHARED.get()
    operations >>= effort.given_up if effort is not None else 0
    around = _steps_left()
    before, narrowed = _GRANTED.set(operations), _NARROWED.set(operations)
    _allow(max(operations, 1))
    try:
        with part_of_budget():
            yield
    finally:
        _GRANTED.reset(before)
        _NARROWED.reset(narrowed)
        _allow(around)


def count_steps(work: Callable[[], None], most: int) -> int:
    """Return how many operations isl needs for a piece of work. Raises OutOfBudgetError where they are more than so
    many."""
    with budget(most):
        granted = isl.DEFAULT_CONTEXT.get_max_operations()
        work()
        return granted - _steps_left()


@contextmanager
def part_of_budget() -> Iterator[None]:
    """Do a part of the work that a budget bounds: raises OutOfBudgetError when that runs out, after which nothing else
    may be asked of isl inside the budget, and where isl has no answer."""
    effort = _SHARED.get()
    try:
        yield
    except isl.Error as error:
        if not _is_spent():
            _raise_no_answer(error)
            raise
        if effort is not None:
            effort.given_up += 1
        text = f"its bounds and subscripts are too complicated ({_NARROWED.get():,} steps)"
        raise OutOfBudgetError(text) from error


@contextmanager
def side_budget(operations: int) -> Iterator[None]:
    """Bound the isl work inside, which an answer can do without: what it takes counts for no budget around it. Raises
    OutOfBudgetError when it runs out, and where isl has no answer."""
    around = _steps_left()
    _allow(operations)
    try:
        yield
    except isl.Error as error:
        if not _is_spent():
            _raise_no_answer(error)
            raise
        raise OutOfBudgetError(f"more than {operations:,} steps") from error
    finally:
        _allow(around)


@contextmanager
def without_budget() -> Iterator[None]:
    """Do isl work that no budget bounds, nor counts."""
    around = _steps_left()
    _allow(0)
    try:
        yield
    finally:
        _allow(around)


def measure_apart(work: Callable[[], T]) -> tuple[T, int]:
    """Return the answer of a piece of isl work with the steps that it took, which the budget in force bounds, but is
    not charged for."""
    around = _steps_left()
    most = around or _UNBOUNDED
    _allow(most)
    try:
        answer = work()
    except BaseException:
        # what it took before it failed is gone
        if not around:
            _allow(0)
        raise
    steps = most - _steps_left()
    _allow(around)
    return answer, steps


def try_within(steps: int, work: Callable[[], T]) -> tuple[T] | None:
    """Return the answer of a piece of isl work, a part of what the budget in force bounds; None where so many steps,
    of the more that are left, are not enough."""
    around = _steps_left()
    if 0 < around <= steps:
        return (work(),)
    _allow(steps)
    try:
        return (work(),)
    except isl.Error:
        if not _is_spent():
            raise
        return None
    finally:
        _allow(max(around - steps + _steps_left(), 1) if around else 0)


def charge(steps: int) -> None:
    """Take so many steps from the budget in force, as if they were done now."""
    left = _steps_left()
    if left:
        _allow(max(left - steps, 1))
    if 0 < left <= steps:
        # one more than the one that is left: isl's own error
        isl.Set("{ [i, j] : i < j }")


def narrow_budget(times: int) -> None:
    """Halve the budget in force so many times, for what is made in it now."""
    granted, context = _GRANTED.get(), isl.DEFAULT_CONTEXT
    if granted and times > 0:
        most = max(granted >> times, 1)
        context.set_max_operations(min(context.get_max_operations(), most))
        _NARROWED.set(min(_NARROWED.get(), most))


def _raise_no_answer(error: isl.Error) -> None:
    """Raise OutOfBudgetError where isl has no answer, and that is no mistake of ours."""
    for words, text in _NO_ANSWER.items():
        if words in str(error):
            raise OutOfBudgetError(text) from error


def _allow(operations: int) -> None:
    """Let isl do so many steps from now on; 0: any number."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)


def _steps_left() -> int:
    """Return how many steps the budget in force still allows, at least one; 0 where there is none. isl tells only
    whether a limit is reached, so that the steps already done are found by trying limits."""
    context = isl.DEFAULT_CONTEXT
    most = context.get_max_operations()
    done, high = 0, most
    while done < high:
        middle = (done + high) // 2
        context.set_max_operations(max(middle, 1))
        done, high = (middle + 1, high) if _is_spent() else (done, middle)
    context.set_max_operations(most)
    return max(most - done, 1) if most else 0


def _is_spent() -> bool:
    """Whether isl may do nothing more."""
    try:
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    except isl.Error:
        return True
    return False
