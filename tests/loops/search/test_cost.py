"""The cost of a statement run on a device: stranded statements, host loops, launches, and threads."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.search.cost import Cost, cost_of, is_parallel, kernel_loops, only_loop, thread_loops
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.walk import loops

HEAD = """void f(int n, int m, double *restrict x, double *restrict y, double a[restrict n][n], const int *restrict at,
               double *restrict s) {
"""
OUTER, INNER = "for (int i = 0; i < n; i++) ", "for (int j = 0; j < n; j++) "
CHAIN = "x[i + 1] = x[i] * x[i];"


def facts_of(text: str) -> tuple[Facts, Function]:
    facts = analyze(program_of(f"{HEAD}{text}\n}}\n"), PolyOptions())
    ((_, function),) = facts.program.functions()
    return facts, function


def cost(text: str) -> Cost:
    facts, function = facts_of(text)
    return cost_of(facts, function, function.body.statements)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 1; int k = 2;", Cost()),
        (OUTER + "x[i] = 1;", Cost(launches=1, kernels=1)),
        (OUTER + INNER + "a[i][j] = 1;", Cost(launches=1, kernels=1)),
        # the second loop cannot be threads: one of the two that are wanted
        (OUTER + "for (int j = 1; j < n; j++) a[i][j] = a[i][j - 1] * a[i][j];", Cost(launches=1, narrow=1, kernels=1)),
        (OUTER + CHAIN, Cost(stranded=1)),
        (OUTER + "{ " + CHAIN + " y[i] = 2; }", Cost(stranded=2)),
        ("while (n > 3) n--;", Cost(stranded=1)),
        ("while (n > 3) { n--; for (int i = 0; i < m; i++) x[i] += 1; }", Cost(depth=1, launches=2, kernels=1)),
        # only what runs in the innermost host loops is launched often
        ("for (int i = 0; i < n; i++) x[i] = 1;" + OUTER + "{ x[i + 1] = x[i] * x[i]; " + INNER + "a[i][j] = x[i]; }",
         Cost(depth=1, launches=2, kernels=2)),
        ("if (n > 3) { " + OUTER + "x[i] = 1; } else { " + OUTER + "y[i] = 1; }", Cost(launches=2, kernels=2)),
        (OUTER + "s[0] += x[i];", Cost(launches=2, kernels=1, atomics=1, reduces=True)),
        ("double t = 0; " + OUTER + "t += x[i]; s[0] = t;", Cost(launches=2, kernels=1, reduces=True)),
    ],
)  # fmt: skip
def test_what_a_text_costs(text: str, expected: Cost) -> None:
    found = cost(text)
    fields = ("stranded", "depth", "atomics", "launches", "narrow", "kernels", "reduces")
    assert {f: getattr(found, f) for f in fields} == {f: getattr(expected, f) for f in fields}


def test_stranded_statements_are_worse_than_host_loops_and_those_than_launches() -> None:
    order = [
        Cost(kernels=9, reduces=True), Cost(narrow=1), Cost(launches=1), Cost(launches=5, narrow=5), Cost(atomics=1),
        Cost(depth=1), Cost(depth=2, atomics=3), Cost(stranded=1), Cost(stranded=1, depth=1), Cost(stranded=2),
    ]  # fmt: skip
    assert all(a < b and not b < a for a, b in pairwise(order))
    assert not Cost(kernels=1) < Cost() and not Cost() < Cost(kernels=1)


@pytest.mark.parametrize(
    ("cost", "ideal", "perfect", "well"),
    [
        (Cost(), True, True, True),
        (Cost(narrow=1), True, False, True),
        (Cost(atomics=1), True, False, False),
        (Cost(depth=1), False, False, True),
        (Cost(depth=2), False, False, False),
        (Cost(depth=1, reduces=True), False, False, False),
        (Cost(reduces=True), True, True, True),
        (Cost(stranded=1), False, False, False),
    ],
)
def test_what_is_good_enough(cost: Cost, ideal: bool, perfect: bool, well: bool) -> None:
    assert (cost.ideal, cost.perfect, cost.runs_well) == (ideal, perfect, well)


def test_threads_are_perfectly_nested_parallel_loops() -> None:
    deep = OUTER + INNER + "for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) a[i][j] = 0; "
    facts, function = facts_of(
        OUTER + "{ {;" + INNER + "a[i][j] = 1; } }" + OUTER + "{ x[i] = 2; " + INNER + "a[i][j] = 1; }" + deep
    )
    known = facts.of(function)
    outer = [loop for loop, around in loops(function.body) if not around and isinstance(loop, For)]
    assert [thread_loops(known, loop) for loop in outer] == [2, 1, 2]
    assert [only_loop(loop.body) is not None for loop in outer] == [True, False, True]
    assert is_parallel(known.of(outer[0]))
    kernels = {id(loop) for loop in kernel_loops(facts, function, function.body.statements)}
    assert kernels == {id(loop) for loop in outer}


def test_kernels_are_the_outermost_loops_that_may_be_some() -> None:
    facts, function = facts_of(OUTER + "{ " + CHAIN + INNER + "a[i][j] = x[i]; }" + INNER + CHAIN.replace("i", "j"))
    found = [loop.variable.name for loop in kernel_loops(facts, function, function.body.statements)]
    assert found == ["j"]


@pytest.mark.parametrize(
    ("body", "kernels"),
    [
        # what the selection leaves out where two loops of the host would launch it
        ("for (int j = 0; j < 32; j++) a[i][j] = x[i];", 0),
        ("for (int j = 0; j < 8; j++) for (int k = 0; k < 4; k++) a[j][k] = x[i];", 0),
        ("for (int j = 0; j < n; j++) s[0] += a[i][j];", 0),
        ("for (int j = 0; j < 33; j++) a[i][j] = x[i];", 1),
        ("for (int j = 0; j < n; j++) a[i][j] = x[i];", 1),
        # one that is worth a launch, and its neighbor
        ("for (int j = 0; j < 32; j++) a[i][j] = x[i]; for (int j = 0; j < n; j++) a[i][j] = x[j];", 2),
    ],
)
def test_small_kernels_inside_two_host_loops_are_none(body: str, kernels: int) -> None:
    once = "x[i + 1] = x[i] * x[i]; " + body
    assert cost(f"for (int t = 0; t < m; t++) {OUTER} {{ {once} }}").kernels == kernels
    assert cost(f"{OUTER} {{ {once} }}").kernels == max(kernels, 1)
