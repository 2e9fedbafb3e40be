"""Which memory is an iteration's alone: sizes, tests and frees as they are found; steps/data/test_hoist_allocation.py
has what is refused, and runs what is taken."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.scratch import Scratch, find_scratch, other_tests, scratch_names
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.walk import loops, walk

HEAD = "#include <stdlib.h>\n"
FOUND = [
    ("double *t = malloc(m * sizeof *t); free(t);", "m", False, 1, 0),
    ("double *t = malloc(sizeof(double) * (size_t)m * 3); free(t);", "3 m", False, 1, 0),
    ("int *t = calloc(m + 1, sizeof(int)); t[0] = 1;", "m + 1", True, 0, 0),
    ("double *t = malloc(64); free(t);", "8", False, 1, 0),
    ("double *t = malloc(m * n * sizeof(double)); if (!t) exit(1); if (t == 0) abort(); free(t);", "m n", False, 1, 2),
    ("double *t = malloc(m * 8); if (n > 3) { free(t); continue; } free(t);", "m", False, 2, 0),
    ("double *t = malloc(m * 8), *u = malloc(8); if (!t || !u || n > 3) break; free(t); free(u);", "m", False, 1, 1),
]  # fmt: skip


def _loop(body: str) -> For:
    text = f"{HEAD}void f(int n, int m) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    ((_, function),) = program_of(text).functions()
    (loop,) = (loop for loop, _ in loops(function.body) if isinstance(loop, For))
    return loop


@pytest.mark.parametrize(("body", "counts", "zero", "frees", "tests"), FOUND)
def test_what_is_found(body: str, counts: str, zero: bool, frees: int, tests: int) -> None:
    found = find_scratch(_loop(body), "t", {})
    assert isinstance(found, Scratch), found
    said = " ".join(
        " + ".join([*(s.name for s in c.symbols), *([str(c.constant)] * (c.constant != 0))]) for c in found.counts
    )
    assert (said, found.zero, len(found.frees), len(found.tests)) == (counts, zero, frees, tests)


def test_what_else_a_test_asks_stays() -> None:
    loop = _loop("double *t = malloc(m * 8), *u = malloc(8); if (!t || !u || n > 3) break; free(t); free(u);")
    assert scratch_names(loop) == ("t", "u")
    found = find_scratch(loop, "t", {})
    assert isinstance(found, Scratch)
    (test,) = found.tests
    assert [show_expression(part) for part in other_tests(test, found.declared.symbol)] == ["!u", "n > 3"]


@pytest.mark.parametrize(
    "body", ["double *t; t = malloc(m * 8); free(t);", "double t[3]; t[0] = 1;", "static double *t;"]
)
def test_only_declarations_with_memory_are_found(body: str) -> None:
    loop = _loop(body)
    assert not scratch_names(loop)
    assert isinstance(find_scratch(loop, "t", {}), Reason)
    assert sum(1 for _ in walk(loop))
