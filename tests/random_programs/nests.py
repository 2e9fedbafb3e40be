"""A tiny language of loop nests: rendered as C for warpsmith, executed by the oracle.

    Nest      = name, loops (outermost first), statements, one scalar (temporary, carried, summed, ...)
    Loop      = counter, type, lower, upper, inclusive, step      bounds: Affine in outer counters and parameters
    Statement = target, sources, guard, else-target, depth, before or after the loop inside
    Step      = Statement | "scalar" | "start" | "store"          what stands around or in a loop body, in order

Arrays: A and B are flat (`A[e0 * w + e1]`, w a parameter), X and Y have one dimension, M and P two. A and B are
restrict or not; then they are also called with blocks that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

__all__ = [
    "OVERLAP",
    "Access",
    "Affine",
    "Guard",
    "Loop",
    "Nest",
    "Scalar",
    "Size",
    "SizeType",
    "Statement",
    "Step",
    "reads_scalar",
    "render_nest",
    "render_unit",
    "row_target",
    "signature_sizes",
    "steps",
]

Scalar = Literal[
    "",
    "temporary",  # declared in the innermost body
    "outer temporary",  # declared outside, written first, dead after the loops
    "last temporary",  # the same, but the last value is returned
    "conditional",  # written under a condition on data: may keep its older value
    "either",  # written in both branches
    "carried",
    "sum",
    "row sum",  # set before the innermost loop, summed in it, stored after it
]
SizeType = Literal["int", "unsigned", "long", "unsigned long"]
Size = tuple[int, int, int]
OVERLAP = 3
LIVE: tuple[Scalar, ...] = ("last temporary", "conditional", "carried", "sum")


class Affine(Struct, frozen=True):
    """constant + Σ coefficient · name."""

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


class Access(Struct, frozen=True):
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


class Guard(Struct, frozen=True):
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


class Loop(Struct, frozen=True):
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


class Statement(Struct, frozen=True):
    """`target = Σ sources` (or +=); `otherwise` is the target where the guard does not hold (None: nothing happens).

    `depth` loops are around it; where that is not all of them it stands before the inner loop, or `after` it.
    """

    target: Access
    sources: tuple[Access, ...]
    guard: Guard | None
    update: bool
    depth: int
    otherwise: Access | None = None
    after: bool = False


Step = Statement | Literal["scalar", "start", "store"]


class Nest(Struct, frozen=True):
    """`least`: the smallest n and m for which it means what it seems (`i < n - 1`, unsigned, needs 1)."""

    name: str
    loops: tuple[Loop, ...]
    statements: tuple[Statement, ...]
    scalar: Scalar
    scalar_source: Access
    declares: bool
    sizes: SizeType = "int"
    restrict: bool = True
    least: int = 0

    def accepts(self, size: Size) -> bool:
        return min(size[0], size[1]) >= self.least


def reads_scalar(nest: Nest, statement: Statement) -> bool:
    """Whether a statement reads t."""
    return statement.depth == len(nest.loops) and nest.scalar not in ("", "sum", "row sum")


def steps(nest: Nest, depth: int, *, after: bool) -> Iterator[Step]:
    """Yield what stands in the body of loop number `depth` (from 1), before or after the loop inside it."""
    innermost = depth == len(nest.loops)
    row = nest.scalar == "row sum" and depth == len(nest.loops) - 1
    if after and row:
        yield "store"
    if not after and row:
        yield "start"
    if not after and innermost and nest.scalar:
        yield "scalar"
    yield from (s for s in nest.statements if s.depth == depth and s.after == after)


def row_target(nest: Nest) -> Access:
    """Where a row sum goes: an element of Y of its own."""
    return Access("Y", (Affine(0, ((nest.loops[-2].counter, 1),)),))


def _statement(nest: Nest, statement: Statement) -> str:
    terms = [f"0.25 * {source.text()}" for source in statement.sources] or ["0.5"]
    if reads_scalar(nest, statement):
        terms.append("0.125 * t")
    operator = "+=" if statement.update else "="
    text = f"{statement.target.text()} {operator} {' + '.join(terms)} + 0.0625;"
    if statement.guard is None:
        return text
    other = "" if statement.otherwise is None else f" else {statement.otherwise.text()} = {' + '.join(terms)};"
    return f"if ({statement.guard.text()}) {text}{other}"


def _step(nest: Nest, step: Step) -> str:
    match step:
        case "start":
            return "s = 0.5;"
        case "store":
            return f"{row_target(nest).text()} = s;"
        case "scalar":
            return _scalar_line(nest)
        case _:
            return _statement(nest, step)


def _scalar_line(nest: Nest) -> str:
    source = nest.scalar_source.text()
    return {
        "": "",
        "temporary": f"double t = {source} + 0.5;",
        "outer temporary": f"t = {source} + 0.5;",
        "last temporary": f"t = {source} + 0.5;",
        "conditional": f"if ({source} > 0.75) t = {source};",
        "either": f"if ({source} > 0.75) t = {source}; else t = 0.5;",
        "carried": f"t = 0.5 * t + {source};",
        "sum": f"s += {source};",
        "row sum": f"s += {source};",
    }[nest.scalar]


def signature_sizes(nest: Nest) -> str:
    """Return the parameters n, m and w."""
    return ", ".join(f"{nest.sizes} {name}" for name in "nmw")


def _level(nest: Nest, depth: int, pad: str) -> Iterator[str]:
    loop = nest.loops[depth - 1]
    yield f"{pad}{loop.header(declare=nest.declares)} {{"
    inner = pad + "    "
    yield from (inner + _step(nest, step) for step in steps(nest, depth, after=False))
    if depth < len(nest.loops):
        yield from _level(nest, depth + 1, inner)
        yield from (inner + _step(nest, step) for step in steps(nest, depth, after=True))
    yield pad + "}"


def render_nest(nest: Nest) -> str:
    """Return the nest as a C function."""
    kind = "restrict " if nest.restrict else ""
    lines = [
        f"double {nest.name}({signature_sizes(nest)}, double *{kind}A, double *{kind}B, double *restrict X,",
        "          double *restrict Y, double (*restrict M)[w], double (*restrict P)[w])",
        "{",
    ]
    live = nest.scalar in LIVE
    if nest.scalar not in ("", "temporary"):
        lines.append(
            "    double t = 0.0, s = 0.0;" if live else f"    double {'s' if 's += ' in _scalar_line(nest) else 't'};"
        )
    if not nest.declares:
        lines += [f"    {loop.type} {loop.counter};" for loop in nest.loops]
    lines += _level(nest, 1, "    ")
    results = [*(["t", "s"] if live else []), *([] if nest.declares else [nest.loops[0].counter])]
    return "\n".join([*lines, f"    return {' + '.join(results) or '0.0'};", "}"])


def _call(nest: Nest, size: Size, flat: str) -> list[str]:
    rows = f"(double (*)[{size[2]}])(p + ROOM), (double (*)[{size[2]}])(q + ROOM)"
    numbers = ", ".join(str(number) for number in size)
    return [
        "    fill();",
        f'    printf("{nest.name} %.9g ", {nest.name}({numbers}, {flat}, x + ROOM, y + ROOM, {rows}));',
        "    digest();",
    ]


def render_unit(nests: Sequence[Nest], sizes: tuple[Size, ...], room: int) -> str:
    """Return a program that runs every nest at every size on fresh data and prints one number a run.

    Array bases point `room` elements into their blocks, so that small negative subscripts are inside. A nest without
    restrict is run once more with B three elements behind A.
    """
    calls: list[str] = []
    for nest in nests:
        fitting = [size for size in sizes if nest.accepts(size)]
        for size in fitting:
            calls += _call(nest, size, "a + ROOM, b + ROOM")
        if not nest.restrict:
            calls += _call(nest, fitting[0], f"a + ROOM, a + ROOM + {OVERLAP}")
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
