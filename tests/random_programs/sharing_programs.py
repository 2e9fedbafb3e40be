"""Random functions whose threads go through loops that several of them may share, and what calls them.

    void f0(int n, int m, double A[restrict n][m], double B[restrict n][m], const double *restrict x, …)
    {
        for (int i = 0; i < n; i++) {
            double s = y[i], t = -5, w; int u = c[i];
            for (int j = 1; j < m; j += 2) s += A[i][j] * x[j];              a sum
            y[i] += s;                                                       read by all lanes before
            for (int r = 0; r < 2; r++)                                      a loop around loops
                for (int j = 0; j <= i; j++) if (B[i][j] > t) t = B[i][j];   an extreme, in a triangle
            for (int j = 0; j < m; j++) B[i][j] = A[i][j] - t;               stores that are independent
            if (c[i] % 3)                                                    threads of a block part
                for (int j = 0; j < m; j++) s += x[j];
            if (s > 2) y[i] = s + t;
        }
    }

Rows are shorter and longer than a warp is wide; bounds come from arguments, counters and arrays.
"""

from __future__ import annotations

import random

from msgspec import Struct

__all__ = ["SharingFunction", "program", "random_functions"]

_HEADER = (
    "(int n, int m, double A[restrict n][m], double B[restrict n][m], const double *restrict x, double *restrict y,"
    " const int *restrict c, int *restrict z)"
)
_RANGES = (
    ("0", "<", "m", "++"), ("0", "<", "m", "++"), ("1", "<", "m", " += 2"), ("0", "<=", "i % m", "++"),
    ("c[i] % 5", "<", "c[i + 1] % m", "++"), ("i % 3", "<", "m - 1", " += 3"), ("0", "<", "70", "++"),
)  # fmt: skip
_COMBINING = (
    "s += A[i][{j} % m] * x[{j}];",
    "s += A[i][{j} % m] * x[{j}];",
    "s -= x[{j}] * 0.25;",
    "if (A[i][{j} % m] > t) t = A[i][{j} % m];",
    "u ^= c[{j}] * 3 + i;",
    "v *= 1 + c[{j}] % 2;",
    "w = A[i][{j} % m] * 2; s += w * x[{j}];",
    "if (c[{j}] % 3 == 0) continue; s += x[{j}]; u ^= {j};",
    "for (int k = 0; k < 3; k++) s += x[{j}] * k;",
    "w = B[i][{j} % m]; if (w < 3) s += w;",
)
_STORING = (
    "B[i][{j}] = A[i][{j}] + s;",
    "B[i][{j}] = B[i][{j}] * 0.5 + x[{j}];",
    "B[i][{j}] = A[i][m - 1 - {j}] - t; s += x[{j}];",
    "w = x[{j}] + 1; B[i][{j}] = w;",
    "B[i][{j}] = {j} > 0 ? B[i][{j} - 1] * 0.5 + x[{j}] : 1;",
    "B[i][m - 1 - {j}] = B[i][{j}] + 1;",
)
# what threads cannot share
_CARRIED = (
    "w = w * 0.5 + x[{j}];",
    "s = x[{j}] - s;",
    "if (x[{j}] > 2.5) break; s += x[{j}];",
    "B[i][0] += x[{j}];",
)
_BETWEEN = (
    "y[i] += s;", "y[i] = s + t;", "if (s > 2) y[i] = s; else z[i] = u;", "z[i] ^= u;", "z[i] += v % 7;",
    "B[i][0] = s;", "s = s * 0.5 + y[i];", "u += z[i];", "if (u % 3 == 1) continue;", "w = s; s = 0;", "t = B[i][0];",
)  # fmt: skip


class SharingFunction(Struct, frozen=True):
    """One function, and the addresses of its loops that count with j."""

    name: str
    text: str
    loops: tuple[str, ...]


def random_functions(seed: int, count: int) -> list[SharingFunction]:
    """Return `count` functions."""
    return [_function(random.Random(f"sharing {seed} {number}"), f"f{number}") for number in range(count)]


