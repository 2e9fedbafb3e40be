"""Loops along the sides of a grid and over the colors of a checkerboard: what is Proved, and the bounds, hold for every
small grid that the guards let through, by enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import analyze
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.regions.bounds import LinearBounds, linear_bounds
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import loops

HEAD = "void f(int n, int m, int w, int c, double *A)"
# iteration, elements read, elements written
Step = tuple[int, Sequence[int], Sequence[int]]
Steps = Callable[[int, int, int, int], Iterator[Step]]

SIDES: dict[str, tuple[str, Steps]] = {
    "two sides": (
        "for (int i = 1; i <= n; i++) { A[i] = A[w + i]; A[(m + 1) * w + i] = A[m * w + i]; }",
        lambda n, m, w, c: ((i, (w + i, m * w + i), (i, (m + 1) * w + i)) for i in range(1, n + 1)),
    ),
    "the corners too": (
        "for (int i = 0; i <= n + 1; i++) { A[i] = A[w + i]; A[m * w + i] = 0.0; }",
        lambda n, m, w, c: ((i, (w + i,), (i, m * w + i)) for i in range(n + 2)),
    ),
    "three deep": (
        "for (int i = 0; i < n; i++) A[m * w * c + w * c + i] = A[w * c + i];",
        lambda n, m, w, c: ((i, (w * c + i,), (m * w * c + w * c + i,)) for i in range(n)),
    ),
    "a neighbor of the other side": (
        "for (int i = 1; i < n; i++) A[m * w + i] = A[w + i - 1] + A[w + i + 1];",
        lambda n, m, w, c: ((i, (w + i - 1, w + i + 1), (m * w + i,)) for i in range(1, n)),
    ),
}


def _holds(assumptions: Sequence[object], names: dict[str, int]) -> bool:
    tested = [a.condition for a in assumptions if isinstance(a, Assumption) and a.kind == "guarded"]
    assert all(c is not None for c in tested)
    return all(value(c, names) for c in tested if c is not None)


def _grids() -> Iterator[dict[str, int]]:
    for n, m, w, c in product(range(5), range(4), range(-1, 7), range(-2, 3)):
        yield {"n": n, "m": m, "w": w, "c": c}


def _conflict(steps: Sequence[Step]) -> bool:
    writers: dict[int, set[int]] = {}
    for i, _, written in steps:
        for element in written:
            writers.setdefault(element, set()).add(i)
    touched = ((i, e) for i, read, written in steps for e in (*read, *written))
    return any(writers.get(e, set()) - {i} for i, e in touched)


@pytest.mark.parametrize("name", SIDES)
def test_a_loop_along_sides_is_parallel_wherever_its_guards_hold(name: str) -> None:
    body, steps = SIDES[name]
    (function,) = analyze(program_of(f"{HEAD} {{ {body} }}"), PolyOptions()).functions
    verdict = function.loops[0].verdict
    if name == "a neighbor of the other side":
        # where m is 1 it is a stencil in place: the rows do not tell
        assert not isinstance(verdict, Proved) or verdict.assumptions
    else:
        assert isinstance(verdict, Proved), name
    if not isinstance(verdict, Proved):
        return
    let_through = [g for g in _grids() if _holds(verdict.assumptions, g)]
    wrong = [g for g in let_through if _conflict(list(steps(*g.values())))]
    assert not wrong
    # the guard is no excuse: long sides of a sound grid pass
    assert any(g["n"] > 2 and g["m"] > 1 for g in let_through)


CHECKERBOARDS: dict[str, tuple[str, Callable[[int, int, int, int], Iterator[int]]]] = {
    "one color": (
        "for (int j = 1; j <= m; j++) for (int i = 1 + (j + c) % 2; i <= n; i += 2) A[j * w + i] = 0;",
        lambda n, m, w, c: (
            j * w + i for j in range(1, m + 1) for i in range(1 + (abs(j + c) % 2) * (-1 if j + c < 0 else 1), n + 1, 2)
        ),
    ),
    "its neighbors": (
        "for (int j = 1; j <= m; j++) for (int i = 1 + (j + c) % 2; i <= n; i += 2)"
        " A[j * w + i - 1] = A[j * w + i + w];",
        lambda n, m, w, c: (
            e
            for j in range(1, m + 1)
            for i in range(1 + (abs(j + c) % 2) * (-1 if j + c < 0 else 1), n + 1, 2)
            for e in (j * w + i - 1, j * w + i + w)
        ),
    ),
}


@pytest.mark.parametrize("name", CHECKERBOARDS)
def test_the_bounds_of_one_color_are_the_extremes_wherever_the_guards_hold(name: str) -> None:
    body, touched = CHECKERBOARDS[name]
    program = program_of(f"{HEAD} {{ {body} }}")
    _, function = next(program.functions())
    loop, around = next(loops(function.body))
    with budget(20_000_000):
        region, state = build_region(Origin.of(program, function), (loop,), around, guards=True)
        references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "A" and a.path]
        found = linear_bounds(state, references, loop.span)
    assert isinstance(found, LinearBounds), found
    let_through = [g for g in _grids() if _holds(state.assumptions, g)]
    assert any(g["n"] > 2 and g["m"] > 1 and g["c"] == 1 for g in let_through)
    for names in let_through:
        elements = list(touched(*names.values()))
        if elements:
            ends = value(found.lower, names), value(found.upper, names)
            assert ends == (min(elements), max(elements) + 1), names
