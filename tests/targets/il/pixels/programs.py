"""Random kernels over streams: branches, loops, gathers along one and two axes, vectors."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from tests.front.brook.by_hand import BrookCase, numbers_in

__all__ = ["random_case"]

_SHAPE = (3, 5)


class _Writer:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.counters = 0

    def integer(self, depth: int = 2) -> str:
        """Return an expression of type int."""
        if depth == 0 or self.draw.random() < 0.2:
            return self.draw.choice(("i0", "i1", "i2", "n", "p", str(self.draw.randrange(-3, 9)), "instance().y"))
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return self.draw.choice((
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} & {b})", f"({a} ^ {b})", f"({a} << ({b} & 3))",
            f"({a} >> ({b} & 7))", f"({a} / ({b} | 1))", f"({a} % 5)", f"max({a}, {b})", f"abs({a})",
            f"({self.test(depth - 1)} ? {a} : {b})", f"m[{a} & 3][{b} & 7]", f"(int)({self.real(depth - 1)} - 0.5f)",
        ))  # fmt: skip

    def real(self, depth: int = 2) -> str:
        """Return an expression of type float, of a size that integers have."""
        if depth == 0 or self.draw.random() < 0.2:
            return self.draw.choice(("f0", "f1", "s", "a", "v.y", "v.w", "0.75f", "(float)(i0 & 15)"))
        x, y = self.real(depth - 1), self.real(depth - 1)
        index = self.integer(depth - 1)
        return self.draw.choice((
            f"({x} + {y})", f"({x} - {y})", f"min({x}, {y})", f"frac({x})", f"floor({x})", f"fmod({x}, 3.5f)",
            f"clamp({x} * {y}, -9, 9)", f"g[{index} & 7]", f"g[frac({x}) * 7.9f]", f"h[{index} & 3][instance().x]",
            f"h[instance().y][{index} & 7]", "h[instance().x][instance().y]",
            f"h[float2(instance().x, frac({y}) * 3.9f)]",
            f"({self.test(depth - 1)} ? {x} : {y})", f"dot(v.xy, float2({x}, 1))",
        ))  # fmt: skip

    def test(self, depth: int = 1) -> str:
        """Return a condition."""
        kind = self.draw.randrange(4)
        if kind == 0 and depth:
            return f"({self.test(depth - 1)} {self.draw.choice(('&&', '||'))} {self.test(depth - 1)})"
        relation = self.draw.choice(("<", "<=", ">", ">=", "==", "!="))
        if kind == 1:
            return f"({self.real(depth)} {relation} {self.real(depth)})"
        return f"({self.integer(depth)} {relation} {self.integer(depth)})"

    def statements(self, depth: int) -> Iterator[str]:
        """Yield some statements."""
        for _ in range(self.draw.randrange(1, 4)):
            yield from self.statement(depth)

    def statement(self, depth: int) -> Iterator[str]:
        """Yield one statement."""
        kind = self.draw.randrange(9 if depth else 5)
        if kind < 2:
            yield f"{self.draw.choice(('i0', 'i1', 'i2'))} = {self.integer()};"
        elif kind < 4:
            yield f"{self.draw.choice(('f0', 'f1', 'v.x', 'v.z', 'o'))} = {self.real()};"
        elif kind == 4:
            yield f"v = v * 0.5f + float4(f0, {self.real(1)}, 1, (float)(i1 & 7)).{self.draw.choice(('xyzw', 'wzyx'))};"
        elif kind < 7:
            other = ("else {", *self.statements(depth - 1), "}") if self.draw.random() < 0.5 else ()
            yield from (f"if {self.test()} {{", *self.statements(depth - 1), "}", *other)
        elif kind == 7:
            self.counters += 1
            k = f"k{self.counters}"
            leave = f"if {self.test(0)} {self.draw.choice(('break', 'continue'))};"
            yield f"for (int {k} = 0; {k} < {self.draw.randrange(1, 4)}; {k}++) {{"
            yield from (*self.statements(depth - 1), leave, f"i0 += {k};", *self.statements(depth - 1), "}")
        else:
            yield f"if {self.test()} {{ o = f0; w = {self.integer(1)}; return; }}"

    def text(self) -> str:
        """Return the kernel."""
        head = (
            "kernel void k(float a<>, float g[], float h[][], int m[][], int n, float s, out float o<>, out int w<>)"
            "{ int p = instance().x; int i0 = p, i1 = n, i2 = 1; float f0 = a, f1 = s; float4 v = float4(a, s, 1, 2);"
            "o = 0; w = 0;"
        )
        return "\n".join(
            (head, *self.statements(3), "o = f0 + f1 + v.x + v.y + v.z + v.w; w = i0 + i1 * 3 + i2 * 7; }")
        )


def random_case(seed: int) -> BrookCase:
    """Return the kernel that a seed stands for, with its arrays."""
    arrays = {
        "a": numbers_in(seed, 15), "g": numbers_in(seed + 1, 8), "h": numbers_in(seed + 2, 40),
        "m": numbers_in(seed + 3, 32, "i4"), "o": np.zeros(15, "f4"), "w": np.zeros(15, "i4"),
    }  # fmt: skip
    numbers = {"n": seed % 7 - 2, "s": (seed % 11) / 4, "h_width": 8, "m_width": 8}
    return BrookCase("", "k", arrays, numbers, _SHAPE, ["o", "w"], text=_Writer(seed).text())
