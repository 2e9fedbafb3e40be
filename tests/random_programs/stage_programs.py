"""Random programs of stages: straight-line code that hands pictures and arrays from call to call, with host code,
objects that live and die, early returns and exceptions in between."""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["StageProgram", "c_program", "cxx_program"]


class StageProgram(Struct, frozen=True):
    """One file: its name and its text."""

    name: str
    text: str


_CXX = """\
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>
class Row {
public:
    Row() = default;
    explicit Row(int n, double fill = 0.0) : n_(n), data_(n, fill)
    {
        if (n > 4000)
            throw std::invalid_argument("too long");
    }
    int size() const { return n_; }
    double at(int i) const { return data_[i]; }
    void set(int i, double v) { data_[i] = v; }
    std::vector<double> &values() { return data_; }
    const std::vector<double> &values() const { return data_; }
private:
    int n_ = 0;
    std::vector<double> data_;
};
static void scale(Row &r, double by)
{
    std::vector<double> &v = r.values();
    for (std::size_t i = 0; i < v.size(); i++) v[i] = by * v[i] + 0.5;
}
static Row half(const Row &in)
{
    Row out(in.size());
    const std::vector<double> &from = in.values();
    std::vector<double> &to = out.values();
    for (std::size_t i = 0; i < from.size(); i++) to[i] = 0.5 * from[i];
    return out;
}
static void add(Row &to, const Row &from)
{
    std::vector<double> &t = to.values();
    const std::vector<double> &f = from.values();
    for (std::size_t i = 0; i < t.size(); i++) t[i] += 0.25 * f[i];
}
static double total(const Row &in)
{
    const std::vector<double> &v = in.values();
    double sum = 0.0;
    for (std::size_t i = 0; i < v.size(); i++) sum += v[i];
    return sum;
}
static void report(const char *name, const Row &r) { std::printf("%s %d %.6f\\n", name, r.size(), total(r)); }
static double peek(const Row &r, int i) { return r.at(i); }
static void poke(Row &r, int i, double v) { r.set(i, v); }
static void running(Row &r)
{
    for (int i = 1; i < r.size(); i++) r.set(i, r.at(i) > 4.0 ? 0.5 * r.at(i - 1) : r.at(i) + 0.125 * r.at(i - 1));
}
static Row both(const Row &a, const Row &b)
{
    Row out = a, spare = half(b);
    add(out, spare);
    return out;
}
static Row after(Row given)
{
    scale(given, 0.5);
    return given;
}
static void check(const Row &r, double most)
{
    if (total(r) > most)
        throw std::runtime_error("too much");
}
static int run(Row &x, Row &y, int n)
{
    double last = 0.0;
BODY
    std::printf("%.6f\\n", last);
    return 0;
}
int main()
{
    Row x(LENGTH), y(LENGTH, 0.25);
    for (int i = 0; i < LENGTH; i++) x.set(i, 0.125 * i);
    int left = -1;
    try {
        left = run(x, y, LENGTH);
    } catch (const std::exception &error) {
        std::printf("caught %s\\n", error.what());
    }
    for (int i = 0; i < LENGTH; i++) std::printf("%.6f %.6f\\n", x.at(i), y.at(i));
    std::printf("%d\\n", left);
    return 0;
}
"""


def cxx_program(seed: int) -> StageProgram:
    """Return the C++ program of a seed."""
    rng = random.Random(seed)
    rows = ["x", "y"]
    lines: list[str] = []

    def row() -> str:
        return rng.choice(rows)

    def index() -> int:
        return rng.randint(0, 19)

    def step(depth: int) -> list[str]:
        a, b = row(), row()
        if depth < 2 and rng.random() < 0.15:
            inner = [s for _ in range(rng.randint(1, 3)) for s in step(depth + 1)]
            head = rng.choice(
                [f"if (peek({a}, {index()}) > 1.0) {{", f"for (int k{depth} = 0; k{depth} < 2; k{depth}++) {{"]
            )
            return [head, *inner, "}"]
        if depth == 0 and rng.random() < 0.3:
            made = f"r{len(rows)}"
            sources = [f"half({a})", f"both({a}, {b})", f"both(half({a}), {b})", f"after({a})"]
            text = rng.choice([f"Row {made}({a});", f"Row {made}(n, 0.75);", f"Row {made} = {rng.choice(sources)};"])
            rows.append(made)
            return [text]
        return [
            rng.choice(
                [
                    f"scale({a}, 0.75);",
                    f"add({a}, {b});" if a != b else f"scale({b}, 0.5);",
                    f'report("{a}", {a});',
                    f"{a} = half({b});",
                    f"{a} = {b};",
                    f"std::swap({a}, {b});" if a != b else f"scale({b}, 0.25);",
                    f"poke({a}, {index()}, {rng.randint(1, 9)}.5);",
                    f"last += peek({a}, {index()});",
                    f"{a}.set({index()}, {b}.at({index()}) + 1.0);",
                    f"running({a});",
                    f"{a}.set({index()}, total({b}));",
                    f"check({a}, {rng.choice([20, 60, 400])}.0);",
                    f"if (total({a}) > {rng.choice([50, 300])}.0) return 3;",
                    f"if (last > {rng.choice([20, 90])}.0) return (int){a}.at(2);",
                    f"{a}.values().resize(n);",
                    f'std::printf("%.6f\\n", {a}.at({index()}));',
                    f"add({a}, half({b}));" if a != b else f"scale({b}, 0.5);",
                ]
            )
        ]

    for _ in range(rng.randint(6, 12)):
        lines += step(0)
    body = "\n".join(f"    {line}" for line in ["scale(x, 2.0);", *lines, "scale(y, 0.5);", "add(y, x);"])
    return StageProgram("stages.cpp", _CXX.replace("BODY", body).replace("LENGTH", str(rng.choice([20, 33]))))


