"""Random programs whose kernels work on the stack: on records and arrays of callers, of the function with a time loop,
of blocks and functions inside it, where memory of the heap is freed as well.

    main ─► around ─► relax ─► helpers     each hands objects of its own down; blocks and helpers reuse what died

Every program ends by itself, touches nothing outside its objects, and prints all that it computed.
"""

from __future__ import annotations

import random

from msgspec import Struct, field

__all__ = ["stack_program"]

_PARTS = """\
#include <stdio.h>
#include <stdlib.h>
typedef struct { double rate[8], level; int first; } Knobs;
static Knobs *kept;
static double *seen;
static void fill(double *x, double c, int n) { for (int i = 0; i < n; i++) x[i] = c + 0.125 * i; }
static void scale(double *x, double c, int n) { for (int i = 0; i < n; i++) x[i] = c * x[i]; }
static void add(double *restrict to, const double *restrict from, int n)
{
    for (int i = 0; i < n; i++) to[i] = 0.5 * to[i] + 0.25 * from[i];
}
static void shape(double *x, const Knobs *k, int n)
{
    for (int i = 0; i < n; i++) x[i] = 0.25 * k->rate[i % 8] * x[i] + k->level;
}
static void learn(Knobs *k, const double *x)
{
    for (int i = 0; i < 8; i++) k->rate[i] = 0.5 * k->rate[i] + 0.25 * x[i];
}
static void shift(int n) { for (int i = 0; i < n; i++) seen[i] = 0.5 * seen[i] + i; }
static double sum(const double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
static void tune(Knobs *k, int t) { k->level = 0.5 * k->level + t; k->rate[t % 8] += 0.5; }
static double level(const Knobs *k) { return k->level + k->rate[3]; }
static void poke(double *x, int i, double v) { x[i] = v; }
static double peek(const double *x, int i) { return x[i]; }
static void spare(double *x, int n)
{
    double *w = malloc(n * sizeof *w);
    fill(w, 2.0, n);
    add(x, w, n);
    free(w);
}
static void scratch(double *x, int n, double c)
{
    double w[40];
    fill(w, c, n);
    w[2] = peek(x, 1);
    add(x, w, n);
}
static void shaped(double *x, int n, int t)
{
    Knobs k = {{1, 1, 1, 1, 1, 1, 1, 1}, 0.25 * t, 0};
    shape(x, &k, n);
    tune(&k, t);
    shape(x, &k, n);
}
"""

_MAIN = """\
void relax(double *x, double *line, Knobs *k, int n, Knobs given)
{{
    double mine[40];
    Knobs own = {{{{2, 2, 2, 2, 2, 2, 2, 2}}, 0.5, 0}};
    fill(mine, 0.5, n);
    for (int t = 0; t < {steps}; t++) {{
{body}
    }}
    printf("%.6f %.6f\\n", sum(mine, n), own.level + own.rate[1]);
}}
static void around(double *x, double *theirs, Knobs *k, int n)
{{
    double line[40];
    fill(line, 1.5, n);
    if (n < 0)
        {cut}
    relax(x, {line}, k, n, *k);
end:
    printf("%.6f %.6f\\n", sum(line, n), sum(theirs, n));
}}
int main(void)
{{
    int n = {n};
    double *x = malloc(40 * sizeof *x), theirs[40];
    Knobs k = {{{{1, 2, 1, 2, 1, 2, 1, 2}}, 0.75, 0}};
    seen = {seen};
    for (int i = 0; i < 40; i++) x[i] = theirs[i] = 0.02 * i;
    kept = &k;
    around(x, theirs, &k, n);
{again}
    printf("%.6f %.6f %.6f\\n", sum(x, n), sum(theirs, n), level(&k));
    free(x);
    return 0;
}}
"""


class _Writer(Struct):
    random: random.Random
    depth: int = 0
    arrays: list[str] = field(default_factory=lambda: ["x", "line", "mine", "x", "line"])
    records: list[str] = field(default_factory=lambda: ["k", "&own", "&given"])

    def call(self) -> str:
        pick = self.random.choice
        a, b = self.random.sample(sorted(set(self.arrays)), 2)
        k = pick(self.records)
        return pick(
            [
                f"fill({a}, t, n);",
                f"scale({a}, 0.5, n);",
                f"add({a}, {b}, n);",
                f"shape({a}, {k}, n);",
                f"shape({a}, {k}, n);",
                f"learn({k}, {a});",
                "shift(n);",
                f"scratch({a}, n, t);",
                f"shaped({a}, n, t);",
                f"spare({a}, n);",
                f"shape({a}, kept, n);",
                f"learn(kept, {a});",
            ]
        )

    def touch(self) -> str:
        pick = self.random.choice
        a, b, k, i = pick(self.arrays), pick(self.arrays), pick(self.records), pick(["0", "3", "t % 8", "n - 1"])
        place = f"({k})->"
        return pick(
            [
                f"tune({k}, t);",
                "tune(kept, t);",
                f"{place}level = 0.5 * {place}level + {a}[{i}];",
                f"{place}rate[t % 8] = {b}[{i}];",
                f'printf("%.6f %.6f\\n", level({k}), {a}[{i}]);',
                f"poke({a}, {i}, 0.5 * t);",
                f"{a}[{i}] = peek({b}, 2) + 1.0;",
                f"for (int i = 1; i < n; i++) {a}[i] = 0.5 * {a}[i - 1] + 0.25 * {a}[i];",
                f"seen[{i}] += 0.5;",
                f'printf("%.6f\\n", seen[{i}]);',
            ]
        )

    def nested(self) -> list[str]:
        """Return a block with an object of its own, which dies at its end."""
        self.depth += 1
        name = f"b{self.depth}"
        if self.random.random() < 0.5:
            self.arrays.append(name)
            lines = [f"double {name}[40];", f"fill({name}, {self.depth} + t, n);", *self.block(2)]
            self.arrays.remove(name)
        else:
            self.records.append(f"&{name}")
            source = self.random.choice(["*k", "own"])
            lines = [f"Knobs {name} = {source};", f"{name}.level += 1.0;", f"shape(x, &{name}, n);", *self.block(2)]
            self.records.remove(f"&{name}")
        self.depth -= 1
        return ["{", *lines, "}"]

    def statement(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.5:
            return [self.call()]
        if kind < 0.8 or self.depth > 1:
            return [self.touch()]
        return self.nested()

    def block(self, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement()]


def stack_program(seed: int) -> str:
    """Return the program of a seed."""
    chosen = random.Random(seed)
    body = _Writer(chosen).block(chosen.randint(3, 7))
    body += ["scratch(line, n, t);", "spare(x, n);"]
    return _PARTS + _MAIN.format(
        n=chosen.choice([16, 33, 40]),
        steps=chosen.choice([2, 4, 5]),
        body="\n".join(f"        {line}" for line in body),
        cut=chosen.choice(["goto end;", "return;"]),
        line=chosen.choice(["line", "theirs"]),
        seen=chosen.choice(["x", "theirs"]),
        again=chosen.choice(["", "    relax(x, theirs, &k, n, k);", "    around(x, theirs, &k, n);"]),
    )
