"""Random programs with `T **`: rows in blocks of their own, in one, shuffled, shared, overlapping, on the stack or in
variables; kernels over one, two or three such arrays, which may share rows; host code that moves rows meanwhile."""

from __future__ import annotations

import random

__all__ = ["LAYOUTS", "row_program"]

_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double fixed[ROWS][COLUMNS];
static TYPE *spare[8];

static void scale(int n, int m, TYPE **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = (TYPE)(a[i][j] * 0.5 + i % 3);
}

static void relax(int n, int m, TYPE **u, TYPE **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = (TYPE)(0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]));
}

static void mixed(int n, int m, TYPE **a, TYPE **b, TYPE **c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = (TYPE)(0.5 * b[n - 1 - i][j] + 0.25 * c[i][m - 1 - j]);
}

static void by_rows(int n, int m, TYPE **a, TYPE **b)
{
    for (int i = 0; i < n; i++) {
        TYPE *to = a[i];
        const TYPE *from = b[i] + 1;
        for (int j = 0; j < m - 1; j++)
            to[j] = (TYPE)(0.5 * to[j] + 0.25 * from[j]);
    }
}

static void chosen(int n, int m, const int *which, TYPE **a, TYPE *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = (TYPE)(a[which[i]][j] + 1);
}

static void added(int n, int m, TYPE **a, const TYPE *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = (TYPE)(0.5 * a[i][j] + 0.125 * y[j]);
}

static void down(int n, int m, TYPE **a)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = (TYPE)(0.5 * a[i - 1][j] + 0.25 * a[i][j]);
}

static double sum(int n, int m, TYPE **a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += a[i][j] * (1 + (i + j) % 4);
    return s;
}

static void fill(int n, int m, TYPE **a, int seed)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = (TYPE)((i * 5 + j * 3 + seed) % 8);
}

int main(void)
{
    int n = ROWS, m = COLUMNS, which[ROWS];
    TYPE stack[COLUMNS] = {0}, *y = calloc(ROWS * COLUMNS, sizeof *y);
    TYPE **w;
    for (int i = 0; i < n; i++)
        which[i] = i * 3 % n;
BODY
    printf("%.9g\\n", (double)y[n * m - 2]);
    return 0;
}
"""

LAYOUTS = {
    "own": """\
        X[i] = malloc((m + i % 4) * sizeof **X);
        spare[i % 8] = realloc(spare[i % 8], 16 + 24 * (i % 5));""",
    "own, backwards": "        X[n - 1 - i] = malloc(m * sizeof **X);",
    "one block": "        X[i] = i == 0 ? malloc(n * m * sizeof **X) : X[0] + i * m;",
    "one block, shuffled": """\
        X[i * 5 % n] = i == 0 ? malloc(n * (m + 3) * sizeof **X) : X[0] + i * (m + 3);""",
    "shared": "        X[i] = i % 5 == 4 ? X[i - 2] : malloc(m * sizeof **X);",
    "overlapping": "        X[i] = i == 0 ? malloc((n * (m - 2) + 2) * sizeof **X) : X[0] + i * (m - 2);",
    "two in a block": "        X[i] = i % 2 == 0 ? malloc((2 * m + 1) * sizeof **X) : X[i - 1] + m + 1;",
    "a row of the stack": "        X[i] = i == 3 ? stack : malloc(m * sizeof **X);",
    "rows of a variable": "        X[i] = i % 3 == 1 ? (TYPE *)fixed[i] : malloc(m * sizeof **X);",
    "rows of another": "        X[i] = i % 4 == 2 ? OTHER[i] : malloc(m * sizeof **X);",
}


def row_program(seed: int) -> str:
    """Return the program of a seed."""
    rng = random.Random(seed)
    rows, columns = rng.choice([(9, 12), (12, 7), (6, 33)])
    type = rng.choice(["double", "float", "double", "int"])
    likely = ["own", "own, backwards", "own"]
    layouts = [rng.choice(likely if rng.random() < 0.7 else sorted(LAYOUTS)) for _ in "abc"]
    layouts[0] = layouts[0] if layouts[0] != "rows of another" else "own"
    lines: list[str] = []
    for name, layout in zip("abc", layouts, strict=True):
        text = LAYOUTS[layout].replace("X", name).replace("OTHER", "a")
        extra = rng.choice([0, 0, 2])
        lines.append(f"    TYPE **{name} = calloc(n + {extra}, sizeof *{name});")
        lines.append(f"    for (int i = 0; i < n; i++) {{\n{text}\n    }}\n    fill(n, m, {name}, {rng.randrange(8)});")
    body = [_action(rng) for _ in range(rng.randrange(4, 8))]
    if rng.random() < 0.7:
        inside = "\n".join(_indented(line) for line in body)
        lines.append(f"    for (int t = 0; t < {rng.randrange(4, 9)}; t++) {{\n{inside}\n    }}")
    else:
        lines += ["    int t = 4;", *body]
    lines += [f'    printf("%.9g\\n", sum(n, m, {name}));' for name in "abc"]
    text = _HEAD.replace("BODY", "\n".join(lines))
    return text.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)).replace("TYPE", type)


def _action(rng: random.Random) -> str:
    one, other, third = (rng.choice("abc") for _ in range(3))
    row, column = rng.randrange(1, 6), rng.randrange(1, 7)
    kernels = [
        f"    scale(n, m, {one});",
        f"    relax(n, m, {one}, {other});",
        f"    mixed(n, m, {one}, {other}, {third});",
        f"    by_rows(n, m, {one}, {other});",
        f"    chosen(n, m, which, {one}, y);",
        f"    added(n, m, {one}, y);",
        f"    added(n, m, {one}, {other}[{row}]);",
        f"    down(n, m, {one});",
        f"    scale(n - 2, m, {one} + 1);",
    ]
    host = [
        f"    w = {one}, {one} = {other}, {other} = w;",
        f"    {{ TYPE *r = {one}[{row}]; {one}[{row}] = {other}[{row - 1}]; {other}[{row - 1}] = r; }}",
        f"    {one}[{row}][{column}] = (TYPE)(t % 5);",
        f'    printf("%.9g\\n", (double){one}[{row}][{column}]);',
        f"    if (t % 3 == 1) memset({one}[{row}] + 1, 0, 3 * sizeof **{one});",
        f"    {one}[{row}] = memcpy(malloc((m + {column}) * sizeof **a), {one}[{row}], m * sizeof **a);",
        f"    {{ TYPE *r = {one}[{row}]; r[{column}] += (TYPE)t; }}",
        f"    if (t == 2) {one}[{row}] = {one}[{row - 1}];",
        f'    if (t % 4 == 0) printf("%.9g\\n", sum(n, m, {one}));',
    ]
    return rng.choice(kernels if rng.random() < 0.6 else host)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
