"""Bugs that are put into the reader of IL and its translation, one at a time: random programs show each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest
from msgspec import Struct

from tests.front.il.agree import same
from tests.front.il.programs import hand_cases, random_case
from warpsmith.base.errors import InputError
from warpsmith.front.il import arithmetic, code, instructions, live, machine
from warpsmith.front.il.machine import IlMemory
from warpsmith.front.il.ops import IL_OPS
from warpsmith.ssa.nodes import Float

__all__ = ["BUGS", "MOST", "IlBug", "found_by"]

MOST = 320
"""Programs of the random check; each bug must be shown by one of them."""


class IlBug(Struct, frozen=True):
    """`name` of `owner` (a module, a class or a table) is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


@contextmanager
def planted(bug: IlBug) -> Iterator[None]:
    """Have the bug meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(bug.owner, Mapping):
            patch.setitem(bug.owner, bug.name, bug.make(bug.owner[bug.name]))
        else:
            patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        yield


def found_by(bug: IlBug) -> int | None:
    """Return the first program that shows a bug, those by hand first; None where none does."""
    with planted(bug):
        for number, case in enumerate(chain(hand_cases(), map(random_case, range(MOST)))):
            try:
                if not same(case):
                    return number
            except (AssertionError, InputError, KeyError):
                return number
    return None


def _without(**fixed: object) -> Callable[[Any], Any]:
    """Return a maker of a reader of operands that forgets something."""

    def make(read: Any) -> Any:
        def forgetful(word: Any) -> Any:
            made = read(word)
            return type(made)(**{name: fixed.get(name, getattr(made, name)) for name in made.__struct_fields__})

        return forgetful

    return make


def _one_by_one(right: Any) -> Any:
    """Write each component before the sources of the next are read."""

    def compute(self: Any, one: Any) -> None:
        if one.op.form != "map" or one.destination.register.kind == "g":
            right(self, one)
            return
        for at, letter in enumerate(one.destination.mask):
            if letter == "_":
                continue
            mask = "_" * at + letter + "_" * (3 - at)
            part = type(one.destination)(one.destination.register, mask)
            right(self, type(one)(one.op, part, one.sources, one.saturate, one.zero, span=one.span))

    return compute


def _swapped(right: Any) -> Any:
    return lambda self, one, holds, other, construct="": right(self, one, other, holds, construct)


def _same_target(right: Any) -> Any:
    def target(self: Any, one: Any) -> str:
        return str(next(level for level in reversed(self.opened) if level.loop).after)

    return target


def _floats(right: Any) -> Any:
    def modify(b: Any, op: Any, value: Any, *, absolute: bool, negated: bool) -> Any:
        return right(b, arithmetic_row, value, absolute=absolute, negated=negated)

    return modify


def _unclamped(right: Any) -> Any:
    """Have a fetch outside give what is at the edge."""

    def load(self: Any, number: int, places: Any, letters: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            emit = self.builder.emit
            patch.setattr(self.builder, "emit", lambda op, of, *more: of[1] if op == "select" else emit(op, of, *more))
            return right(self, number, places, letters)

    return load


def _as_written(right: Any) -> Any:
    return lambda one, source, wanted=None: wanted or "xyzw"


arithmetic_row = next(op for op in IL_OPS.values() if op.name == "add")
_table = arithmetic._COMPUTED

BUGS = (
    IlBug("a swizzle is not read", instructions, "read_source", _without(swizzle="xyzw")),
    IlBug("a mask is not read", instructions, "read_destination", _without(mask="xyzw")),
    IlBug("_neg is not read", instructions, "read_source", _without(negated="")),
    IlBug("_abs is not read", instructions, "read_source", _without(absolute=False)),
    IlBug("_sat is not obeyed", arithmetic, "_saturated", lambda right: lambda b, value: value),
    IlBug("_neg of integers is of floats", code, "modify", _floats),
    IlBug("shifts use all of the amount", _table, "ishl", lambda _: arithmetic._integer("shl")),
    IlBug("a division by zero is not looked at", _table, "div", lambda _: arithmetic._float("fdiv")),
    IlBug("udiv is signed", _table, "udiv", lambda _: arithmetic._guarded("sdiv")),
    IlBug("min is that of IEEE 754", _table, "min", lambda _: arithmetic._float("fmin")),
    IlBug("ne is false for NaN", _table, "ne", lambda _: arithmetic._compare("fone", floats=True)),
    IlBug("mad is fused", _table, "mad", lambda _: arithmetic._float("ffma")),
    IlBug("a fetch takes the nearest whole place", machine, "Float", lambda right: lambda way: Float("nearest")),
    IlBug("a fetch outside is that at the edge", IlMemory, "load", _unclamped),
    IlBug("components are written one by one", code._IlCode, "_compute", _one_by_one),
    IlBug("if has its arms swapped", code._IlCode, "_branch", _swapped),
    IlBug("continue leaves the loop", code._IlCode, "_target", _same_target),
    IlBug("what a swizzle names is taken for what is written", live, "places_read", _as_written),
)  # fmt: skip
