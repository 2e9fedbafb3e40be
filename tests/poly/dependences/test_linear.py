"""Linear recurrences: what the value before is multiplied by and what is added, and expressions that are not linear."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import facts_of, program_of
from tests.poly.programs import function
from warpsmith.poly.dependences.linear import linear_update
from warpsmith.tree.nodes import ExprStmt, For, Stmt
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

PARAMETERS = (
    "int n, double *restrict a, float *restrict g, int *restrict h, long *restrict l, unsigned char *restrict c"
)
# the variable, its new value, and factor and summand
CASES: list[tuple[str, str, str]] = [
    ("double y", "0.9 * y + a[i]", "0.9 a[i]"),
    ("double y", "a[i] - y", "-1.0 a[i]"),
    ("double y", "a[i] + g[i] * y - 1", "(double)g[i] a[i] - (double)1"),
    ("double y", "(y - a[i]) * g[i]", "(double)g[i] -a[i] * (double)g[i]"),
    ("double y", "y / h[i] + 2", "1.0 / (double)h[i] (double)2"),
    ("double y", "-(y + a[i])", "-1.0 -a[i]"),
    ("double y", "a[i] > 0 ? 0.5 * y : y + a[i]", "a[i] > 0 ? 0.5 : 1.0 a[i] > 0 ? 0.0 : a[i]"),
    ("float y", "0.5 * y + g[i]", "0.5 (double)g[i]"),
    ("float y", "0.5f * y + g[i]", "0.5f g[i]"),
    ("unsigned y", "y * 33 + c[i]", "(unsigned int)33 (unsigned int)c[i]"),
    ("int y", "h[i] > 0 ? y + 1 : 0", "(unsigned int)(h[i] > 0 ? 1 : 0) h[i] > 0 ? (unsigned int)1 : (unsigned int)0"),
    ("long y", "h[i] * y * 2 - l[i]",
     "(unsigned long long)h[i] * (unsigned long long)2 -(unsigned long long)l[i]"),
    ("unsigned char y", "y * 5 + 1", "(unsigned int)5 (unsigned int)1"),
    # not linear, or not known to be computed like that
    ("double y", "y * y + 1", ""),
    ("double y", "a[i] / y", ""),
    ("double y", "1.5 * y + a[i]", ""),
    ("double y", "a[i] > 0 ? y + 1 : 0", ""),
    ("double y", "y > 0 ? y * 0.5 : a[i] + y", ""),
    ("double y", "(float)(y * 0.5) + 1", ""),
    ("int y", "y / 2 + h[i]", ""),
    ("int y", "y * 0.5 + h[i]", ""),
    ("int y", "(y ^ 5) + h[i]", ""),
    ("int y", "(unsigned char)(y * 3) + h[i]", ""),
    ("double y", "a[i]", ""),
    ("_Bool y", "y * 3 + h[i]", ""),
]  # fmt: skip


@functools.cache
def _statements() -> list[Stmt]:
    texts = (
        f"void f{number}({PARAMETERS}) {{ {declared} = 1; for (int i = 0; i < n; i++) y = {value}; a[0] = y; }}"
        for number, (declared, value, _) in enumerate(CASES)
    )
    program = program_of("\n".join(texts))
    bodies = (function(program, f"f{number}").body for number in range(len(CASES)))
    loops = [next(n for n in walk(body) if isinstance(n, For)) for body in bodies]
    return [loop.body for loop in loops]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[0]} = {case[1]}" for case in CASES])
def test_what_is_multiplied_and_what_is_added(number: int) -> None:
    stmt = _statements()[number]
    assert isinstance(stmt, ExprStmt)
    found = linear_update(stmt)
    shown = "" if found is None else f"{print_expr(found[1].factor)} {print_expr(found[1].summand)}"
    assert shown == CASES[number][2]


LOOPS = [
    ("double y = 0;", "y = 0.5 * y + a[i]; g[i] = y;", "scan"),
    ("double y = 0;", "g[i] = y; y = a[i] - g[i + 1] * y;", "sequential"),
    ("unsigned y = 7;", "y = y * 31 + c[i];", "scan"),
    ("double y = 0;", "a[i] = 0.5 * a[i - 1] + g[i];", "scan"),
    ("double y = 0;", "a[i] = g[i] - a[i - 1] * h[i];", "scan"),
    ("double y = 0;", "a[i] = 0.5 * a[i - 2] + g[i];", "sequential"),
    ("double y = 0;", "a[i] = 0.5 * a[i - 1] + a[i + 1];", "sequential"),
    # the coefficient depends on the value before, or on what the iteration computes
    ("double y = 0;", "y = (y > 1 ? 0.5 : 0.25) * y + a[i]; g[i] = y;", "sequential"),
    ("double y = 0, w = 1;", "w = w * w; y = w * y + a[i]; g[i] = y;", "sequential"),
    ("int y = 0;", "h[i] = i; y = y * h[i] + 1; l[i] = y;", "sequential"),
    ("int y = 0;", "y = y * 3 + 1; if (c[i]) y = 0; l[i] = y;", "sequential"),
]


@functools.cache
def _categories() -> dict[str, str]:
    texts = (
        f"double f{number}({PARAMETERS}) {{ {declared} for (int i = 2; i < n; i++) {{ {body} }} return y; }}"
        for number, (declared, body, _) in enumerate(LOOPS)
    )
    return {loop: facts.category for loop, facts in facts_of("\n".join(texts)).items()}


@pytest.mark.parametrize("number", range(len(LOOPS)), ids=[loop[1] for loop in LOOPS])
def test_which_loops_are_scans_of_maps(number: int) -> None:
    assert _categories()[f"f{number}/i"] == LOOPS[number][2]
