"""A tiny language of loop nests: rendered as C for warpsmith, executed by the oracle.

    Nest  = name, loops (outermost first), statements, scalar
    Loop  = counter, type, lower, upper, inclusive, step          bounds: Affine in outer counters and parameters
    Stmt  = Write(target, sources, guard) | Temporary(name, source) | Carry(name, source) | Sum(name, source)

Arrays: A and B are flat (`A[e0 * w + e1]`, w a parameter), X and Y have one dimension, M and P two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Access", "Affine", "Guard", "Loop", "Nest", "Statement", "render_nest", "render_unit"]

Counter = Literal["i", "j", "k"]
Scalar = Literal["", "temporary", "outer temporary", "conditional", "carried", "sum"]


@dataclass(frozen=True)
class Affine:
    """constant + Σ coefficient · name; `negate_wide` is never used: values are plain integers."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    def value(self, names: Mapping[str, int]) -> int:
        return self.constant + sum(coefficient * names[name] for name, coefficient in self.terms)

    def text(self) -> str:
        pieces: list[str] = []
        for name, coefficient in self.terms:
            if coefficient == 0:
                continue
            sign = "-" if coefficient < 0 else "+"
            size = name if abs(coefficient) == 1 else f"{abs(coefficient)} * {name}"
            pieces.append(f"{sign} {size}")
        if self.constant or not pieces:
            pieces.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        joined = " ".join(pieces)
        return joined[2:] if joined.startswith("+ ") else f"-{joined[2:]}"


@dataclass(frozen=True)
class Access:
    """An array element. `flat`: one subscript row * width + column, else a subscript each."""

    array: str
    subscripts: tuple[Affine, ...]

    def text(self) -> str:
        parts = [subscript.text() for subscript in self.subscripts]
        if self.array in ("A", "B"):
            row = (
                parts[0] if len(self.subscripts[0].terms) + bool(self.subscripts[0].constant) <= 1 else f"({parts[0]})"
            )
            column = parts[1]
            joint = f"- {column[1:]}" if column.startswith("-") else f"+ {column}"
            return f"{self.array}[{row} * w {joint}]"
        return self.array + "".join(f"[{part}]" for part in parts)

    def address(self, names: Mapping[str, int]) -> int:
        values = [subscript.value(names) for subscript in self.subscripts]
        return values[0] if len(values) == 1 else values[0] * names["w"] + values[1]


@dataclass(frozen=True)
class Guard:
    """`if`: affine comparison, parity of an affine value, or a comparison of data (then `access` is set)."""

    left: Affine
    kind: Literal["<", "parity", "data"]
    right: Affine = Affine(0)
    access: Access | None = None

    def text(self) -> str:
        if self.access is not None:
            return f"{self.access.text()} > 0.75"
        if self.kind == "parity":
            return f"({self.left.text()}) % 2 == 0"
        return f"{self.left.text()} < {self.right.text()}"

    def holds(self, names: Mapping[str, int]) -> bool:
        """Whether it may hold: a comparison of data may always."""
        if self.access is not None:
            return True
        if self.kind == "parity":
            return self.left.value(names) % 2 == 0
        return self.left.value(names) < self.right.value(names)


@dataclass(frozen=True)
class Loop:
    counter: str
    type: str
    lower: Affine
    upper: Affine
    inclusive: bool
    step: int

    def header(self, *, declare: bool) -> str:
        start, stop = (self.lower, self.upper) if self.step > 0 else (self.upper, self.lower)
        relation = ("<=" if self.inclusive else "<") if self.step > 0 else (">=" if self.inclusive else ">")
        size = abs(self.step)
        step = {1: "++", -1: "--"}.get(self.step, f" {'+' if self.step > 0 else '-'}= {size}")
        kind = f"{self.type} " if declare else ""
        name = self.counter
        return f"for ({kind}{name} = {start.text()}; {name} {relation} {stop.text()}; {name}{step})"

    def values(self, names: Mapping[str, int]) -> range:
        low, high = self.lower.value(names), self.upper.value(names)
        if self.step > 0:
            return range(low, high + (1 if self.inclusive else 0), self.step)
        return range(high, low - (1 if self.inclusive else 0), self.step)


@dataclass(frozen=True)
class Statement:
    """`target = Σ sources` (or += and the like); `depth`: how many loops are around it (imperfect nests)."""

    target: Access
    sources: tuple[Access, ...]
    guard: Guard | None
    update: bool


@dataclass(frozen=True)
class Nest:
    name: str
    loops: tuple[Loop, ...]
    statements: tuple[Statement, ...]
    scalar: Scalar
    scalar_source: Access
    declares: bool


