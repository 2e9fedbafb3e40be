"""Bugs that are put into the writer of pixel shaders, one at a time: examples and random kernels show each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.front.brook.by_hand import CASES
from tests.targets.il.pixels.agree import il_agrees
from tests.targets.il.pixels.programs import random_case
from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Constant
from warpsmith.ssa.types import I32
from warpsmith.targets.il.pixels import export, flatten
from warpsmith.targets.il.pixels.instructions import PixelInstructions
from warpsmith.targets.il.pixels.subscripts import PixelSubscripts
from warpsmith.targets.il.writing import numbers

__all__ = ["BUGS", "MOST", "PixelBug", "found_by"]

MOST: Final = 16
"""Random kernels that the bugs are looked for with; the check runs at least as many."""


_FIRST: Final = [next(case for case in CASES if case.kernel == name) for name in ("sort_pass", "shade", "spread")]
"""What shows most of them soon."""


class PixelBug(Struct, frozen=True):
    """`name` of `owner` (a module, a class or a table) is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


def found_by(bug: PixelBug) -> str | None:
    """Return the kernel that shows a bug; None where none does."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(bug.owner, Mapping):
            patch.setitem(bug.owner, bug.name, bug.make(bug.owner[bug.name]))
        else:
            patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        for number, case in enumerate(chain(_FIRST, map(random_case, range(MOST)), CASES)):
            try:
                shows = not il_agrees(case) or (number == 0 and not il_agrees(case, row=8))
            except (AssertionError, InputError, KeyError):
                shows = True
            if shows:
                return f"{number}: {case.kernel}"
    return None


def _place(**changes: Any) -> Callable[[Any], Any]:
    """Return a maker of a reader of addresses whose answers are changed."""
    return lambda real: lambda self, *given: replace(real(self, *given), **changes)


def _swapped(real: Any) -> Any:
    def made(self: Any, *given: Any) -> Any:
        place = real(self, *given)
        return replace(place, rows=place.columns, columns=place.rows) if place.rows else place

    return made


def _without_constant(real: Any) -> Any:
    def made(self: Any, operand: Any) -> Any:
        return (one for one in real(self, operand) if not isinstance(one, Constant))

    return made


def _own_always(real: Any) -> Any:
    return lambda self, terms: real(self, terms) or len(terms) == 2


def _other_arm(real: Any) -> Any:
    return lambda phi, arms, *rest: real(phi, arms[::-1], *rest)


def _without_rounding(real: Any) -> Any:
    return lambda self, terms, axis: real(self, tuple(terms[:1]), axis)


def _row_plus_one(real: Any) -> Any:
    return lambda self: self.code.compute("iadd", real(self), 1)


def _along_any(real: Any) -> Any:
    return lambda self, terms, axis: real(self, terms, axis) or real(self, terms, {"x": "y", "y": "x"}[axis])


def _any_fetch(real: Any) -> Any:
    def made(self: Any, number: int, coordinates: Any) -> Any:
        return next((found for (of, _), found in self.fetched.items() if of == number), None) or real(
            self, number, coordinates
        )

    return made


def _quotient(real: Any) -> Any:
    return lambda self, i: real(self, i)[::-1]


def _one_axis(real: Any) -> Any:
    def made(*given: Any, **how: Any) -> Any:
        resources, outputs = real(*given, **how)
        return {name: (number, 1) for name, (number, _) in resources.items()}, outputs

    return made


def _factor_one(real: Any) -> Any:
    return lambda self, term, width: None if (found := real(self, term, width)) is None else _next(found)


def _next(operand: Any) -> Any:
    return Constant(I32, operand.bits + 1) if isinstance(operand, Constant) else Constant(I32, 1)


BUGS: Final = (
    PixelBug("rows and columns are swapped", PixelSubscripts, "place", _swapped),
    PixelBug("the first component is read for every one", PixelSubscripts, "place", _place(component=0)),
    PixelBug("constants in subscripts are lost", PixelSubscripts, "_terms", _without_constant),
    PixelBug("every sum of two terms is the thread's own place", PixelSubscripts, "_is_own", _own_always),
    PixelBug("rows are not what is written", PixelSubscripts, "_factor", _factor_one),
    PixelBug("both arms of a phi are swapped", flatten, "_select", _other_arm),
    PixelBug("only the first term of a column counts", PixelInstructions, "_coordinate", _without_rounding),
    PixelBug("rows in memory are one longer", PixelInstructions, "_row_width", _row_plus_one),
    PixelBug("x and y are taken for each other", PixelInstructions, "_is_along", _along_any),
    PixelBug("one fetch of a resource is taken for all", PixelInstructions, "_fetch", _any_fetch),
    PixelBug("a remainder has its operands swapped", PixelInstructions, "_remainder", _quotient),
    PixelBug("all resources have one axis", export, "_number", _one_axis),
    PixelBug("a floor rounds to nearest", numbers.ROUNDED, "down", lambda real: "round_nearest"),
)  # fmt: skip
