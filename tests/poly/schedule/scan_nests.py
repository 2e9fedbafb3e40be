"""Random nests that log the order of their statements, and random schedules to put them in."""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec import Struct, field

__all__ = ["LogNest", "random_nest"]

Names = dict[str, int]


class ScheduledStatement(Struct):
    """Logs its number and its counters; `dimensions`: (factors by counter, constant, divisor)."""

    number: int
    counters: tuple[str, ...]
    dimensions: list[tuple[dict[str, int], int, int]] = field(default_factory=list)

    def schedule(self, names: Names) -> tuple[int, ...]:
        return tuple((sum(f * names[c] for c, f in terms.items()) + k) // d for terms, k, d in self.dimensions)

    def text(self) -> str:
        parts = []
        for terms, constant, divisor in self.dimensions:
            whole = "".join(f"{f:+d}*{c}" for c, f in terms.items()) + f"{constant:+d}"
            parts.append(f"({whole})/{divisor}" if divisor > 1 else whole)
        return " ".join(parts)

    def code(self, depth: int) -> str:
        pad = "    " * depth
        values = "".join(f" log[at++] = {c};" for c in self.counters)
        return f"{pad}{{ log[at++] = {-1000 - self.number};{values} }}\n"


class Condition(Struct):
    text: str
    inside: list[ScheduledStatement | Loop | Condition]


class Loop(Struct):
    """`for (counter = low; counter < high; counter += step)`, or downwards; low and high are (factors, constant)."""

    counter: str
    low: tuple[dict[str, int], int]
    high: tuple[dict[str, int], int]
    step: int
    inside: list[ScheduledStatement | Loop | Condition]

    def values(self, names: Names) -> range:
        low, high = (sum(f * names[c] for c, f in t.items()) + k for t, k in (self.low, self.high))
        return range(low, high, self.step) if self.step > 0 else range(high - 1, low - 1, self.step)

    def code(self, depth: int) -> str:
        pad = "    " * depth
        low, high = (_text(*side) for side in (self.low, self.high))
        c, s = self.counter, self.step
        head = (
            f"int {c} = {low}; {c} < {high}; {c} += {s}"
            if s > 0
            else f"int {c} = {high} - 1; {c} >= {low}; {c} -= {-s}"
        )
        return f"{pad}for ({head}) {{\n{_codes(self.inside, depth + 1)}{pad}}}\n"


def _text(terms: dict[str, int], constant: int) -> str:
    pieces = [c if f == 1 else f"({f}) * {c}" for c, f in terms.items()]
    return " + ".join([*pieces, str(constant)]) if constant or not pieces else " + ".join(pieces)


def _codes(parts: list[ScheduledStatement | Loop | Condition], depth: int) -> str:
    text = ""
    for part in parts:
        if isinstance(part, Condition):
            pad = "    " * depth
            text += f"{pad}if ({part.text}) {{\n{_codes(part.inside, depth + 1)}{pad}}}\n"
        else:
            text += part.code(depth)
    return text


class LogNest(Struct):
    """A function `name(n, m, log)` that returns how much it logged."""

    name: str
    top: Loop
    statements: list[ScheduledStatement]

    def code(self) -> str:
        head = f"int {self.name}(int n, int m, int *log)\n{{\n    int at = 0;\n"
        return f"{head}{self.top.code(1)}    return at;\n}}\n"

    def instances(self, n: int, m: int) -> list[list[int]]:
        """Return what is logged in the order of the new schedules."""
        found = [
            (statement.schedule(names), statement, names) for statement, names in _walk([self.top], {"n": n, "m": m})
        ]
        longest = max((len(schedule) for schedule, _, _ in found), default=0)
        found.sort(key=lambda one: one[0] + (0,) * (longest - len(one[0])))
        return [[-1000 - statement.number, *(names[c] for c in statement.counters)] for _, statement, names in found]


def _walk(
    parts: list[ScheduledStatement | Loop | Condition], names: Names
) -> Iterator[tuple[ScheduledStatement, Names]]:
    for part in parts:
        match part:
            case ScheduledStatement():
                yield part, names
            case Loop():
                for value in part.values(names):
                    yield from _walk(part.inside, {**names, part.counter: value})
            case Condition():
                if eval(part.text.replace("&&", "and"), {}, dict(names)):
                    yield from _walk(part.inside, names)


def random_nest(name: str, dice: random.Random) -> LogNest:
    """Return a nest with up to three statements, three loops deep, and random schedules."""
    statements: list[ScheduledStatement] = []
    top = _loop(dice, (), statements)
    if not statements:
        statements.append(ScheduledStatement(0, (top.counter,)))
        top.inside.append(statements[0])
    plan = [dice.choice(("number", "sum", "sum", "counter")) for _ in range(dice.randint(1, 3))]
    for statement in statements:
        statement.dimensions = [
            _dimension(dice, statement.counters, kind) for kind in plan[: dice.randint(1, len(plan))]
        ]
    return LogNest(name, top, statements)


def _loop(dice: random.Random, around: tuple[str, ...], statements: list[ScheduledStatement]) -> Loop:
    counter = "ijk"[len(around)]
    low: tuple[dict[str, int], int] = ({}, dice.randint(-1, 2))
    high: tuple[dict[str, int], int] = ({dice.choice("nm"): 1}, dice.randint(-1, 1))
    if around and dice.random() < 0.4:
        low = ({dice.choice(around): dice.choice((1, 1, 2, -1))}, dice.randint(-1, 1))
    if around and dice.random() < 0.3:
        high = ({"n": 1, dice.choice(around): dice.choice((1, -1))}, dice.randint(0, 1))
    step = dice.choice((1, 1, 1, 1, -1, -1, 2, 3, -2))
    loop = Loop(counter, low, high, step, [])
    inner = (*around, counter)
    for _ in range(dice.randint(1, 2)):
        if len(inner) < 3 and dice.random() < 0.6:
            part: ScheduledStatement | Loop | Condition = _loop(dice, inner, statements)
        elif len(statements) < 3:
            part = ScheduledStatement(len(statements), inner)
            statements.append(part)
        else:
            continue
        if dice.random() < 0.2:
            tests = [
                f"{inner[0]} > 1",
                f"{inner[-1]} % 2 == 0",
                f"{inner[0]} + {inner[-1]} < n",
                f"m > 2 && {inner[-1]} >= 0",
            ]
            part = Condition(dice.choice(tests), [part])
        loop.inside.append(part)
    return loop


def _dimension(dice: random.Random, counters: tuple[str, ...], kind: str) -> tuple[dict[str, int], int, int]:
    if kind == "number":
        return {}, dice.randint(0, 2), 1
    if kind == "counter":
        return {dice.choice(counters): dice.choice((1, 1, 1, -1))}, dice.choice((0, 0, 0, 1)), 1
    terms = {c: f for c in counters if (f := dice.choice((0, 1, 1, 2, -1)))}
    return terms, dice.choice((0, 0, 1, -2)), dice.choice((1, 1, 1, 1, 4))
