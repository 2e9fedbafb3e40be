"""Bugs that are put into the making of bundles, one at a time: random programs show each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import Struct

from tests.front.il.programs import random_case
from tests.targets.r600.agree import bundles_agree
from warpsmith.targets.r600 import allocate, arithmetic, division, groups
from warpsmith.targets.r600.allocate import _Allocation
from warpsmith.targets.r600.operations import Operation, Values
from warpsmith.targets.r600.schedule import _Scheduler

__all__ = ["BUGS", "MOST", "BundleBug", "case_of", "found_by"]

MOST = 80


class BundleBug(Struct, frozen=True):
    """`name` of `owner` is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


def case_of(seed: int) -> Any:
    """Return a random program without control flow."""
    return random_case(seed, flow=False, length=(14, 30)[seed % 2])


def found_by(bug: BundleBug) -> int | None:
    """Return the first seed whose program shows a bug; None where none does."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(bug.owner, Mapping):
            patch.setitem(bug.owner, bug.name, bug.make(bug.owner[bug.name]))
        else:
            patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        for seed in range(MOST):
            try:
                if not bundles_agree(case_of(seed), "r600"):
                    return seed
            except (AssertionError, KeyError, StopIteration):
                return seed
    return None


def _early(right: Any) -> Any:
    """Have an operation not wait for the last that it needs."""

    def init(self: Any, *given: Any) -> None:
        right(self, *given)
        for node, needs in self.waiting.items():
            if isinstance(node, Operation) and len(needs) > 1:
                needs.discard(max(needs, key=lambda one: one.number))
        self.ready = [one for one in self.groups.operations if not self.waiting[one]]

    return init


def _short(right: Any) -> Any:
    """Have values live one bundle less."""

    def live(self: Any) -> None:
        right(self)
        for life in self.lives.values():
            life.read = max(life.written, life.read - 4)

    return live


def _careless(right: Any) -> Any:
    """Take operations for equal whose modifiers differ."""

    def operation(self: Any, name: str, operands: Any, *, clamp: bool = False) -> Any:
        made = right(self, name, operands, clamp=clamp)
        key = (name, *(getattr(one.value, "number", one.value) for one in made.operands))
        return self.made.setdefault(key, made)

    return operation


def _crossed(right: Any) -> Any:
    return lambda r, one, of: right(r, one, (of[0], of[2], of[1]))


BUGS = (
    BundleBug("an operation does not wait", _Scheduler, "__init__", _early),
    BundleBug("values live too short", _Allocation, "live", _short),
    BundleBug("equal but for modifiers is equal", Values, "operation", _careless),
    BundleBug("lt is not swapped", arithmetic, "_SWAPPED", lambda right: dict(right) | {"lt": "SETE_DX10"}),
    BundleBug("ilt is taken as it is", arithmetic, "_SAME", lambda right: dict(right) | {"ilt": "SETGT_INT"}),
    BundleBug("cmov has its arms swapped", arithmetic._COMPOSED, "cmov_logical", _crossed),
    BundleBug("sub adds", arithmetic._COMPOSED, "sub", lambda right: lambda r, one, of: r.values.operation("ADD", of)),
    BundleBug("division by zero is not looked at", division, "_ALL", lambda right: division._ZERO),
    BundleBug("a literal 1.0 is taken for 1", groups, "_SPECIAL", lambda right: {0: "1"}),
    BundleBug("a fetch writes x", allocate, "COMPONENTS", lambda right: "xyz"),
)  # fmt: skip
