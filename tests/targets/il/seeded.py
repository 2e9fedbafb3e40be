"""Bugs that are put into the rewrites of IL, one at a time: small programs show each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct

from tests.front.il.programs import IlCase
from tests.front.il.running import parse
from tests.targets.il.agree import case_of, differs
from warpsmith.targets.il import division, fetches, optimize, selections
from warpsmith.targets.il.facts import IlFacts
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.il.rewrites import IlCondition, Writer

__all__ = ["BUGS", "CASES", "RewriteBug", "found_by"]

FETCH = "sample_resource(0)_sampler(0) {}, {}\n"
POWER = "cb0[0].x is a power of two"
WORDS = (16, 0, 0, 0, 77, 0xFFFFFFFF, 0x80000000, 12345678)
FLOATS = (0x3F800000, 0xC0000000, 0, 0x40400000, 0x40000000, 0xBF800000, 0x80000000, 0x3F000000)
NUMBERS = ("what line 10 chooses from is not NaN",)
LEFT = "mov r1, cb0[1]\nudiv r2, r1, cb0[0].x\nmov r1, l0.x\nimul r3, r2, cb0[0].x_neg(xyzw)\niadd o0, r1, r3"
TWICE = f"mov r5, v0.x\n{FETCH.format('r1', 'r5.x')}mov r5.x___, v0.y\n{FETCH.format('r2', 'r5.x')}iadd o0, r1, r2"
CASES: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...] = (
    ("ftoi r1, v0.xyxy\nudiv o0, r1, l0.x", WORDS, ()),
    ("ftoi r1, v0.xyxy\numod o0, r1, l0.x", WORDS, ()),
    ("mov r1, cb0[1]\nudiv o0, r1, cb0[0].x", WORDS, (POWER,)),
    (LEFT, WORDS, (POWER,)),
    ("ftoi r1, v0.xyxy\niadd r1, r1, l0.w\nitof r2, r1\nmod o0, r2.x, l0.y", WORDS, ()),
    ("mov r1, cb0[0]\nmov r2, cb0[1]\nlt r3, r1, r2\ncmov_logical o0, r3, r1, r2", FLOATS, ()),
    ("mov r1, cb0[0]\nmov r2, cb0[1]\nlt r3, r1, r2\nmov r1, r2.yxzw\ncmov_logical o0, r3, r1, r2", FLOATS, ()),
    (TWICE, WORDS, ()),
    ("add r1, v0.x, v0.x\n" + FETCH.format("r2", "r1.x") + "iadd o0, r2, r2", WORDS, ()),
    ("mov r1, cb0[1].y\nudiv o0, r1, cb0[1].x", WORDS, ()),
    ("mov r1, cb0[0]\nmov r2, cb0[1]\nlt r3, r1, r2\ncmov_logical o0, r3, r1, r2", FLOATS, NUMBERS),
)  # fmt: skip
"""A program, its constants, and what is granted."""


class RewriteBug(Struct, frozen=True):
    """`name` of `owner` is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


def found_by(bug: RewriteBug) -> int | None:
    """Return the first program that is wrong after its rewrites; None where none is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        for number, (body, constants, granted) in enumerate(CASES):
            case: IlCase = case_of(body, constants)
            if differs(case, optimize_il(parse(case.text), granted)):
                return number
    return None


def _literal_above(right: Any) -> Any:
    return lambda self, word: right(self, word + 1)


def _swapped(right: Any) -> Any:
    return lambda facts, at, letter: {"min": "max", "max": "min", "": ""}[right(facts, at, letter)]


def _always(right: Any) -> Any:
    return lambda self, at, one, then, other: one == other


def _small(right: Any) -> Any:
    return lambda facts, at, source, letter: (0, 1)


def _proved(right: Any) -> Any:
    return lambda text, proved=False: IlCondition(text, proved=True)


BUGS = (
    RewriteBug("a shift is one too far", Writer, "literal", _literal_above),
    RewriteBug("what was written meanwhile is not seen", IlFacts, "same", _always),
    RewriteBug("log2 is not taken of the exponent", division, "_logarithm", lambda _: lambda write, source: source),
    RewriteBug("min and max are mixed up", selections, "_kind", _swapped),
    RewriteBug("a fetch goes past what it needs", fetches, "_depends", lambda _: lambda before, one: False),
    RewriteBug("a negative remainder is a mask", division, "_bounds", _small),
    RewriteBug("every condition holds", optimize, "_open", lambda _: lambda one, granted: ()),
    RewriteBug("every condition is proved", division, "IlCondition", _proved),
)  # fmt: skip
