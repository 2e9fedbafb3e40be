"""Random programs of networks, transforms and sieves: a host loop over lengths that double or halve, and inside it a
loop over elements and their partners, over blocks whose width is the length, or over multiples.

About half of the inner loops are wrong turns of the textbook's: another partner, another guard, a step that is too
short. What such a loop does depends on its order, so that a port that runs it in another one prints something else.
Every subscript lies in [0, 4 n + 8).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["SIZES", "render_partners"]

SIZES = "64"
"""The arguments of a run: the number of elements, a power of two."""

_LEVELS = (
    "for (int {j} = 1; {j} < n; {j} *= 2)",
    "for (int {j} = n / 2; {j} > 0; {j} /= 2)",
    "for (int {j} = 1; {j} < n; {j} <<= 1)",
    "for (int {j} = n >> 1; {j}; {j} >>= 1)",
)
_PARTNERS = (
    "i ^ j",
    "i ^ j",
    "i ^ j",
    "i | j",
    "i + j",
    "(i + j) & (n - 1)",
    "n - 1 - i",
    "i & ~j",
    "(i ^ j) ^ 1",
    "i ^ 5",
    "(i ^ j) + 1",
    "(i ^ j) + 2",
)
_GUARDS = ("l > i", "l > i", "(i & j) == 0", "!(i & j)", "i < l", "l >= i", "i & j", "(i & 1) == 0", "i % j < 2", "1")
_ACTS = (
    "if (a[i] > a[l]) SWAP(a[i], a[l])",
    "if ((a[i] > a[l]) == ((i & 4) == 0)) swap(&a[i], &a[l]);",
    "exchange(a, i, l);",
    "{ unsigned u = a[i], v = a[l]; a[i] = u + v; a[l] = u - v; }",
    "a[i] = a[l] * 3 + i;",
    "a[l] += a[i];",
)
_STEPS = ("2 * j", "2 * j", "j * 2", "j << 1", "j + j", "j", "3 * j", "j + 1")
_PLACES = (("i + t", "i + t + j"), ("i + t", "i + t + j"), ("i + t", "i + t + 2 * j"), ("i + t", "i + j - 1 - t"))
_ROWS = ("t / j * 2 * j + t % j", "t / j * 2 * j + t % j", "(t / j) * (2 * j) + t % j", "t / j * j + t % j", "2 * t")
_HEAD = """#include <stdio.h>
#include <stdlib.h>
#define SWAP(p, q) { unsigned t_ = p; p = q; q = t_; }
static void swap(unsigned *p, unsigned *q)
{
    unsigned t = *p;
    *p = *q;
    *q = t;
}
static void exchange(unsigned *x, int p, int q)
{
    if (x[p] > x[q]) {
        unsigned t = x[p];
        x[p] = x[q];
        x[q] = t;
    }
}
"""


def render_partners(seed: int) -> str:
    """Return a program; the same one for the same seed."""
    rng = random.Random(seed)
    functions: list[str] = []
    body = [line for _ in range(rng.randint(2, 3)) for line in _stage(rng, functions)]
    return "\n".join(
        [
            _HEAD + "\n".join(functions),
            "int main(int argc, char **argv)",
            "{",
            "    int n = argc > 1 ? atoi(argv[1]) : 16;",
            "    unsigned *a = malloc((4 * n + 8) * sizeof *a);",
            "    for (int i = 0; i < 4 * n + 8; i++)",
            "        a[i] = (i * 2654435761u) >> 12;",
            *body,
            "    unsigned total = 0;",
            "    for (int i = 0; i < 4 * n + 8; i++) total = total * 31 + a[i];",
            '    printf("%u\\n", total);',
            "    free(a);",
            "    return 0;",
            "}",
            "",
        ]
    )


def _stage(rng: random.Random, functions: list[str]) -> Iterator[str]:
    """Yield one host loop with what is inside, there or in a function of its own."""
    made = rng.choice((_pairs, _pairs, _blocks, _blocks, _flat, _multiples))
    head, inner = made(rng)
    if rng.random() < 0.5:
        yield from (f"    {head} {{", *(f"        {line}" for line in inner), "    }")
        return
    number = len(functions)
    functions.append("\n".join([f"static void stage{number}(unsigned *a, int n, int j)", "{", *inner, "}"]))
    yield f"    {head} stage{number}(a, n, j);"


def _pairs(rng: random.Random) -> tuple[str, list[str]]:
    partner, guard, act = rng.choice(_PARTNERS), rng.choice(_GUARDS), rng.choice(_ACTS)
    return rng.choice(_LEVELS).format(j="j"), [
        "for (int i = 0; i < n; i++) {",
        f"    int l = {partner};",
        f"    if ({guard}) {{ {act} }}",
        "}",
    ]


def _blocks(rng: random.Random) -> tuple[str, list[str]]:
    first, second = rng.choice(_PLACES)
    bound = rng.choice(("j", "j", "j", "j / 2", "j + 1"))
    if second == "i + j - 1 - t" and bound == "j + 1":
        bound = "j"  # the last partner would lie in front of the block
    loop, bias = ("int t = 0; t < {}", "") if rng.random() < 0.6 else ("int u = i; u < i + {}", "int t = u - i; ")
    counter = "t" if not bias else "u"
    return rng.choice(_LEVELS).format(j="j"), [
        f"for (int i = 0; i < n; i += {rng.choice(_STEPS)})",
        f"    for ({loop.format(bound)}; {counter}++) {{",
        f"        {bias}unsigned x = a[{first}], y = a[{second}];",
        f"        a[{first}] = x + y;",
        *([f"        a[{second}] = x - y;"] if rng.random() < 0.7 else []),
        "    }",
    ]


def _flat(rng: random.Random) -> tuple[str, list[str]]:
    row, far = rng.choice(_ROWS), rng.choice(("j", "j", "j", "1", "2 * j"))
    return rng.choice(_LEVELS).format(j="j"), [
        "for (int t = 0; t < n / 2; t++) {",
        f"    int i = {row};",
        f"    unsigned x = a[i], y = a[i + {far}];",
        "    a[i] = x + y;",
        f"    a[i + {far}] = x - y;",
        "}",
    ]


def _multiples(rng: random.Random) -> tuple[str, list[str]]:
    written = rng.choice(("a[m] = 0;", "a[m] += j;", "a[m] += a[m - j];", "a[m] = a[m / 2] + 1;"))
    first = rng.choice(("j", "2 * j", "j * j"))
    relation = rng.choice(("m < n", "m <= n", "n > m"))
    return "for (int j = 1; j < 9; j++)", [f"for (int m = {first}; {relation}; m += j)", f"    {written}"]
