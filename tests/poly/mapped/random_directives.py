"""Random programs of host loops, constructs on a device and data directives, in any order; with `jumps` their loops end
after numbers of iterations that are not known, are left and go on early, and pointers trade places in them."""

from __future__ import annotations

import random

from msgspec import Struct, field

from tests.poly.mapped.programs import HEAD, TAIL

__all__ = ["random_program"]

ARRAYS = "abc"
PARTS = (("0", "n"), ("0", "n"), ("0", "n"), ("1", "n - 1"), ("0", "h"), ("h", "n"))
DEEPEST = 2


class _Writer(Struct):
    rng: random.Random
    jumps: bool = False
    lines: list[str] = field(default_factory=list)

    def array(self) -> str:
        return self.rng.choice(ARRAYS + "pq" * self.jumps)

    def jump(self, depth: int) -> None:
        """Leave the loop with counter k0, k1, …, or go on early, or let p and q trade places there."""
        kind = self.rng.randrange(5 if depth else 3)
        if kind < 3:
            self.lines.append("x = p; p = q; q = x;")
        else:
            k = f"k{depth - 1}"
            at = self.rng.choice(("s > 40", f"{k} > h - 8", f"{k} == h - 8", f"{k} < h - 7"))
            self.lines.append(f"if ({at}) {('break', 'continue')[kind - 3]};")

    def loop(self, body: str) -> None:
        low, high = self.rng.choice(PARTS)
        self.lines.append(f"for (int i = {low}; i < {high}; i++) {body}")

    def clauses(self, kinds: tuple[str, ...], some: int) -> str:
        chosen = self.rng.sample(ARRAYS, some)
        return " ".join(f"map({self.rng.choice(kinds)}: {a}[0:n])" for a in chosen)

    def construct(self) -> None:
        x, y = self.array(), self.array()
        if "p" in x + y or "q" in x + y:
            self.lines.append("#pragma omp target teams distribute parallel for")
            self.loop(f"{x}[i] = {y}[i] + 1;")
            return
        maps = ("", "", f"map(tofrom: {x}[0:n])", self.clauses(("to", "from", "tofrom", "alloc"), 2))
        self.lines.append(f"#pragma omp target teams distribute parallel for {self.rng.choice(maps)}")
        self.loop(f"{x}[i] {self.rng.choice(('=', '=', '+='))} {y}[i] + 1;")

    def region(self, head: str, most: int, depth: int) -> None:
        self.lines += [head] if head.endswith("{") else [head, "{"]
        for _ in range(self.rng.randrange(2, most)):
            self.step(depth)
            if self.jumps and head.startswith("for") and self.rng.random() < 0.5:
                self.jump(depth)
        self.lines.append("}")

    def update(self) -> None:
        way, part = self.rng.choice(("to", "from")), self.rng.choice(("0:n", "0:n", "0:h"))
        self.lines.append(f"#pragma omp target update {way}({self.rng.choice(ARRAYS)}[{part}])")

    def step(self, depth: int) -> None:
        kind = self.rng.randrange(9)
        if kind < 3 or (kind > 6 and depth >= DEEPEST):
            self.construct()
        elif kind == 3:
            self.loop(f"s += {self.array()}[i];")
        elif kind == 4:
            self.loop(f"{self.array()}[i] = {self.rng.randrange(9)};")
        elif kind < 7:
            self.update()
        elif kind == 7:
            most = self.rng.choice(("1", "2", "3", "h - 7", "h - 6", "h - 5")) if self.jumps else "2"
            self.region(f"for (int k{depth} = 0; k{depth} < {most}; k{depth}++) {{", 4 + self.jumps, depth + 1)
        else:
            self.region(self.data(self.rng.randrange(1, 4), ("to", "from", "tofrom", "tofrom")), 6, depth + 1)

    def data(self, some: int, kinds: tuple[str, ...]) -> str:
        return "#pragma omp target data " + self.clauses(kinds, some)


def random_program(seed: int, *, jumps: bool = False) -> str:
    """Return a program whose constructs stand in a region that has all arrays."""
    writer = _Writer(random.Random(seed), jumps)
    if jumps:
        writer.lines += ["double *p = a;", "double *q = b;", "double *x;"]
    writer.region(writer.data(3, ("to", "tofrom", "tofrom")), 6, 0)
    if jumps and not any(line.startswith("for (int k0") for line in writer.lines):
        return random_program(seed + 1000, jumps=True)
    if writer.rng.random() < 0.7:
        writer.loop(f"s += {writer.array()}[i];")
    return HEAD + "\n".join(writer.lines) + TAIL
