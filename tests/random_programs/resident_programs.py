"""Random programs of several functions and files: kernels below, host touches between, pointers that move.

    main.c     a time loop that calls, swaps, reads one value, writes one, branches, leaves early
    parts.c    functions that call kernels, with temporary arrays of their own
    kernels.c  loops

Every program ends by itself, touches nothing outside its objects, and prints all that it computed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from msgspec import Struct, field

__all__ = ["ResidentProgram", "resident_program"]

_HEADER = """\
#ifndef PARTS_H
#define PARTS_H
typedef struct { int n; double level; double *a, *b; } State;
extern double table[48];
extern double total;
void copy(const double *from, double *to, int n);
void blur(const double *from, double *to, int n);
void scale(double *x, double c, int n);
void add(double *restrict to, const double *restrict from, int n);
void fill(double *x, double c, int n);
void norm(const double *x, int n, double *out);
void inner(double *x, int first, int last);
double dot(const double *x, const double *y, int n);
void ramp(double *x, int n);
double peek(const double *x, int i);
void poke(double *x, int i, double value);
void swap(double **x, double **y);
void turn(State *s);
int early(double *x, double *y, int n, int t);
void scratch(double *x, int n);
void workspace(double *x, double *y, int n);
void both(State *s, int t);
void bump(State *s);
double reached(const State *s, int i);
#endif
"""

_KERNELS = """\
#include "parts.h"
double table[48];
double total;
void copy(const double *from, double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
void blur(const double *from, double *to, int n)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1]);
}
void scale(double *x, double c, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = c * x[i];
}
void add(double *restrict to, const double *restrict from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = 0.5 * to[i] + 0.25 * from[i];
}
void fill(double *x, double c, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = c;
}
void norm(const double *x, int n, double *out)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i];
    *out = s;
}
void inner(double *x, int first, int last)
{
    for (int i = first; i < last; i++)
        x[i] = 0.5 * x[i] + i;
}
double dot(const double *x, const double *y, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}
"""

_PARTS = """\
#include <stdlib.h>
#include "parts.h"
void ramp(double *x, int n)
{
    for (int i = 1; i < n; i++)
        x[i] = 0.5 * x[i - 1] + 0.5 * x[i];
}
double peek(const double *x, int i)
{
    return x[i];
}
void poke(double *x, int i, double value)
{
    x[i] = value;
}
void swap(double **x, double **y)
{
    double *t = *x;
    *x = *y;
    *y = t;
}
void turn(State *s)
{
    double *t = s->a;
    s->a = s->b;
    s->b = t;
}
int early(double *x, double *y, int n, int t)
{
    scale(x, 0.5, n);
    if (x[0] > 1.5)
        return 0;
    copy(x, y, n);
    if (t % 3 == 1) {
        y[1] = t;
        return 1;
    }
    blur(y, x, n);
    return x[2] > 0.25;
}
void scratch(double *x, int n)
{
    double w[48];
    copy(x, w, n);
    w[3] = w[3] + 1.0;
    blur(w, x, n);
}
void workspace(double *x, double *y, int n)
{
    double *w = malloc(n * sizeof(double));
    copy(x, w, n);
    add(y, w, n);
    free(w);
}
void both(State *s, int t)
{
    double *a = s->a, *b = s->b;
    for (int i = 0; i < s->n; i++)
        a[i] = 0.5 * a[i] + 0.125 * b[i];
    s->level = a[t % 5];
    turn(s);
}
void bump(State *s)
{
    s->a[4] += 1.0;
    s->level = 0.5 * s->level + s->a[0];
}
double reached(const State *s, int i)
{
    return i < s->n && s->b[i] > 0.0 ? s->b[i] : s->level;
}
"""


class ResidentProgram(Struct, frozen=True):
    """The files of one program, by name."""

    files: dict[str, str]


class _Writer(Struct):
    """Writes statements; arrays are `x`, `y`, `z` (pointers of main), `table`, `line` (arrays), `s.a`, `s.b`."""

    random: random.Random
    depth: int = 0
    lines: list[str] = field(default_factory=list)

    def array(self) -> str:
        return self.random.choice(["x", "y", "z", "x", "y", "s.a", "s.b", "table", "line"])

    def two(self) -> tuple[str, str]:
        first = self.array()
        second = self.array()
        while second == first:
            second = self.array()
        return first, second

    def index(self) -> str:
        return self.random.choice(["0", "1", "n - 1", "n / 2", "t % 7", "k"])

    def call(self) -> str:
        a, b = self.two()
        choices = [
            f"copy({a}, {b}, n);",
            f"blur({a}, {b}, n);",
            f"scale({a}, 0.5, n);",
            f"add({a}, {b}, n);",
            f"fill({a}, t * 0.5, n);",
            f"inner({a}, 1, n - 1);",
            f"inner({a}, t % 3, n / 2);",
            f"inner({a} + 2, 0, n - 4);",
            f"norm({a}, n, &total);",
            f"norm({a}, n, &err);",
            f"norm({a}, n, &{b}[1]);",
            f"err = dot({a}, {b}, n);",
            f"ramp({a}, n);",
            f"k = early({a}, {b}, n, t);",
            f"scratch({a}, n);",
            f"workspace({a}, {b}, n);",
            "both(&s, t);",
            "bump(&s);",
        ]
        return self.random.choice(choices)

    def touch(self) -> str:
        a, b = self.two()
        i, j = self.index(), self.index()
        choices = [
            f'printf("%.6f\\n", {a}[{i}]);',
            f"{a}[{i}] = t + 0.5;",
            f"{a}[{i}] += 0.25 * {b}[{j}];",
            f"poke({a}, {i}, 0.5 * t);",
            f"err += peek({a}, {i});",
            f"for (int i = 0; i < n; i++) {a}[i] = 0.5 * {a}[i] + {b}[n - 1 - i];",
            f'for (int i = 0; i < n; i += 3) printf("%.5f ", {a}[i]);',
            f"memcpy({a}, {b}, n / 2 * sizeof(double));",
            f"err = {a}[{i}] > 0.5 ? {b}[{j}] : total;",
            "swap(&x, &y);",
            "swap(&z, &x);",
            "turn(&s);",
            "{ double *q = y; y = z; z = q; }",
            'printf("%.6f %.6f\\n", err, total);',
            'printf("%.6f\\n", s.level);',
            "err = reached(&s, k);",
            "total = 0.5 * total + err;",
            "while (x[0] > 1.0) x[0] *= 0.5;",
            "for (int i = 1; i < n; i++) { if (y[i] < 0.0) break; y[i] = 0.5 * y[i] + 0.25 * y[i - 1]; }",
        ]
        return self.random.choice(choices)

    def leave(self) -> str:
        a = self.array()
        return self.random.choice(
            [
                f"if ({a}[1] > 1e6) break;",
                f"if (t == 3 && {a}[0] < 0.5) continue;",
                f"if (total > 900.0) return (int){a}[2] % 7;",
                "if (t > 4 && err < 0.0) break;",
            ]
        )

    def statement(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.45:
            return [self.call()]
        if kind < 0.8 or self.depth > 1:
            return [self.touch()]
        if kind < 0.86:
            return [self.leave()] if self.depth == 0 else [self.touch()]
        self.depth += 1
        inner = self.block(self.random.randint(1, 3))
        other = self.block(self.random.randint(1, 2)) if self.random.random() < 0.4 else []
        self.depth -= 1
        a = self.array()
        heads = ["if (t % 2 == 0) {", "if (k > 2) {", f"if ({a}[{self.index()}] > 0.5) {{"]
        if kind > 0.96:
            counter = "jk"[self.depth] if self.depth < 1 else "jj"
            return [f"for (int {counter} = 0; {counter} < 2; {counter}++) {{", *inner, "}"]
        return [self.random.choice(heads), *inner, "}", *(["else {", *other, "}"] if other else [])]

    def block(self, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement()]


_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
int main(void)
{{
    int n = {n}, k = 0;
    double err = 0.0, line[48];
    double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double)), *z = malloc(n * sizeof(double));
    State s = {{n, 0.5, malloc(n * sizeof(double)), malloc(n * sizeof(double))}};
    for (int i = 0; i < n; i++) {{
        x[i] = 0.01 * i;
        y[i] = 1.0 - 0.02 * i;
        z[i] = 0.5;
        s.a[i] = 0.03 * i;
        s.b[i] = 0.7;
        table[i] = 0.1;
        line[i] = 0.2 * i;
    }}
    for (int t = 0; t < {steps}; t++) {{
{body}
    }}
{after}
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] + 2.0 * y[i] + 3.0 * z[i] + 4.0 * s.a[i] + 5.0 * s.b[i] + 6.0 * table[i] + 7.0 * line[i];
    printf("%.6f %.6f %.6f %d\\n", sum, err, total, k);
    free(x);
    free(y);
    free(z);
    free(s.a);
    free(s.b);
    return 0;
}}
"""


def resident_program(seed: int, keep: Callable[[str], bool] = lambda line: True) -> ResidentProgram:
    """Return the program of a seed."""
    writer = _Writer(random.Random(seed))
    body = writer.block(writer.random.randint(3, 8))
    if not any("(" in line and ", n" in line for line in body):
        body.append("blur(x, y, n);")
    writer.depth = 2
    after = writer.block(writer.random.randint(0, 2))
    text = _MAIN.format(
        n=writer.random.choice([24, 31, 40]),
        steps=writer.random.choice([1, 3, 6, 7]),
        body="\n".join(f"        {line}" for line in body if keep(line)),
        # the steps are over
        after="\n".join(re.sub(r"\bt\b", "3", f"    {line}") for line in after),
    )
    return ResidentProgram({"main.c": text, "parts.c": _PARTS, "kernels.c": _KERNELS, "parts.h": _HEADER})
