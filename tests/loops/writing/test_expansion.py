"""The dimensions that an expansion adds: one a loop, those of the variable behind them, and no two uses in one slot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests.loops.steps.same_results import HEAD
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.extremes import Cover
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.loops.writing import expansion
from warpsmith.loops.writing.expansion import Shape, count_of, origin_of, settles, shape_of, slots_of
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Node
from warpsmith.tree.walk import children, walk

START = f"""{HEAD}void f(int n, int m, unsigned u, long l, double *a, double *b, int *c, double (*q)[4])
{{
    double w, t[20], r[2][3][4];
"""


def facts_of(text: str) -> Facts:
    return analyze(program_of(f"{START}{text}\n}}\n"), PolyOptions())


@cache
def shape(text: str, name: str, depth: int = 1) -> Shape | Reason:
    return shape_of(LoopContext.of(facts_of(text).program, "f/i"), name, depth)


def form(linear: Linear) -> str:
    """Return `n+2m-1`."""
    terms = "".join(f"{factor:+d}{symbol.name}" for symbol, factor in linear.terms)
    return f"{terms}{linear.constant:+d}".replace("+0", "") or "0"


def ranges(covers: tuple[Cover, ...]) -> str:
    return " ".join(f"[{form(r.low)}, {form(r.high)}]" for r in covers)


LOOP = "for (int i = 0; i < n; i++) "
ROWS = "for (int j = 0; j < 2; j++) for (int k = 0; k < {}; k++) r[j]{}[k]{} = 0;"
SHAPES = [
    (LOOP + "{ w = a[i]; b[i] = w; }", "w", 1, "[0, +1n-1]", ""),
    ("for (int i = n; i > 3; i--) { w = a[i]; b[i] = w; }", "w", 1, "[+4, +1n]", ""),
    (LOOP + "for (int j = i; j < m; j++) { w = a[j]; b[j] = w; }", "w", 2, "[0, +1n-1] [0, +1m-1]", ""),
    (LOOP + "for (int j = 0; j < m; j++) t[j + 1] = j;", "t", 1, "[0, +1n-1]", "[+1, +1m]"),
    (LOOP + "{ t[2] = 0; t[7] = 0; }", "t", 1, "[0, +1n-1]", "[+2, +7]"),
    # a subscript that is no sum of variables: the array as it is declared, where that is known
    (LOOP + "t[c[i]] = 0;", "t", 1, "[0, +1n-1]", "[0, +19]"),
    (LOOP + ROWS.format(4, "[1]", ""), "r", 1, "[0, +1n-1]", "[0, +1] [+1, +1] [0, +3]"),
    (LOOP + "for (int j = 0; j < 4; j++) q[m][j] = 0;", "q", 1, "[0, +1n-1]", "[+1m, +1m] [0, +3]"),
    # what runs over into the next row: all rows are there, and follow each other
    (LOOP + ROWS.format(12, "[0]", ""), "r", 1, "[0, +1n-1]", "[0, +1] [0, +2] [0, +3]"),
    (LOOP + "for (int j = 0; j < m; j++) r[1][0][j] = 0;", "r", 1, "[0, +1n-1]", "[0, +1] [0, +2] [0, +3]"),
    (LOOP + "for (int j = 0; j < 6; j++) r[1][j][2] = 0;", "r", 1, "[0, +1n-1]", "[0, +1] [0, +2] [+2, +2]"),
    (LOOP + "for (int j = 1; j < 4; j++) r[1][2][j - 2] = 0;", "r", 1, "[0, +1n-1]", "[0, +1] [0, +2] [0, +3]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "depth", "levels", "dims"), SHAPES)
def test_the_values_of_counters_and_subscripts(text: str, name: str, depth: int, levels: str, dims: str) -> None:
    found = shape(text, name, depth)
    assert isinstance(found, Shape), found
    assert (ranges(found.levels), ranges(found.dims)) == (levels, dims)
    assert found.covers == (*found.levels, *found.dims)


REFUSED = [
    (LOOP + "w = a[i];", "w", 0, "STP003", "depth is at least 1"),
    (LOOP + "w = a[i];", "w", 2, "STP002", ""),
    (LOOP + "a = b;", "a", 1, "STP002", ""),
    (LOOP + "a[c[i]] = 0;", "a", 1, "STP002", "is not a range that can be written"),
    (LOOP + "for (int j = 0; j < 5; j++) q[0][j] = 0;", "q", 1, "STP002", "is not a range that can be written"),
    ("for (int i = 0; i < n * m; i++) w = a[0];", "w", 1, "STP002", "how often i runs is not a sum"),
    (LOOP + "{ m = c[i]; for (int j = 0; j < m; j++) t[j] = 0; }", "t", 1, "STP002", "m, on which the size depends"),
    ("for (long i = 1; i < l; i++) w = a[i];", "w", 1, "STP002", "might overflow"),
]


@pytest.mark.parametrize(("text", "name", "depth", "rule", "said"), REFUSED)
def test_what_does_not_fit_says_why(text: str, name: str, depth: int, rule: str, said: str) -> None:
    found = shape(text, name, depth)
    assert isinstance(found, Reason) and found.rule == rule and said in found.text, found


def test_a_small_first_value_is_its_own_slot() -> None:
    def one(low: int, high: int) -> tuple[int | None, int | None, int | None]:
        cover = Cover(Linear((), low), Linear((), high))
        return origin_of(cover).number, slots_of(cover).number, count_of(cover).number

    assert one(0, 9) == (0, 10, 10)
    assert one(1, 9) == (0, 10, 9)
    assert one(16, 19) == (0, 20, 4)
    assert one(17, 19) == (17, 3, 3)
    assert one(-2, 3) == (-2, 6, 6)
    found = shape("for (int i = n; i < m; i++) w = a[i];", "w")
    assert isinstance(found, Shape)
    (level,) = found.levels
    assert (form(origin_of(level)), form(count_of(level))) == ("+1n", "-1n+1m")
    late = shape("for (int i = 0; i <= n - 3; i++) w = a[i];", "w")
    assert isinstance(late, Shape)
    # a size that a guard keeps positive is rounded up to a plain one
    assert (form(count_of(late.levels[0])), form(slots_of(late.levels[0]))) == ("+1n-2", "+1n")


@pytest.mark.parametrize(
    ("text", "depth", "found"),
    [
        (LOOP + "w = a[i];", 1, True),
        (LOOP + "for (int j = 0; j < m; j++) w = a[j];", 2, True),
        (LOOP + "for (int j = 0; j < i; j++) w = a[j];", 2, False),
        ("for (int i = 0; i < n; i += 2) w = a[i];", 1, False),
        (LOOP + "{ for (int j = 0; j < m; j++) w = a[j]; for (int j = 0; j < m; j++) w = b[j]; }", 2, False),
    ],
)
def test_all_combinations_of_the_counters(text: str, depth: int, found: bool) -> None:
    made = shape(text, "w", depth)
    assert isinstance(made, Shape) and made.rectangular == found


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        (LOOP + "w = a[i];", "w", True),
        (LOOP + "if (a[i] > 0) w = a[i];", "w", False),
        (LOOP + "for (int j = 0; j < 20; j++) t[j] = i;", "t", True),
        (LOOP + "for (int j = 1; j < 20; j++) t[j] = i;", "t", False),
        (LOOP + "for (int j = 0; j < 20; j += 2) t[j] = i;", "t", False),
    ],
)
def test_the_last_iteration_leaves_what_the_loop_leaves(text: str, name: str, found: bool) -> None:
    facts = facts_of(text)
    place = LoopContext.of(facts.program, "f/i")
    made = shape_of(place, name, 1)
    assert isinstance(made, Shape) and settles(facts, place, made) == found


def test_the_loops_around_uses_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Node] = []

    def look(node: Node) -> Iterator[Node]:
        looked.append(node)
        return children(node)

    monkeypatch.setattr(expansion, "children", look)
    uses = "".join(f"w = a[i + {k}]; b[{k}] = w;" for k in range(40))
    place = LoopContext.of(facts_of(f"for (int i = 0; i < n; i++) {{ {uses} }}").program, "f/i")
    assert isinstance(shape_of(place, "w", 1), Shape)
    assert len(looked) == len(set(looked)) == sum(1 for _ in walk(place.loop))
    for node in walk(place.loop):
        path = expansion._path(place.loop, node)
        assert path[0] is place.loop and path[-1] is node
        assert all(inner in children(outer) for outer, inner in pairwise(path))
    assert expansion._path(place.require_counted().body, place.loop) == ()
