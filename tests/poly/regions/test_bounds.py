"""Bounds of what references touch, evaluated and compared with every element that is really touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.isl.space import budget
from warpsmith.poly.regions.bounds import LinearBounds, linear_bounds
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.walk import loops

Touched = Callable[[int, int], Iterator[int]]


def bounds_of(text: str) -> LinearBounds | Reason:
    """Return the bounds of every reference to A in the first outermost loop."""
    program = program_of(text)
    _, function = next(program.functions())
    loop, around = next(loops(function.body))
    with budget(20_000_000):
        region, state = build_region(Origin.of(program, function), (loop,), around, guards=True)
        references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "A" and a.path]
        return linear_bounds(state, references, loop.span)


CASES: list[tuple[str, Touched]] = [
    ("for (int i = 0; i < n; i++) A[i] = 0;", lambda n, m: iter(range(n))),
    ("for (int i = 2; i < n; i += 3) A[i] = 0;", lambda n, m: iter(range(2, n, 3))),
    ("for (int i = n - 1; i > 0; i--) A[2*i+1] = 0;", lambda n, m: (2 * i + 1 for i in range(1, n))),
    (
        "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) A[i*m+j] = 0;",
        lambda n, m: (i * m + j for i in range(n) for j in range(i, m)),
    ),
    (
        "for (int i = 0; i < n; i++) { A[i] = 0; A[i + m] = A[n - 1 - i]; }",
        lambda n, m: iter({x for i in range(n) for x in (i, i + m, n - 1 - i)}),
    ),
    (
        "for (int i = 0; i < n; i++) if (i > m) A[i] = 0;",
        lambda n, m: (i for i in range(n) if i > m),
    ),
]


@pytest.mark.parametrize(("body", "touched"), CASES)
def test_bounds_are_the_extremes(body: str, touched: Touched) -> None:
    found = bounds_of(f"void f(int n, int m, double *A) {{ {body} }}")
    assert isinstance(found, LinearBounds), found
    for n in range(6):
        for m in range(6):
            elements = list(touched(n, m))
            lower, upper = (value(e, {"n": n, "m": m}) for e in (found.lower, found.upper))
            if elements:
                assert (lower, upper) == (min(elements), max(elements) + 1), (n, m)
            else:
                assert upper <= lower, (n, m)


def test_indirect_subscript_has_no_bounds() -> None:
    found = bounds_of("void f(int n, int *m, double *A) { for (int i = 0; i < n; i++) A[m[i]] = 0; }")
    assert isinstance(found, Reason)
    assert found.rule == "POR005"
