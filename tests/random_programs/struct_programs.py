"""Random functions with arrays of structs, and programs that run them.

    struct S3 { char k; double x; struct { int a; float b[2]; } in; };      members of all sizes, with padding between
    void f3(int n, int m, struct S3 *restrict p, struct S3 (*restrict g)[m], double (*restrict v)[3],
        double *restrict w)
    {
        for (int t = 0; t < 2; t++)
            for (int i = 1; i < n; i++)
                p[i].in.b[1] = p[i - 1].x + v[i][2];
    }

Every array has as many elements as a function can use, and no more, so that the sanitizer sees what is read beside
them. Numbers are small: nothing that is computed is rounded.
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["SIZES", "StructFunction", "random_functions", "runner", "unit"]

# nothing, one, odd, unequal, negative
SIZES = ((0, 0), (1, 1), (0, 5), (4, 1), (5, 7), (9, 8), (-2, 3), (3, -1))

_KINDS = ("double", "float", "int", "short", "unsigned char", "long", "unsigned")
_RANGES = (
    "i = 0; i < n; i++",
    "i = 1; i < n; i++",
    "i = n - 1; i >= 0; i--",
    "i = 2; i < n; i += 2",
    "i = 0; i <= n - 1; i++",
)
_INNER = ("j = 0; j < m; j++", "j = 1; j < m - 1; j++", "j = 0; j <= i && j < m; j++", "j = m - 1; j > 0; j--")


class StructFunction(Struct, frozen=True):
    """A function, the struct that it uses, the address of its outermost loop, and the arrays of structs in it."""

    name: str
    text: str
    loop: str
    arrays: tuple[str, ...]


def random_functions(seed: int, count: int) -> list[StructFunction]:
    """Return `count` functions."""
    return [_Writer(random.Random(f"structs {seed} {number}"), number).function() for number in range(count)]


def unit(functions: list[StructFunction]) -> str:
    """Return the functions with what they include."""
    return "#include <stdlib.h>\n" + "".join(one.text for one in functions)


def runner(functions: list[StructFunction]) -> str:
    """Return a program's main file: it calls every function at every size and prints what is in memory then."""
    sizes = ", ".join(f"{{{n}, {m}}}" for n, m in SIZES)
    parts = [
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n",
        "static unsigned long long digest(const void *at, size_t bytes)\n{\n    unsigned long long h = 1469598103u;\n"
        "    for (size_t k = 0; k < bytes; k++)\n        h = (h ^ ((const unsigned char *)at)[k]) * 1099511628211u;\n"
        "    return h;\n}\n",
        *(one.text.partition("/* set")[0] for one in functions),
    ]
    calls: list[str] = []
    for one in functions:
        s = f"struct S{one.name[1:]}"
        parts.append(
            f"void {one.name}(int n, int m, {s} *p, void *g, double (*v)[3], double *w);\n"
            f"extern {s} k{one.name[1:]}[24];\n"
            f"static void set_{one.name}({s} *at, size_t count)\n{{\n    for (size_t k = 0; k < count; k++) {{\n"
            f"        memset(at + k, (int)(k % 5), sizeof *at);\n{_filling(one)}    }}\n}}\n"
        )
        calls.append(
            f"        {{\n            size_t rows = n > 0 ? n : 0, columns = m > 0 ? m : 0;\n"
            f"            {s} *p = malloc((rows + 1) * sizeof *p), *g = malloc((rows * columns) * sizeof *g);\n"
            "            double (*v)[3] = malloc(rows * sizeof *v), *w = malloc((rows + columns) * sizeof *w);\n"
            f"            set_{one.name}(k{one.name[1:]}, 24);\n            set_{one.name}(p, rows + 1);\n"
            f"            set_{one.name}(g, rows * columns);\n"
            "            for (size_t k = 0; k < rows; k++)\n"
            "                for (int d = 0; d < 3; d++)\n                    v[k][d] = (double)((k * 3 + d) % 7);\n"
            "            for (size_t k = 0; k < rows + columns; k++)\n                w[k] = (double)(k % 5);\n"
            f"            {one.name}(n, m, p, g, v, w);\n"
            f'            printf("{one.name} %d %d %llx %llx %llx %llx %llx\\n", n, m,\n'
            "                digest(p, (rows + 1) * sizeof *p),\n"
            "                digest(g, rows * columns * sizeof *g), digest(v, rows * sizeof *v),\n"
            "                digest(w, (rows + columns) * sizeof *w),\n"
            f"                digest(k{one.name[1:]}, 24 * sizeof *p));\n"
            "            fflush(stdout);\n            free(p);\n            free(g);\n            free(v);\n"
            "            free(w);\n        }\n"
        )
    main = (
        f"int main(void)\n{{\n    static const int sizes[][2] = {{{sizes}}};\n"
        f"    for (int s = 0; s < {len(SIZES)}; s++) {{\n        int n = sizes[s][0], m = sizes[s][1];\n"
        f"{''.join(calls)}    }}\n    return 0;\n}}\n"
    )
    return "".join([*parts, main])


