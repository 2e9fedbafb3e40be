"""Changes one number that reaches a branch, step by step, so that its condition comes nearer to where it turns.

    margin              the number x is an argument, a word of memory, or the number of the block along an axis
    d ●                 1. x + δ shows the slope
       ╲                2. the secant says where the margin is zero: there, and beside it
        ╲ ● x + δ       3. again from the nearest, while it gets nearer
    ─────╲────── x      (Korel, IEEE TSE 16(8), 1990: alternating variables; secants instead of doubled steps)

Threads differ by a little, so that near where it turns some go the other way.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Generator, Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from tests.corpus.goals import Goal
from tests.corpus.inputs import Inputs
from tests.corpus.margins import Near
from tests.corpus.sampling import Samples
from warpsmith.analysis.memory.bounds import countable
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.simt.launch import Dim
from warpsmith.ssa.nodes import Param
from warpsmith.ssa.types import Type

__all__ = ["Climb", "climb", "placed"]

_FORMS = {2: "<e", 4: "<f", 8: "<d"}
_ROUNDS = 3
_LONGER = 3

Climb = Generator[Inputs, Samples | None, None]
"""Yields the inputs of runs, and is sent what they showed; None where a run tells nothing."""


class Number(Protocol):
    """A number among the inputs that may be changed."""

    @property
    def now(self) -> float:
        """What it was."""
        ...

    def put(self, inputs: Inputs, number: float) -> Inputs:
        """Return inputs in which it is another one."""
        ...

    def first(self, chosen: random.Random) -> float:
        """Return a step to see the slope by."""
        ...

    def near(self, number: float) -> Iterator[float]:
        """Yield the numbers that may be put, nearest to one."""
        ...


class _Typed(Struct, frozen=True):
    """An argument (`key`: parameter and offset) or a word of memory (`key`: its address)."""

    key: str | int
    type: Type
    now: float

    def put(self, inputs: Inputs, number: float) -> Inputs:
        word = _word(number, self.type)
        if isinstance(self.key, int):
            return replace(inputs, words={**inputs.words, self.key: word})
        return replace(inputs, arguments={**inputs.arguments, self.key: word})

    def first(self, chosen: random.Random) -> float:
        if self.type.kind == "float":
            return chosen.choice((1, -1)) * max(abs(self.now), 1e-3) * 2.0 ** -chosen.randrange(12)
        return chosen.choice((1, -1, 1, -1, 1 << chosen.randrange(self.type.bits - 1)))

    def near(self, number: float) -> Iterator[float]:
        if self.type.kind == "float":
            yield from (number, number * (1 + 1e-6), number * (1 - 1e-6))
        else:
            yield from _whole(number)


class _Axis(Struct, frozen=True):
    """The number of the block along an axis, in a grid that is just large enough."""

    axis: int
    at: Dim
    now: float
    most: int

    def put(self, inputs: Inputs, number: float) -> Inputs:
        at = [*self.at]
        at[self.axis] = min(max(0, int(number)), self.most - 1)
        return placed(inputs, (at[0], at[1], at[2]))

    def first(self, chosen: random.Random) -> float:
        return chosen.choice((1, 2, 16)) if self.now < 16 else chosen.choice((-1, 1, -4, 16))

    def near(self, number: float) -> Iterator[float]:
        yield from _whole(number)


def climb(facts: KernelFacts, goal: Goal, start: Inputs, name: str, chosen: random.Random) -> Climb:
    """Yield inputs to start from, then others that bring the branch of block `name` nearer to its other side."""
    watch = yield start
    if watch is None or name not in watch.near:
        return
    near = watch.near[name]
    numbers = list(_numbers(facts, goal, watch, near))
    for _, number in sorted((rank * chosen.random(), at) for at, (rank, _) in enumerate(numbers)):
        yield from _secant(numbers[number][1], start, near.margin, name, chosen)


def _secant(number: Number, inputs: Inputs, here: float, name: str, chosen: random.Random) -> Climb:
    x, step = number.now, number.first(chosen)
    for _ in range(_ROUNDS):
        for _ in range(_LONGER):
            there = yield from _measured(number, inputs, x + step, name)
            if there != here:
                break
            # a field of a word, or what is divided, needs more
            step *= 1024
        if there is None or there == here:
            return
        goal = x - here * step / (there - here)
        tried = []
        for candidate in number.near(goal):
            margin = yield from _measured(number, inputs, candidate, name)
            if margin is not None:
                tried.append((abs(margin), candidate, margin))
        if not tried or min(tried)[0] >= abs(here):
            return
        _, x, here = min(tried)
        step = step / 16 if isinstance(step, float) else 1


def _measured(number: Number, inputs: Inputs, x: float, name: str) -> Generator[Inputs, Samples | None, float | None]:
    if not math.isfinite(x):
        return None
    seen = yield number.put(inputs, x)
    return seen.near[name].margin if seen is not None and name in seen.near else None


def _numbers(facts: KernelFacts, goal: Goal, watch: Samples, near: Near) -> Iterator[tuple[int, Number]]:
    """Yield the numbers that reach a branch, as they were for the thread that came nearest, with how far they are."""
    sizes = {p.name: p.bytes for p in facts.function.parameters}
    for rank, i in enumerate(goal.arguments, 1):
        detail, found = i.detail, watch.numbers.get(i)
        if not isinstance(detail, Param) or not found:
            continue
        if detail.offset + i.result.type.bytes <= sizes.get(detail.parameter, 0):
            key = f"{detail.parameter}+{detail.offset}"
            yield rank, _Typed(key, i.result.type, _now(found[0], i.result.type))
    ranks = {i: rank for rank, i in enumerate(goal.loads, 1)}
    for (i, _), (address, numbers) in watch.reads[near.who].items():
        if i in ranks:
            type = i.results[0].type
            yield ranks[i], _Typed(address, type, _now(numbers[0], type))
    most = countable(facts.block)
    yield from ((1, _Axis(axis, near.place, near.place[axis], most[axis])) for axis in goal.axes)


def placed(inputs: Inputs, at: Dim) -> Inputs:
    """Return inputs of which one block is run, in a grid that is just large enough."""
    x, y, z = (n + 1 for n in at)
    return replace(inputs, grid=(x, y, z), blocks=(at[0] + x * (at[1] + y * at[2]),))


def _whole(number: float) -> Iterator[float]:
    low = math.floor(number)
    yield from (low, low + 1, low - 1)


def _now(bits: int, type: Type) -> float:
    word = bits.to_bytes(type.bytes, "little")
    if type.kind == "float" and type.bytes in _FORMS:
        return float(struct.unpack(_FORMS[type.bytes], word)[0])
    return int.from_bytes(word, "little", signed=type.bits > 8)


def _word(number: float, type: Type) -> bytes:
    if type.kind == "float" and type.bytes in _FORMS:
        try:
            return struct.pack(_FORMS[type.bytes], number)
        except OverflowError:
            return bytes(type.bytes)
    return (int(number) % (1 << 8 * type.bytes)).to_bytes(type.bytes, "little")
