"""Random C functions for steps to work on: nests of all shapes that a step may meet, and a program that runs them.

    double f3(int n, int m, double *restrict p, double (*restrict M)[m + 8])
    {
        double t = 0.0, s = 0.0, v[4], w[40]; int h = 0, i, j, k;
        for (i = 0; i < n; i++) {                 one to three nests; loops count up and down, by 1, 2 or 3, some once;
            t = a[i + 1];                         temporaries, sums, small arrays, conditions on counters and on data
            for (int j = i; j < m; j++) …
        }
        return s + …;                             what of t, s and the counters is read later differs
    }

Nothing that runs is undefined: counters are never negative where they are subscripts, and arrays have room.
"""

from __future__ import annotations

import random

from msgspec import Struct, field

__all__ = ["SIZES", "Source", "declarations", "make_source", "runner"]

# (n, m): nothing, one, odd, unequal, negative
SIZES = ((0, 0), (1, 1), (0, 5), (4, 1), (5, 7), (9, 8), (-2, 3))


class Source(Struct, frozen=True):
    """A C function; `unsigned` sizes are never negative."""

    name: str
    size: str
    text: str


class _Writer(Struct):
    """Draws one function."""

    rng: random.Random
    size: str
    declares: bool
    lines: list[str] = field(default_factory=list)
    made: int = 0

    @property
    def free(self) -> bool:
        """Whether sizes may be negative, and bounds go below them."""
        return self.size in ("int", "long")

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # --- expressions

    def index(self, counters: tuple[str, ...]) -> str:
        rng = self.rng
        one = rng.choice(counters)
        forms = [one, one, one, f"{one} + 1", f"{one} + 2", f"2 * {one}"]
        if len(counters) > 1:
            forms.append(f"{counters[0]} + {counters[-1]}")
        if rng.random() < 0.06:
            return "3"
        return rng.choice(forms)

    def cell(self, counters: tuple[str, ...]) -> str:
        rng = self.rng
        if len(counters) > 1 and rng.random() < 0.65:
            x, y = rng.sample(counters, 2)
            shift = ["", "", "", " + 1", " + 2"]
            first, second = x + rng.choice(shift), y + rng.choice(shift)
            match rng.randrange(6):
                case 0:
                    return f"p[({first}) * 24 + {second}]"
                case 1:
                    return f"M[{first}][{y}]"
                case _:
                    return f"{rng.choice('AAB')}[{first}][{second}]"
        return f"{rng.choice('aabc')}[{self.index(counters)}]"

    def value(self, counters: tuple[str, ...], *extra: str) -> str:
        rng = self.rng
        terms = [
            f"{rng.choice(['0.5', '0.25', '0.125'])} * {self.cell(counters)}" for _ in range(rng.choice([1, 1, 2]))
        ]
        terms += [f"0.25 * {name}" for name in extra]
        if rng.random() < 0.3:
            terms.append(f"0.0625 * {rng.choice(counters)}")
        return " + ".join([*terms, rng.choice(["1.0", "0.5"])])

    def test(self, counters: tuple[str, ...]) -> str:
        rng = self.rng
        one, two = rng.choice(counters), rng.choice(counters)
        return rng.choice(
            [
                f"({one} + {two}) % 2 == 0",
                f"{one} < 3",
                f"{one} + 1 < n",
                f"{one} % 3 == 1",
                f"{self.cell(counters)} > 1.25",
            ]
        )

    # --- statements

    def statement(self, depth: int, counters: tuple[str, ...]) -> None:
        rng = self.rng
        plain = rng.randrange(10)
        if plain < 4:
            self.put(depth, f"{self.cell(counters)} = {self.value(counters)};")
            return
        if plain == 4:
            self.put(depth, f"{self.cell(counters)} += 0.5 * {self.cell(counters)};")
            return
        kinds = [
            self.temporary,
            self.summed,
            self.branch,
            self.declared,
            self.induced,
            self.listed,
            self.lone,
            self.kept,
            self.called,
            self.run,
        ]
        rng.choice(kinds)(depth, counters)

    def temporary(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, f"t = {self.value(counters)};")
        self.put(depth, f"{self.cell(counters)} = {self.value(counters, 't')};")

    def summed(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, f"s += 0.5 * {self.cell(counters)};")

    def branch(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, f"if ({self.test(counters)})")
        self.put(depth + 1, f"{self.cell(counters)} = {self.value(counters)};")
        if self.rng.random() < 0.4:
            self.put(depth, "else")
            self.put(depth + 1, f"{self.cell(counters)} = {self.value(counters)};")

    def declared(self, depth: int, counters: tuple[str, ...]) -> None:
        self.made += 1
        self.put(depth, f"double u{self.made} = {self.value(counters)};")
        self.put(depth, f"{self.cell(counters)} = {self.value(counters, f'u{self.made}')};")

    def induced(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, f"h = {self.rng.choice(counters)} + 1;")
        self.put(depth, f"{self.rng.choice('ab')}[h] = {self.value(counters)};")

    def listed(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, "for (int q = 0; q < 4; q++)")
        self.put(depth + 1, f"v[q] = {self.value(counters)} + q;")
        self.put(depth, "for (int q = 0; q < 4; q++)")
        self.put(depth + 1, f"{self.cell(counters)} += 0.25 * v[{self.rng.choice(['q', '3 - q'])}];")

    def lone(self, depth: int, counters: tuple[str, ...]) -> None:
        at = counters[-1]
        self.put(depth, f"w[{at}] = {self.value(counters)};")
        self.put(depth, f"{self.cell(counters)} = {self.value(counters, f'w[{at}]')};")

    def kept(self, depth: int, counters: tuple[str, ...]) -> None:
        self.put(depth, f"if ({self.test(counters)})")
        self.put(depth + 1, f"t = {self.value(counters)};")
        self.put(depth, f"{self.cell(counters)} = {self.value(counters, 't')};")

    def called(self, depth: int, counters: tuple[str, ...]) -> None:
        value = f"{self.value(counters)}, {self.rng.choice(counters)}"
        if self.rng.random() < 0.5:
            self.put(depth, f"{self.cell(counters)} = blend({value});")
        else:
            self.put(depth, f"lift(&{self.cell(counters)}, {value});")

    def run(self, depth: int, counters: tuple[str, ...]) -> None:
        name, at = self.rng.choice("ab"), self.rng.choice(counters)
        self.put(depth, f"{name}[{at} + 1] = 0.5 * {name}[{at}] + 0.25;")

    def body(self, depth: int, counters: tuple[str, ...], levels: int) -> None:
        """Statements, and around or between them the loops inside."""
        count = self.rng.choice([1, 1, 2, 3]) if levels == 0 else self.rng.choice([0, 0, 0, 1, 2])
        parts = ["statement"] * count + (["loop"] * self.rng.choice([1, 1, 1, 2]) if levels else [])
        self.rng.shuffle(parts)
        for part in parts:
            if part == "loop":
                self.loop(depth, counters, levels - 1)
            else:
                self.statement(depth, counters)

    def loop(self, depth: int, counters: tuple[str, ...], levels: int) -> None:
        var = "ijk"[len(counters)]
        kind = f"{self.size if self.rng.random() < 0.8 else 'long'} " if self.declares else ""
        self.put(depth, f"for ({kind}{self.header(var, counters)}) {{")
        self.body(depth + 1, (*counters, var), levels)
        self.put(depth, "}")

    def header(self, var: str, counters: tuple[str, ...]) -> str:
        rng = self.rng
        low = rng.choice(["0", "0", "0", "1", "2"])
        if counters and rng.random() < 0.2:
            low = rng.choice([counters[-1], f"{counters[-1]} + 1"])
        high = rng.choice(["n", "n", "m", "m", "n + 1", *(["n - 1", "m - 2"] if self.free else [])])
        if counters and rng.random() < 0.15:
            high = rng.choice([counters[-1], f"{counters[-1]} + 1"])
        if rng.random() < 0.06:
            high = rng.choice(["4", "5"])
        if counters and rng.random() < 0.12:
            low, high = counters[-1], f"{counters[-1]} + 1"
        step = rng.choice([1, 1, 1, 1, 1, 2, 3, -1, -2] if self.free else [1, 1, 1, 2])
        if step < 0:
            return f"{var} = {high} - 1; {var} >= {low}; {var} {'--' if step == -1 else '-= 2'}".replace(" --", "--")
        if rng.random() < 0.2 and self.free:
            return f"{var} = {low}; {var} <= {high} - 1; {var} += {step}"
        return f"{var} = {low}; {var} < {high}; {f'{var}++' if step == 1 else f'{var} += {step}'}".replace(
            f"{var} {var}", var
        )

    # --- nests that a step needs

    def twins(self) -> None:
        """Two loops over one range."""
        header = self.header("i", ())
        kind = f"{self.size} " if self.declares else ""
        for _ in range(2):
            self.put(1, f"for ({kind}{header}) {{")
            self.put(2, f"{self.rng.choice('abc')}[i] = {self.value(('i',))};")
            self.put(1, "}")

    def stepped(self) -> None:
        """A variable that moves with the iterations."""
        kind = f"{self.size} " if self.declares else ""
        self.put(1, f"h = {self.rng.choice([0, 1])};")
        self.put(1, f"for ({kind}i = 0; i < n; i++) {{")
        self.put(2, f"{self.rng.choice('ab')}[h] = {self.value(('i',))};")
        self.put(2, f"h += {self.rng.choice([1, 2])};")
        self.put(1, "}")

    def tidy(self) -> None:
        """A nest whose iterations hardly meet, with a statement beside the inner loop, or not."""
        kind = f"{self.size} " if self.declares else ""
        self.put(1, f"for ({kind}i = 0; i < n; i++) {{")
        if self.rng.random() < 0.4:
            self.put(2, f"c[i] = {self.rng.choice(['1.0', '0.5 * c[i]'])};")
        short = ["j = 0; j < 3; j++", "j = i; j < i + 1; j++"]
        header = self.rng.choice([*short, self.header("j", ("i",)), self.header("j", ("i",))])
        self.put(2, f"for ({kind}{header}) {{")
        self.put(3, f"A[i][j] = {self.rng.choice(['A[i][j]', 'A[i][j + 1]', 'A[i + 1][j]'])} + 0.5 * B[j][i];")
        self.put(2, "}")
        self.put(1, "}")

    def search(self) -> None:
        """A loop that ends where it finds something."""
        kind = f"{self.size} " if self.declares else ""
        self.put(1, f"for ({kind}i = 0; i < n; i++)")
        self.put(
            2,
            f"if ({self.rng.choice('abc')}[i + {self.rng.choice('02')}] > {self.rng.choice(['1.5', '2.0', '9.0'])}) {{",
        )
        self.put(3, "h = i + 1;")
        self.put(3, "break;")
        self.put(2, "}")

    def last(self) -> None:
        """A variable that keeps what the last fitting iteration gave it."""
        kind = f"{self.size} " if self.declares else ""
        self.put(1, f"for ({kind}i = 0; i < n; i++)")
        self.put(2, f"if ({self.test(('i',))})")
        self.put(3, f"{self.rng.choice(['t = a[i] + 0.5', 'h = i + 2'])};")

    def packed(self) -> None:
        """A pointer that moves where something is stored."""
        self.made += 1
        kind, to = f"{self.size} " if self.declares else "", f"o{self.made}"
        self.put(1, f"double *{to} = b{self.rng.choice(['', ' + 1'])};")
        self.put(1, f"for ({kind}i = 0; i < n; i++)")
        self.put(2, f"if (c[i] > {self.rng.choice(['0.5', '1.0'])})")
        self.put(3, f"*{to}++ = 0.5 * a[i];")
        self.put(1, f"h = (int)({to} - b);")