def _filling(one: StructFunction) -> str:
    """Return statements that give the members of a struct small values: floating-point numbers are no bytes."""
    lines = [line.strip() for line in one.text.splitlines() if line.startswith("/* set ")]
    return "".join(f"        at[k].{line[7:-3].strip()} = (k * {3 + n} + {n}) % 9;\n" for n, line in enumerate(lines))


class _Writer:
    """Draws one function."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng, self.number = rng, number
        self.leaves: list[tuple[str, str]] = []
        self.struct = self.draw_struct()

    def draw_struct(self) -> str:
        rng = self.rng
        fields: list[str] = []
        for k in range(rng.randint(2, 5)):
            kind = rng.choice(_KINDS)
            match rng.randrange(8):
                case 0:
                    size = rng.randint(2, 3)
                    fields.append(f"{kind} a{k}[{size}];")
                    self.leaves += [(f"a{k}[{d}]", kind) for d in range(size)]
                case 1:
                    other = rng.choice(_KINDS)
                    fields.append(f"struct {{ {kind} x; {other} y; }} s{k};")
                    self.leaves += [(f"s{k}.x", kind), (f"s{k}.y", other)]
                case 2 if rng.random() < 0.4:
                    fields.append(f"union {{ {kind} x; {kind} y; }} u{k};")
                    self.leaves += [(f"u{k}.x", kind), (f"u{k}.y", kind)]
                case _:
                    fields.append(f"{kind} f{k};")
                    self.leaves.append((f"f{k}", kind))
        return f"struct S{self.number} {{ {' '.join(fields)} }};\n"

    # --- expressions

    def place(self, depth: int) -> str:
        """Return a number in an array of structs, or in a row."""
        rng = self.rng
        leaf = rng.choice(self.leaves)[0]
        if depth == 2 and rng.random() < 0.5:
            row, column = rng.choice(["i", "i", "i - 1" if self.from_one else "i"]), rng.choice(["j", "j", "m - 1 - j"])
            return f"g[{row}][{column}].{leaf}"
        index = rng.choice(["i", "i", "i", "i + 1", "i - 1" if self.from_one else "i", "n - 1 - i", "0"])
        match rng.randrange(7):
            case 6:
                return f"k{self.number}[{rng.choice(['(i * 5 + 3) % 24', '(int)w[i] % 24', 'i % 24', '7'])}].{leaf}"
            case 0:
                return f"v[{index if index != 'i + 1' else 'i'}][{rng.randrange(3)}]"
            case 1 if index == "i":
                return f"(p + i)->{leaf}"
            case 2 if self.shifted:
                return f"q[{index if index != 'i - 1' else 'i'}].{leaf}" if index != "i + 1" else f"p[i].{leaf}"
            case _:
                return f"p[{index}].{leaf}"

    def value(self, depth: int) -> str:
        terms = [self.place(depth) for _ in range(self.rng.randint(1, 2))] + [self.rng.choice(["w[i]", "1", "i", "2"])]
        return f"(int)({' + '.join(terms)}) % 13"

    def statement(self, depth: int) -> str:
        rng = self.rng
        target = self.place(depth) if rng.random() < 0.8 else "w[i]"
        text = f"{target} {rng.choice(['=', '=', '='])} {self.value(depth)};"
        if rng.random() < 0.2:
            return f"if ({self.place(depth)} > 3) {text}"
        return f"if (i > 1) {text}" if rng.random() < 0.1 else text

    # --- the function

    def function(self) -> StructFunction:
        rng = self.rng
        head = rng.choice(_RANGES)
        self.from_one = "i = 1" in head or "i = 2" in head
        self.shifted = rng.random() < 0.15
        depth = rng.choice([1, 1, 2])
        body = " ".join(self.statement(depth) for _ in range(rng.randint(1, 3)))
        if depth == 2:
            inner = rng.choice(_INNER)
            body = f"for (int {inner}) {{ {body} }}"
        nest = f"for (int {head}) {{ {body} }}"
        name = f"f{self.number}"
        address = f"{name}/i"
        if rng.random() < 0.4:
            nest, address = f"for (int t = 0; t < 2; t++) {nest}", f"{name}/t"
        elif rng.random() < 0.3:
            nest, address = f"for (int t = 0; t < m; t++) {nest}", f"{name}/t"
        s = f"struct S{self.number}"
        shifted = f"    {s} *q = p + 1;\n" if self.shifted else ""
        sets = "".join(f"/* set {leaf} */\n" for leaf, _ in self.leaves)
        text = (
            f"{self.struct}{sets}{s} k{self.number}[24];\n"
            f"void {name}(int n, int m, {s} *restrict p, {s} (*restrict g)[m], double (*restrict v)[3],\n"
            f"    double *restrict w)\n{{\n{shifted}    {nest}\n}}\n"
        )
        return StructFunction(name, text, address, ("p", "g", "v", f"k{self.number}"))
