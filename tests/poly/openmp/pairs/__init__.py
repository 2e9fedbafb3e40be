"""Pairs of programs that differ in one place: one is subtly wrong under its pragmas, its twin is right.

    === title :: open, proved    what is said of the two where that is not `refuted, proved`
    struct p_q { … };    what follows up to `---` stands at file scope
    ---                  what follows is the body of `void run_q(int n, double *restrict a, … b, … c)`, n elements each
    @( wrong @| right @) where the two differ

Names at file scope end in `_q`, so that all programs fit into one file.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

__all__ = ["HEAD", "MAIN", "Pair", "functions", "pairs", "read_pairs"]

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int omp_get_thread_num(void), omp_get_num_threads(void), omp_get_max_threads(void), omp_get_team_num(void);
typedef struct { int held[4]; } omp_lock_t;
extern void omp_init_lock(omp_lock_t *), omp_set_lock(omp_lock_t *), omp_unset_lock(omp_lock_t *);
extern void omp_destroy_lock(omp_lock_t *);
"""
MAIN = r"""
int main(int argc, char **argv) {
    int n = argc + 4001;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c), h = 0;
    for (int i = 0; i < n; i++) { a[i] = i * 7 % 11; b[i] = i % 5; c[i] = (i + 3) % 7; }
    run_q(n, a, b, c);
    for (int i = 0; i < n; i++) h += a[i] * (i % 13 + 1) + b[i] * (i % 17 + 1) + c[i] * (i % 19 + 1);
    printf("%.15g %.15g %.15g %.15g\n", h, a[0], b[0], c[0]);
    free(a); free(b); free(c);
    return 0;
}
"""
_CHOICE = re.compile(r"@\((.*?)@\|(.*?)@\)")


class Pair(Struct, frozen=True):
    """What stands at file scope, the body, and what is said of the wrong one and of the right one."""

    title: str
    scope: str
    body: str
    wrong: str
    right: str


def pairs(kind: str) -> tuple[Pair, ...]:
    """Return the pairs of the file of that name."""
    return read_pairs(Path(__file__).with_name(f"{kind}.pairs"))


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Return the pairs of a file."""
    found: list[Pair] = []
    for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
        head, body = part.split("\n---\n")
        line, _, scope = head.partition("\n")
        title, _, said = line.partition(" :: ")
        wrong, right = said.split(", ") if said else ("refuted", "proved")
        found.append(Pair(title, scope, body, wrong, right))
    return tuple(found)


def functions(pair: Pair, *, wrong: bool, name: str = "q") -> str:
    """Return the functions of one of the two, with `name` in place of the `q` that ends their names."""
    words = ", ".join(f"double *restrict {x}" for x in "abc")
    text = f"{pair.scope}\nvoid run_q(int n, {words})\n{{\n{pair.body}}}\n"
    return re.sub(r"_q\b|_q(?=\d)", f"_{name}", _CHOICE.sub(lambda m: m[1 if wrong else 2].strip(), text))