def _statement(statement: Statement, scalar: str) -> str:
    terms = [f"0.25 * {source.text()}" for source in statement.sources] or ["0.5"]
    if scalar:
        terms.append("0.125 * t")
    operator = "+=" if statement.update else "="
    text = f"{statement.target.text()} {operator} {' + '.join(terms)} + 0.0625;"
    return text if statement.guard is None else f"if ({statement.guard.text()}) {text}"


def _scalar_lines(nest: Nest) -> list[str]:
    source = nest.scalar_source.text()
    return {
        "": [],
        "temporary": [f"double t = {source} + 0.5;"],
        "outer temporary": [f"t = {source} + 0.5;"],
        "conditional": [f"if ({source} > 0.75) t = {source};"],
        "carried": [f"t = 0.5 * t + {source};"],
        "sum": [f"s += {source};"],
    }[nest.scalar]


def uses_scalar(nest: Nest) -> bool:
    """Whether the statements read t."""
    return nest.scalar not in ("", "sum")


def sizes_of(nest: Nest) -> str:
    """Return the parameters n, m and w, unsigned where the counters are."""
    kind = "unsigned" if any(loop.type.startswith("unsigned") for loop in nest.loops) else "int"
    return ", ".join(f"{kind} {name}" for name in "nmw")


def render_nest(nest: Nest) -> str:
    """Return the nest as a C function."""
    lines = [
        f"double {nest.name}({sizes_of(nest)}, double *restrict A, double *restrict B, double *restrict X,",
        "          double *restrict Y, double (*restrict M)[w], double (*restrict P)[w])",
        "{",
        "    double t = 0.0, s = 0.0;",
    ]
    if not nest.declares:
        lines += [f"    {loop.type} {loop.counter};" for loop in nest.loops]
    pad = "    "
    for loop in nest.loops:
        lines.append(f"{pad}{loop.header(declare=nest.declares)} {{")
        pad += "    "
    lines += [pad + line for line in _scalar_lines(nest)]
    scalar = "t" if uses_scalar(nest) else ""
    lines += [pad + _statement(statement, scalar) for statement in nest.statements]
    for _ in nest.loops:
        pad = pad[4:]
        lines.append(pad + "}")
    keep = "t + s" if nest.scalar in ("conditional", "carried", "sum") else "s"
    unused = "" if nest.scalar in ("outer temporary", "conditional", "carried") or keep == "t + s" else "    (void)t;\n"
    lines += [f"{unused}    return {keep};" if unused else f"    return {keep};", "}"]
    return "\n".join(lines)


def render_unit(nests: list[Nest], sizes: tuple[tuple[int, int, int], ...], room: int) -> str:
    """Return a program that runs every nest at every size on fresh data and prints one number a run.

    Array bases point `room` elements into their blocks, so that small negative subscripts are inside.
    """
    calls = []
    for nest in nests:
        for n, m, w in sizes:
            flat = "a + ROOM, b + ROOM, x + ROOM, y + ROOM"
            rows = f"(double (*)[{w}])(p + ROOM), (double (*)[{w}])(q + ROOM)"
            calls += [
                "    fill();",
                f'    printf("{nest.name} %.9g ", {nest.name}({n}, {m}, {w}, {flat}, {rows}));',
                "    digest();",
            ]
    return "\n".join(
        [
            "#include <stdio.h>",
            f"enum {{ ROOM = {room} }};",
            "static double a[2 * ROOM], b[2 * ROOM], x[2 * ROOM], y[2 * ROOM], p[2 * ROOM], q[2 * ROOM];",
            *(render_nest(nest) for nest in nests),
            "static void fill(void)",
            "{",
            "    for (int e = 0; e < 2 * ROOM; e++) {",
            "        a[e] = 0.5 + (e % 7) / 16.0; b[e] = 0.25 + (e % 11) / 16.0; x[e] = 0.75 + (e % 5) / 16.0;",
            "        y[e] = 0.5 + (e % 13) / 32.0; p[e] = 0.5 + (e % 17) / 32.0; q[e] = 0.25 + (e % 3) / 8.0;",
            "    }",
            "}",
            "static void digest(void)",
            "{",
            "    double sum = 0.0;",
            "    for (int e = 0; e < 2 * ROOM; e++)",
            "        sum += (e % 19 + 1) * (a[e] + 2 * b[e] + 3 * x[e] + 4 * y[e] + 5 * p[e] + 6 * q[e]);",
            '    printf("%.9g\\n", sum);',
            "}",
            "int main(void)",
            "{",
            *calls,
            "    return 0;",
            "}",
            "",
        ]
    )
