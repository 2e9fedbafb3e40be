"""Random programs of kernels and host code over a few arrays, with copies that may go on beside either."""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["overlap_program"]

_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
static double noise(int n) { double s = 0.5; for (int i = 0; i < n; i++) s = s * 0.5 + (double)(rand() % 7); return s; }
static double kept[80];
"""


def overlap_program(seed: int) -> str:
    """Return a program in C: `stages` has kernels, host code, branches, loops and early ways out in random order; how
    far some of the kernels go, `m`, is changed between them."""
    rng = random.Random(seed)
    names = ["a", "b", "c", "d"][: rng.randrange(2, 5)]
    parameters = ", ".join(f"double *restrict {name}" for name in names)
    body = "\n".join(_statements([*names, "kept"], rng, depth=2, count=rng.randrange(4, 9)))
    given = ", ".join(names)
    made = "\n".join(f"    double *{name} = malloc(n * sizeof(double));" for name in names)
    filled = "\n".join(f"        {name}[i] = i % {3 + number} + 1;" for number, name in enumerate(names))
    digest = "\n".join(f"        s = s * 0.75 + {name}[i];" for name in [*names, "kept"])
    # one with which the program does not end at once, if there is one
    flag = next((f for f in rng.sample(range(3), 3) if f"\n    if (flag == {f})\n        return" not in f"\n{body}"), 0)
    freed = "\n".join(f"    free({name});" for name in names)
    return f"""{_HEAD}
int stages(int n, int flag, {parameters})
{{
    double s = 0.0;
    int m = n - 5;
{body}
    printf("%.9g\\n", s);
    return 0;
}}
int main(void)
{{
    int n = 80;
    double s = 0.0;
{made}
    srand(3);
    for (int i = 0; i < n; i++) {{
        kept[i] = 0.5 * (rand() % 5);
{filled}
    }}
    printf("%d\\n", stages(n, {flag}, {given}));
    for (int i = 0; i < n; i++) {{
{digest}
        s = s * (rand() % 2 ? 0.5 : 0.25);
    }}
    printf("%.9g\\n", s);
{freed}
    return 0;
}}
"""


def _statements(names: list[str], rng: random.Random, *, depth: int, count: int) -> Iterator[str]:
    indent = "    " * (3 - depth)
    for _ in range(count):
        for line in _statement(names, rng, depth):
            yield indent + line


def _statement(names: list[str], rng: random.Random, depth: int) -> list[str]:
    x, y = rng.sample(names, 2)
    at = rng.randrange(80)
    end = "nnm"[rng.randrange(3)]
    kind = rng.choice("kkkkwwhhrpnnc" + ("itl" if depth else ""))
    match kind:
        case "k":
            return [f"for (int i = 0; i < {end}; i++)", f"    {x}[i] = {x}[i] * 0.5 + {y}[i];"]
        case "w":
            return [f"for (int i = 0; i < {end}; i++)", f"    {x}[i] = {y}[i] * 0.25 + i % 3;"]
        case "h":
            return [f"{x}[{at}] += {rng.randrange(5)} + (rand() % 2);"]
        case "r":
            return [f"s = s * 0.5 + {x}[{at}] + (rand() % 3);"]
        case "p":
            return [f'printf("%.9g\\n", {x}[{at}]);']
        case "c":
            return ["m = 20 + rand() % 50;"]
        case "n":
            return [f"s = s + noise({rng.randrange(1, 20)});"]
        case "i":
            inner = list(_statements(names, rng, depth=depth - 1, count=rng.randrange(1, 4)))
            return [f"if (flag == {rng.randrange(3)}) {{", *(_dedented(line, depth) for line in inner), "}"]
        case "t":
            inner = list(_statements(names, rng, depth=depth - 1, count=rng.randrange(1, 5)))
            return ["for (int t = 0; t < 3; t++) {", *(_dedented(line, depth) for line in inner), "}"]
        case _:
            return [f"if (flag == {rng.randrange(4)})", f"    return {rng.randrange(9)};"]


def _dedented(line: str, depth: int) -> str:
    """Return a line of an inner block as its statement indents it."""
    return line[4 * (3 - depth) :]