_C = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double table[40];
static void fill(double *a, int n, double s) { for (int i = 0; i < n; i++) a[i] = s * i; }
static void mix(double *restrict to, const double *restrict from, int n)
{
    for (int i = 1; i < n - 1; i++) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}
static void ramp(int n) { for (int i = 0; i < n; i++) table[i] = 0.5 * table[i] + i; }
static void apply(double *a, int n) { for (int i = 0; i < n; i++) a[i] += 0.25 * table[i]; }
static double sum(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static double peek(const double *a, int i) { return a[i]; }
static void poke(double *a, int i, double v) { a[i] = v; }
static void running(double *a, int n)
{
    for (int i = 1; i < n; i++) a[i] = a[i] > 4.0 ? 0.5 * a[i - 1] : a[i] + 0.125 * a[i - 1];
}
static int run(double **px, double **py, int n)
{
    double last = 0.0, *x = *px, *y = *py, *w = malloc(n * sizeof *w), fixed[40];
    fill(fixed, 40, 0.125);
    fill(w, n, 0.5);
BODY
    free(w);
    fill(fixed, 8, 0.25);
    *px = x;
    *py = y;
    printf("%.6f %.6f\\n", last, fixed[9]);
    return 0;
}
int main(void)
{
    double *x = malloc(LENGTH * sizeof *x), *y = malloc(LENGTH * sizeof *y);
    fill(x, LENGTH, 0.5);
    for (int i = 0; i < LENGTH; i++) y[i] = 0.25;
    int left = run(&x, &y, LENGTH);
    for (int i = 0; i < LENGTH; i++) printf("%.6f %.6f %.6f\\n", x[i], y[i], table[i]);
    printf("%d\\n", left);
    free(x);
    free(y);
    return 0;
}
"""


def c_program(seed: int) -> StageProgram:
    """Return the C program of a seed."""
    rng = random.Random(seed)

    def array() -> str:
        return rng.choice(["x", "y", "w", "fixed"])

    def step(depth: int) -> list[str]:
        a, b = rng.sample(["x", "y", "w"], 2)
        i, j = rng.randint(0, 19), rng.randint(0, 19)
        if depth < 2 and rng.random() < 0.2:
            inner = [s for _ in range(rng.randint(1, 3)) for s in step(depth + 1)]
            loop = f"for (int k{depth} = 0; k{depth} < 3; k{depth}++) {{"
            one, other = step(2)[0], step(2)[0]
            choice = f"switch (n % 3) {{ case 0: {one} break; default: {other} }}"
            return rng.choice([[f"if ({a}[{i}] > 1.0) {{", *inner, "}"], [loop, *inner, "}"], [choice]])
        return [
            rng.choice(
                [
                    f"mix({a}, {b}, n);",
                    f"mix({a}, fixed, n);",
                    f"apply({array()}, 20);",
                    "ramp(20);",
                    f"last += sum({array()}, n);",
                    f"{array()}[{i}] = {array()}[{j}] + 1.0;",
                    f"poke({array()}, {i}, {j}.5);",
                    f"last += peek({array()}, {i});",
                    f'printf("%.6f\\n", {array()}[{i}]);',
                    f"running({array()}, n);",
                    f"{a}[{i}] = 0.125 * sum({b}, n);",
                    f"{{ double *q = {a}; {a} = {b}; {b} = q; }}",
                    f"memcpy({a}, {b}, n / 2 * sizeof(double));",
                    f"table[{i}] = {a}[{j}];",
                    f"{a} = realloc({a}, 2 * n * sizeof(double));",
                    f"{{ double *q = malloc(n * sizeof(double)); mix(q, {b}, n); q[0] = q[n - 1] = 1; "
                    f"free({a}); {a} = q; }}",
                    f"if (last > {rng.choice([30, 200])}.0) {{ *px = x; *py = y; return (int){a}[3] % 5; }}",
                ]
            )
        ]

    lines = [s for _ in range(rng.randint(6, 12)) for s in step(0)]
    body = "\n".join(f"    {line}" for line in [*lines, "mix(y, x, n);"])
    return StageProgram("stages.c", _C.replace("BODY", body).replace("LENGTH", str(rng.choice([20, 33]))))