def make_source(rng: random.Random, name: str) -> Source:
    """Return a function of one to three nests."""
    size = rng.choice(["int", "int", "int", "int", "int", "long", "unsigned"])
    writer = _Writer(rng, size, rng.random() < 0.6)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.4:
            rng.choice([writer.twins, writer.stepped, writer.tidy, writer.search, writer.last, writer.packed])()
        else:
            writer.loop(1, (), rng.choice([0, 1, 1, 1, 2]))
    results = [name for name in ("t", "s", "h") if rng.random() < 0.25]
    counters = ["i"] if not writer.declares and rng.random() < 0.3 else []
    lines = [
        f"double {name}({size} n, {size} m, double *restrict p, double (*restrict M)[m + 8])",
        "{",
        "    double t = 0.0, s = 0.0, v[4], w[40];",
        "    int h = 0;",
        *([] if writer.declares else [f"    {size} i = 0, j, k;"]),
        *writer.lines,
        f"    return {' + '.join([*results, *counters]) or '0.0'};",
        "}",
    ]
    return Source(name, size, "\n".join(lines))


def runner(sources: list[Source]) -> str:
    """Return a main program that prints a number for every function and size: a hash of all memory and the result."""
    calls: list[str] = []
    for source in sources:
        for n, m in SIZES:
            if source.size == "unsigned" and n < 0:
                continue
            call = f"{source.name}({n}, {m}, p, (double (*)[{m} + 8])M)"
            calls.append(f'    fill(); printf("{source.name} {n} {m} %.17g ", {call}); digest();')
    return "\n".join(
        [
            "#include <stdio.h>",
            "#include <string.h>",
            *(f"double {s.name}({s.size}, {s.size}, double *, void *);" for s in sources),
            "double a[80], b[80], c[80], A[40][40], B[40][40], p[1200], M[1200];",
            "static void fill(void)",
            "{",
            "    for (int e = 0; e < 1200; e++) { p[e] = 0.5 + e % 17 / 16.0; M[e] = 0.25 + e % 13 / 8.0; }",
            "    double *x = A[0], *y = B[0];",
            "    for (int e = 0; e < 1600; e++) { x[e] = 1 + e % 7 / 8.0; y[e] = e % 11 / 4.0; }",
            "    for (int e = 0; e < 80; e++) { a[e] = e % 5 / 2.0; b[e] = 1.25 + e % 3 / 4.0; c[e] = e % 19 / 8.0; }",
            "}",
            "static unsigned long mix(unsigned long hash, const void *from, unsigned long bytes)",
            "{",
            "    const unsigned char *byte = from;",
            "    for (unsigned long e = 0; e < bytes; e++) hash = (hash ^ byte[e]) * 1099511628211ul;",
            "    return hash;",
            "}",
            "static void digest(void)",
            "{",
            "    unsigned long hash = 14695981039346656037ul;",
            "    hash = mix(mix(mix(hash, a, sizeof a), b, sizeof b), c, sizeof c);",
            "    hash = mix(mix(mix(mix(hash, A, sizeof A), B, sizeof B), p, sizeof p), M, sizeof M);",
            '    printf("%lx\\n", hash);',
            "}",
            "int main(void)",
            "{",
            "    setvbuf(stdout, 0, _IOLBF, 4096);",
            *calls,
            "    return 0;",
            "}",
            "",
        ]
    )


def declarations() -> str:
    """Return what stands in front of the functions: the memory that they share, and what they call."""
    return "\n".join(
        [
            "#include <stdlib.h>",
            "extern double a[80], b[80], c[80], A[40][40], B[40][40];",
            "static double blend(double x, int k)",
            "{",
            "    double half = 0.5 * x;",
            "    if (k > 2)",
            "        half = half + 0.25;",
            "    return half + k * 0.125;",
            "}",
            "static void lift(double *at, double x, int k)",
            "{",
            "    k = k % 4;",
            "    *at += 0.25 * x + k;",
            "}",
        ]
    )