def program(
    functions: list[SharingFunction], sizes: tuple[tuple[int, int], ...] = ((3, 5), (40, 71), (33, 130))
) -> str:
    """Return a program that calls the functions with each of the sizes, one after the other."""
    calls = "\n".join(f"    {one.name}(n, m, A, B, x, y, c, z);" for one in functions)
    runs = "\n".join(f"    run({n}, {m});" for n, m in sizes)
    texts = "\n".join(one.text for one in functions)
    return f"""\
#include <stdio.h>
#include <stdlib.h>
{texts}
static void run(int n, int m)
{{
    double (*A)[m] = malloc(n * sizeof *A), (*B)[m] = malloc(n * sizeof *B), *x = malloc(256 * sizeof *x);
    double *y = malloc(n * sizeof *y);
    int *c = malloc(256 * sizeof *c), *z = malloc(n * sizeof *z);
    for (int i = 0; i < 256; i++) {{ x[i] = i % 7 * 0.5; c[i] = (i * 37 + 11) % 101; }}
    for (int i = 0; i < n; i++) {{
        y[i] = i % 5; z[i] = i;
        for (int j = 0; j < m; j++) {{ A[i][j] = (i * 3 + j * 5) % 11 * 0.25; B[i][j] = (i + j) % 6; }}
    }}
{calls}
    double sum = 0; long all = 0;
    for (int i = 0; i < n; i++) {{ sum += y[i]; all += z[i]; for (int j = 0; j < m; j++) sum += B[i][j] * (j % 3); }}
    printf("%.9g %ld\\n", sum, all);
    free(A); free(B); free(x); free(y); free(c); free(z);
}}
int main(void)
{{
{runs}
    return 0;
}}
"""


def _function(chosen: random.Random, name: str) -> SharingFunction:
    lines = [f"double s = {chosen.choice(('0', 'y[i]', '0.5'))}, t = -5, w = 1;"]
    lines.append(f"int u = {chosen.choice(('0', 'c[i]'))}; unsigned v = 1;")
    for _ in range(chosen.randint(1, 3)):
        text = _loop(chosen)
        if chosen.random() < 0.2:
            text = f"for (int r = 0; r < 2; r++) {{ {text} {chosen.choice(_BETWEEN[:8])} }}"
        elif chosen.random() < 0.2:
            text = f"if (c[i] % 3) {{ {text} }}"
        lines += [text, *(chosen.choice(_BETWEEN) for _ in range(chosen.randint(0, 2)))]
    if chosen.random() < 0.4:
        # all threads use what they have combined
        lines.append("for (int j = 0; j < m; j++) { B[i][j] = A[i][j] * 0.5 + s - t + u; }")
    lines.append("y[i] = y[i] * 0.5 + s + t + w; z[i] += u + v % 5;")
    body = "\n        ".join(lines)
    text = f"static void {name}{_HEADER}\n{{\n    for (int i = 0; i < n; i++) {{\n        {body}\n    }}\n}}"
    return SharingFunction(name, text, _addresses(name, lines))


def _addresses(name: str, lines: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    counts: dict[str, int] = {}
    for line in lines:
        if "for (int j" not in line:
            continue
        around = f"{name}/i"
        if line.startswith("for (int r"):
            counts["r"] = counts.get("r", 0) + 1
            around += "/r" if counts["r"] == 1 else f"/r#{counts['r']}"
        key = f"{around}/j"
        counts[key] = counts.get(key, 0) + 1
        found.append(key if counts[key] == 1 else f"{key}#{counts[key]}")
    return tuple(found)


def _loop(chosen: random.Random) -> str:
    lower, relation, upper, step = chosen.choice(_RANGES)
    kind = chosen.random()
    if kind < 0.6:
        body = " ".join(chosen.sample(_COMBINING, chosen.randint(1, 2)))
    elif kind < 0.85:
        lower, relation, upper, step = "0", "<", "m", "++"
        body = chosen.choice(_STORING)
    else:
        body = chosen.choice(_CARRIED)
    return f"for (int j = {lower}; j {relation} {upper}; j{step}) {{ {body.format(j='j')} }}"
