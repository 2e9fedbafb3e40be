"""Random functions around one construct each: sums, private arrays, early exits, … with the loops that they come in.

    double f7(int n, int m, int w, double *restrict X, …, const int *restrict idx)
    {
        double s = 0.0, t = 0.0, v[4];
        for (int i = n - 1; i >= 0; i -= 2) {        loops of stride 1, 2 or 3, up and down, rectangles and triangles
            X[i] = 0.5;                              statements around the inner loop
            for (int j = 0; j < i; j++)
                X[i] += P[i][j] * R[j];              the construct
        }
        return s + t;
    }

X, Y, Z are vectors that are written, M, A, P rows; R, S and Q are only read. `never` are the counters of the loops that
no analysis may call parallel. Arrays have room, and counters are never negative; where w is small, rows overlap.
In some functions n is a variable that has another value first, and gets its own by a call.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from msgspec import Struct, field

__all__ = ["KINDS", "PARAMETERS", "Size", "Source", "make_source", "render"]

Size = tuple[int, int, int]
PARAMETERS = (
    "int n, int m, int w, double *restrict X, double *restrict Y, double *restrict Z, double *restrict A, "
    "double (*restrict M)[w], double (*restrict P)[w], const double *restrict R, const double *restrict S, "
    "const double (*restrict Q)[w], const int *restrict idx"
)
ROOM = 1200


class Source(Struct, frozen=True):
    """A C function, what is in it, and the counters of the loops that may never be called parallel."""

    name: str
    text: str
    kinds: frozenset[str]
    never: tuple[str, ...]


class _Writer(Struct):
    """Draws one function."""

    rng: random.Random
    kinds: set[str] = field(default_factory=set)
    never: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)

    def put(self, *texts: str) -> None:
        self.lines += ["    " * (len(self.counters) + 1) + text for text in texts]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    # --- loops

    def open(self, *, plain: bool = False) -> None:
        """Begin one more loop around what follows; `plain`: from 0 up by 1."""
        rng, outer = self.rng, self.counters
        name = "ijk"[len(outer)]
        low, high = rng.choice(["0", "0", "0", "1"]), rng.choice(["n", "m"] if outer else ["n", "n", "n - 1"])
        if outer and self.chance(0.15):
            low, high = rng.choice([(outer[-1], "m"), ("0", outer[-1]), (f"{outer[-1]} + 1", "n")])
        step = 1 if plain else rng.choice([1, 1, 1, 1, 2, 3, -1, -2])
        if abs(step) > 1:
            self.kinds.add("stride")
        if step < 0:
            self.kinds.add("negative step")
            by = "--" if step == -1 else " -= 2"
            self.put(f"for (int {name} = {high} - 1; {name} >= {low}; {name}{by}) {{")
        else:
            by = "++" if step == 1 else f" += {step}"
            self.put(f"for (int {name} = {low}; {name} < {high}; {name}{by}) {{")
        self.counters = (*outer, name)

    def close(self) -> None:
        self.counters = self.counters[:-1]
        self.put("}")

    def nest(self, inside: Callable[[], None], *, depth: int = 0, beside: bool = True) -> None:
        """A nest of `depth` loops (0: one or two) with `inside` in the innermost; now and then a statement beside."""
        depth = depth or self.rng.choice([1, 2])
        between = beside and depth == 2 and self.chance(0.35)
        for level in range(depth):
            self.open()
            if between and level == 0 and self.chance(0.6):
                self.put(f"Z[i] = 0.5 * {self.given()};")
                self.kinds.add("imperfect")
        inside()
        while self.counters:
            self.close()
            if between and len(self.counters) == 1 and self.chance(0.5):
                self.put(f"Z[i] += 0.25 * {self.given()};")
                self.kinds.add("imperfect")

    # --- expressions

    def own(self, rows: str = "MPA", vectors: str = "XY") -> str:
        """An element that belongs to the iteration."""
        if len(self.counters) == 1:
            return f"{self.rng.choice(vectors)}[i]"
        array = self.rng.choice(rows)
        return f"A[i * w + {self.counters[1]}]" if array == "A" else f"{array}[i][{self.counters[1]}]"

    def given(self) -> str:
        """An element of what is only read."""
        at = self.rng.choice(self.counters)
        forms = [f"R[{at}]", f"S[{at} + 1]", f"R[{at} + 2]"]
        if len(self.counters) > 1:
            forms += [f"Q[i][{self.counters[-1]}]"] * 2
        return self.rng.choice(forms)

    def value(self) -> str:
        return f"0.5 * {self.given()} + {self.rng.choice(['0.25', '0.125 * ' + self.given()])}"

    def data(self) -> str:
        return f"{self.given()} > {self.rng.choice(['0.75', '1.0'])}"

    def modulo(self) -> str:
        at = " + ".join(self.rng.sample(self.counters, self.rng.choice([1, len(self.counters)])))
        return self.rng.choice([f"({at}) % 2 == 0", f"({at}) % 3 == 1", f"({at}) % 2 != 0"])

    # --- constructs, each the inside of a nest or a nest of its own

    def statements(self) -> None:
        """One to three assignments; a later one may read what an earlier one writes, here or beside."""
        count = self.rng.choice([1, 2, 2, 3, 3])
        self.kinds.add({1: "one statement", 2: "two statements", 3: "three statements"}[count])
        names = self.rng.sample("XYZ" if len(self.counters) == 1 else "MPA", count)
        made: list[str] = []
        for name in names:
            target = self.own(name, name)
            extra = f" + 0.5 * {self.rng.choice(made)}" if made and self.chance(0.7) else ""
            if self.chance(0.12):
                extra = f" + 0.25 * {self.shifted(name)}"
            guard = f"if ({self.data()}) " if self.chance(0.15) else ""
            self.put(f"{guard}{target} = {self.value()}{extra};")
            made.append(self.shifted(name) if self.chance(0.1) else target)

    def shifted(self, name: str) -> str:
        if len(self.counters) == 1:
            return f"{name}[i + 1]"
        row, column = self.rng.choice([(" + 1", ""), ("", " + 1"), (" + 1", " + 1")])
        last = self.counters[1]
        return f"A[(i{row}) * w + {last}{column}]" if name == "A" else f"{name}[i{row}][{last}{column}]"

    def conditions(self) -> None:
        """Conditions on a counter modulo something decide what is touched."""
        self.kinds.add("modulo")
        target = self.own()
        if len(self.counters) == 1 and self.chance(0.5):
            odd = self.rng.choice(["i % 2 == 0", "i % 2 != 0"])
            self.put(f"if ({odd})", f"    X[i] = 0.5 * X[i + {self.rng.choice([1, 1, 1, 2])}] + {self.value()};")
            return
        self.put(f"if ({self.modulo()})", f"    {target} = {self.value()};")
        if self.chance(0.5):
            self.put("else", f"    {target} = {self.given()};")

    def reduction(self) -> None:
        """A scalar over one or two loops."""
        rng = self.rng
        kind = rng.choice(["scalar sum", "conditional sum", "extreme"])
        self.kinds |= {"reduction", kind}
        self.open()
        if two := self.chance(0.4):
            self.open()
        more, value = self.given(), self.value()
        match kind:
            case "scalar sum":
                self.put(rng.choice([f"s += {value};", f"s = s + {more} * {more};", f"s -= {more};"]))
            case "conditional sum":
                self.put(f"if ({rng.choice([self.data(), self.modulo()])})", f"    s += {value};")
            case _:
                take = rng.choice([f"s = fmax(s, {more});", f"if ({more} > s) s = {more};"])
                self.put(take if self.chance(0.6) else f"s = {more} < s ? {more} : s;")
        for _ in range(1 + two):
            self.close()

    def row_sum(self) -> None:
        """A temporary that is summed in the inner loop and stored behind it: a dot product for every row."""
        self.kinds |= {"reduction", "row sum", "imperfect"}
        self.open()
        self.put("t = 0.5;")
        self.open(plain=True)
        self.put(f"t += {self.given()} * {self.given()};")
        self.close()
        self.put("X[i] = t;")
        self.close()

    def array_sum(self) -> None:
        """The elements of an array are sums."""
        self.kinds |= {"reduction", "array sum"}
        self.open()
        self.open()
        at = self.rng.choice("ij")
        guard = f"if ({self.modulo()}) " if self.chance(0.2) else ""
        self.put(f"{guard}X[{at}] += {self.value()};")
        self.close()
        self.close()

    def private_array(self) -> None:
        """A small array is filled and used by each iteration: its own one, or one for all."""
        own = self.chance(0.5)
        self.kinds.add("private array" if own else "shared array")
        self.nest(lambda: self.filled("u" if own else "v", own=own), beside=False)

    def filled(self, name: str, *, own: bool) -> None:
        rng = self.rng
        if own:
            self.put("double u[4];")
        self.put("for (int q = 0; q < 4; q++)", f"    {name}[q] = {self.value()} + q;")
        target = self.own()
        self.put("for (int q = 0; q < 4; q++)", f"    {target} += 0.25 * {name}[{rng.choice(['q', '3 - q'])}];")

    def early_exit(self) -> None:
        """The loop is left before its end."""
        self.kinds.add("early exit")
        depth = self.rng.choice([1, 2, 2])
        leave = self.rng.choice(["break;", "break;", "return 1.0;"])
        self.never = ("i", "j")[:depth] if leave != "break;" else ("i", "j")[depth - 1 : depth]

        def inside() -> None:
            parts = [(f"if ({self.given()} > 1.2)", f"    {leave}"), (f"{self.own()} = {self.value()};",)]
            self.rng.shuffle(parts)
            self.put(*parts[0], *parts[1])

        self.nest(inside, depth=depth)

    def indirect_read(self) -> None:
        """Which element is read is data."""
        self.kinds.add("indirect read")
        self.nest(lambda: self.put(f"{self.own()} = 0.5 * R[idx[{self.counters[-1]}]] + 0.25;"))

    def indirect_write(self) -> None:
        """Which element is written is data: two iterations may write the same."""
        self.kinds.add("indirect write")
        self.never = ("i",)
        operator = self.rng.choice(["=", "=", "+="])

        def inside() -> None:
            target = "X[idx[i]]" if len(self.counters) == 1 else "M[idx[i]][j]"
            self.put(f"{target} {operator} {self.value()};")

        self.nest(inside, beside=False)

    def flowing(self) -> None:
        """A scalar that a condition sets, maybe to what depends on it, keeps its value for later iterations."""
        self.kinds.add("flowing scalar")
        before = "0.5 * t * t + " if self.chance(0.6) else ""

        def inside() -> None:
            self.put(f"if ({self.data()})", f"    t = {before}{self.given()};")
            self.put(f"{self.own()} = 0.5 * t + {self.given()};")
            self.never = self.counters

        self.nest(inside)

    def mixed(self) -> None:
        """A recurrence beside what is parallel: two loops would be better."""
        self.kinds |= {"mixed", "two statements"}
        self.open(plain=True)
        self.never = ("i",)
        parts = [f"X[i + 1] = 0.5 * fabs(X[i]) * X[i] + {self.given()};", f"Y[i] = {self.value()};"]
        self.rng.shuffle(parts)
        self.put(*parts)
        self.close()

    def front(self) -> None:
        """No loop is parallel as written: the diagonals are."""
        self.kinds.add("wavefront")
        self.never = ("i", "j")
        rng = self.rng
        name, more = rng.choice("MP"), rng.choice(["R[i]", "S[j + 1]", "Q[i][j]"])
        first, second = rng.choice([("[i - 1][j]", "[i][j - 1]"), ("[i - 1][j - 1]", "[i][j - 1]")])
        if first != "[i - 1][j]":
            first = rng.choice([first, "[i - 1][j + 1]"])
        self.put(f"for (int i = 1; i < {rng.choice(['n', 'n - 1', 'm'])}; i++)")
        self.put(f"    for (int j = 1; j < {rng.choice(['m', 'n', 'm - 1'])}; j++)")
        self.put(f"        {name}[i][j] = 0.25 * {name}{first} + 0.25 * {name}{second} + {more};")


_CONSTRUCTS: tuple[tuple[Callable[[_Writer], None], int], ...] = (
    (lambda w: w.nest(w.statements), 10),
    (lambda w: w.nest(w.conditions), 3),
    (_Writer.reduction, 4),
    (_Writer.row_sum, 2),
    (_Writer.array_sum, 2),
    (_Writer.private_array, 4),
    (_Writer.early_exit, 2),
    (_Writer.indirect_read, 2),
    (_Writer.indirect_write, 2),
    (_Writer.flowing, 2),
    (_Writer.mixed, 2),
    (_Writer.front, 2),
)

_GIVEN = (
    "set(&n, given);",
    "memcpy(&n, &given, sizeof n);",
    "if (given > 0) set(&n, given);",
    "deep(&n, given);",
)

KINDS = (
    "one statement", "two statements", "three statements", "imperfect", "stride", "negative step", "modulo",
    "reduction", "scalar sum", "conditional sum", "extreme", "row sum", "array sum", "private array", "shared array",
    "early exit", "indirect read", "indirect write", "flowing scalar", "mixed", "wavefront",
    "size by a call",
)  # fmt: skip


def make_source(rng: random.Random, name: str) -> Source:
    """Return a function around one construct."""
    writer = _Writer(rng)
    constructs, weights = zip(*_CONSTRUCTS, strict=True)
    rng.choices(constructs, weights)[0](writer)
    body = "\n".join(writer.lines)
    used = [scalar for scalar in "st" if re.search(rf"\b{scalar}\b", body)]
    declared = [f"    double {scalar} = 0.0;" for scalar in used]
    declared += ["    double v[4];"] if "v[q]" in body else []
    parameters, own = PARAMETERS, random.Random(body)
    if own.random() < 0.2:
        writer.kinds.add("size by a call")
        parameters = PARAMETERS.replace("int n,", "int given,", 1)
        declared += [f"    int n = {own.choice('012')};", f"    {own.choice(_GIVEN)}"]
    text = "\n".join(
        [f"double {name}({parameters})", "{", *declared, body, f"    return {'s' if 's' in used else '0.0'};", "}"]
    )
    return Source(name, text, frozenset(writer.kinds), writer.never)


def render(sources: Sequence[Source], sizes: Sequence[Size]) -> str:
    """Return a program that runs every function at every size on fresh data and prints two numbers a run."""
    calls = [
        f'    fill(); printf("{s.name} %.9g ", {s.name}({n}, {m}, {w}, x, y, z, a, (double (*)[{w}])b, '
        f"(double (*)[{w}])c, d, e, (const double (*)[{w}])f, at)); digest();"
        for s in sources
        for n, m, w in sizes
    ]
    return "\n".join(
        [
            "#include <math.h>",
            "#include <stdio.h>",
            "#include <string.h>",
            "static void set(int *p, int v) { *p = v; }",
            "static void deep(int *p, int v) { set(p, v); }",
            f"enum {{ ROOM = {ROOM} }};",
            *(f"static double {name}[ROOM];" for name in "xyzabcdef"),
            "static int at[ROOM];",
            *(source.text for source in sources),
            "static void fill(void)",
            "{",
            "    for (int q = 0; q < ROOM; q++) {",
            "        x[q] = 0.5 + q % 7 / 16.0; y[q] = 0.25 + q % 11 / 16.0; z[q] = 0.75 + q % 5 / 16.0;",
            "        a[q] = 0.5 + q % 13 / 32.0; b[q] = 0.5 + q % 17 / 32.0; c[q] = 0.25 + q % 3 / 8.0;",
            "        d[q] = 0.25 + q * 7 % 9 / 8.0; e[q] = 0.5 + q * 5 % 11 / 16.0; f[q] = 0.25 + q * 3 % 13 / 16.0;",
            "        at[q] = (q * 7 + 3) % 5;",
            "    }",
            "}",
            "static void digest(void)",
            "{",
            "    double sum = 0.0;",
            "    for (int q = 0; q < ROOM; q++)",
            "        sum += (q % 19 + 1) * (x[q] + 2 * y[q] + 3 * z[q] + 4 * a[q] + 5 * b[q] + 6 * c[q]);",
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
