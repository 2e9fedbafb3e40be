"""Random C functions for steps: nests of depth 1 to 3, triangles, strides, negative steps, statements between loops,
temporaries; and random steps to try on them. Nothing that is run is undefined: subscripts stay inside their arrays."""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec import Struct, field

from tests.loops.steps.twins import Stand
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.peel import Peel
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.loops.steps.order.shift import Shift
from warpsmith.loops.steps.order.split import Split
from warpsmith.loops.steps.order.strip_mine import StripMine
from warpsmith.loops.steps.order.tile import Tile
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.statements.nest import Nest
from warpsmith.tree.walk import loop_names

TYPES = (*["int"] * 9, "long", "unsigned", "size_t", "short")


class Maker(Struct):
    """Writes one function; `outer` are the counters in scope, `free` those that may be subtracted from."""

    rng: random.Random
    declares: bool
    type: str
    lines: list[str] = field(default_factory=list)
    scalar: bool = False
    tidy: bool = False
    last: str = ""

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def loop(self, depth: int, outer: tuple[str, ...], pad: str) -> None:
        name = "ijk"[len(outer)] if len(outer) < 2 else "l"
        inner = (*outer, name)
        if outer or not self.last or self.rng.random() < 0.4:
            header = self.header(name, outer)
            self.last = self.last if outer else header
        else:
            header = self.last
        self.lines.append(f"{pad}{header} {{")
        deeper = pad + "    "
        if depth == 1:
            for _ in range(self.rng.choice([1, 1, 2, 3])):
                self.statement(inner, deeper)
        else:
            mixed = self.rng.random() < 0.4
            if mixed and self.rng.random() < 0.6:
                self.statement(inner, deeper)
            self.loop(depth - 1, inner, deeper)
            if mixed and self.rng.random() < 0.5:
                self.statement(inner, deeper)
            if mixed and self.rng.random() < 0.4:
                self.loop(1, inner, deeper)
        self.lines.append(pad + "}")

    def header(self, name: str, outer: tuple[str, ...]) -> str:
        signed = self.type in ("int", "long", "short")
        kind = f"{self.type} " if self.declares else ""
        low, high = self.pick("0", "0", "0", "1", "2"), self.pick("n", "n", "m", "n - 1" if signed else "n", "6")
        if outer and self.rng.random() < 0.35:
            near = self.rng.choice(outer)
            if self.rng.random() < 0.5:
                low = self.pick(near, f"{near} + 1", f"2 * {near}" if signed else near)
            else:
                high = self.pick(near, f"{near} + 1", f"n - {near}" if signed else near)
        if not signed or self.rng.random() < 0.75:
            relation = self.pick("<", "<", "<=" if signed else "<")
            step = self.pick("++", "++", "++", "++", " += 2")
            if high.isdecimal() or signed:
                return f"for ({kind}{name} = {low}; {name} {relation} {high}; {name}{step})"
            bound = f"({self.type})({high} < 0 ? 0 : {high})" if high in ("n", "m") else high
            return f"for ({kind}{name} = {low}; {name} < {bound}; {name}{step})"
        relation = self.pick(">", ">=", ">=")
        return f"for ({kind}{name} = {high}; {name} {relation} {low}; {name}{self.pick('--', '--', ' -= 2')})"

    def statement(self, counters: tuple[str, ...], pad: str) -> None:
        if self.scalar and self.rng.random() < 0.3:
            self.lines += [f"{pad}t = {self.read(counters)} + 0.5;", f"{pad}{self.write(counters)} = t * 0.5;"]
            return
        target = self.write(counters)
        terms = " + ".join(f"0.25 * {self.read(counters)}" for _ in range(self.rng.choice([0, 1, 1, 2]))) or "0.5"
        op = self.pick("=", "=", "+=")
        guard = f"if ({counters[-1]} % 2 == 0) " if self.rng.random() < 0.08 else ""
        self.lines.append(f"{pad}{guard}{target} {op} {terms} + 0.125;")

    def subscript(self, counters: tuple[str, ...]) -> str:
        name = self.rng.choice(counters)
        shift = (
            self.pick("", "", "", " + 1", " + 2")
            if self.type not in ("int", "long")
            else self.pick("", "", "", " + 1", " - 1")
        )
        return name + shift

    def write(self, counters: tuple[str, ...]) -> str:
        if self.tidy:
            return f"a[{counters[0]}][{counters[-1]}]" if len(counters) > 1 else f"x[{counters[0]}]"
        if len(counters) > 1 and self.rng.random() < 0.7:
            first, second = self.rng.sample(counters, 2)
            if self.rng.random() < 0.7:
                first, second = counters[0], counters[-1]
            return f"{self.pick('a', 'a', 'b')}[{first}][{second}]"
        return f"{self.pick('x', 'y')}[{self.subscript(counters)}]"

    def read(self, counters: tuple[str, ...]) -> str:
        if self.tidy and self.rng.random() < 0.4:
            return self.write(counters)
        if len(counters) > 1 and self.rng.random() < 0.6:
            array = "b" if self.tidy else self.pick("a", "b")
            return f"{array}[{self.subscript(counters)}][{self.subscript(counters).replace(' - 1', ' + 1')}]"
        if self.tidy:
            return f"y[{self.subscript(counters)}]"
        return f"{self.pick('x', 'y')}[{self.subscript(counters)}]"


def body(rng: random.Random) -> str:
    """Return the body of a random function."""
    maker = Maker(rng, rng.random() < 0.6, rng.choice(TYPES), tidy=rng.random() < 0.6)
    if rng.random() < 0.25:
        maker.scalar = True
        maker.lines.append("    double t;")
    if not maker.declares:
        maker.lines.append(f"    {maker.type} i, j, l;")
    for _ in range(rng.choice([1, 1, 2])):
        maker.loop(rng.choice([1, 2, 2, 2, 3]), (), "    ")
    return "".join(line + "\n" for line in maker.lines).replace("size_t", "unsigned long")


def candidates(rng: random.Random, stand: Stand) -> Iterator[Step]:
    """Yield steps on random loops of a function, those that often do not fit first."""
    names = list(loop_names(stand.function).values())
    if not names:
        return
    for _ in range(4):
        loop = rng.choice(names)
        counter = loop.split("/")[1].split("#")[0]
        steps: list[Step] = [
            Interchange(loop),
            Distribute(loop),
            Fuse(loop),
            Nest(loop),
            Tile(loop, tuple(rng.choice([2, 3, 4]) for _ in range(rng.choice([1, 2, 2, 3])))),
            StripMine(loop, rng.choice([2, 3, 5])),
            Unroll(loop, rng.choice([0, 2, 3])),
            Peel(loop, rng.choice([0, 1, 2]), rng.choice([0, 1])),
            Split(loop, rng.choice(["k", "k + 1", "2", "n - 2", "m", counter]), rng.random() < 0.5),
            Reverse(loop),
            Shift(loop, rng.choice([-2, 1, 3])),
        ]
        weights = [6, 2, 6, 6, 6, 1, 1, 1, 2, 2, 1]
        order = sorted(range(len(steps)), key=lambda k: rng.random() ** (1 / weights[k]), reverse=True)
        yield from (steps[k] for k in order[:6])
