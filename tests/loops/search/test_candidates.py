"""Which steps are tried on a nest, and in which order."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.search.candidates import candidates, countings, expansions, reorderings
from warpsmith.loops.search.cost import cost_of
from warpsmith.loops.step import step_text
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, Function, While
from warpsmith.tree.walk import loops

HEAD = """#include <stdlib.h>
void f(int n, int m, double *restrict x, double *restrict y, double a[restrict n][n], double b[restrict n][n][n],
       const int *restrict at)
{
"""
OUTER, INNER = "for (int i = 0; i < n; i++) ", "for (int j = 0; j < n; j++) "


def nest_of(text: str) -> tuple[Facts, Function, For]:
    facts = analyze(program_of(f"{HEAD}{text}\n}}\n"), PolyOptions())
    ((_, function),) = facts.program.functions()
    loop = next(loop for loop in loops(function.body))
    assert isinstance(loop[0], For)
    return facts, function, loop[0]


def tried(text: str) -> list[str]:
    facts, function, loop = nest_of(text)
    return [step_text(step) for step in candidates(facts, function, loop, cost_of(facts, function, (loop,)))]


CASES = [
    # parallel, and its inner loop is not: nothing gives it a second dimension; a parallel one inside may
    ("for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i][j - 1];", []),
    (OUTER + INNER + "a[i][j] = 1;", ["distribute=f/i"]),
    (OUTER + INNER + "for (int k = 0; k < n; k++) b[i][j][k] = 1;", ["interchange=f/i,order=i:k:j"]),
    (OUTER + "{ x[i] = 2; " + INNER + "a[i][j] = x[i]; }", ["distribute=f/i,groups=1"]),
    # the carried loop may go inside
    ("for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i - 1][j] * a[i][j];",
     ["interchange=f/i,order=j:i"]),
    # a temporary of all iterations, in place or one for each
    ("double t[2]; " + OUTER + "{ t[0] = x[i]; y[i] = t[0] * t[0]; }",
     ["privatize=f/i,variable=t", "expand=f/i,variable=t"]),
    # a subscript that the body counts
    ("int k = 0; " + OUTER + "{ x[k] = i; k += 2; }",
     ["forward-substitute=f/i,variable=k", "eliminate-recurrence=f/i,variable=k"]),
    (OUTER + "{ x[i + 1] = x[i] * x[i]; y[i] = 2; }", ["distribute=f/i,groups=1", "expand=f/i,variable=x"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_is_tried(text: str, expected: list[str]) -> None:
    found = tried(text)
    assert [step for step in found if step in expected] == expected, found
    assert expected or not found


def test_every_order_of_three_loops_but_the_one_that_stands() -> None:
    text = (
        "for (int i = 1; i < n; i++) " + INNER + "for (int k = 0; k < n; k++) b[i][j][k] = b[i - 1][j][k] * b[i][j][k];"
    )
    found = [step for step in tried(text) if step.startswith("interchange")]
    assert found == [f"interchange=f/i,order={order}" for order in ("i:k:j", "j:i:k", "j:k:i", "k:i:j", "k:j:i")]


def test_an_iteration_is_set_apart_where_a_subscript_meets_the_counter_around() -> None:
    facts, function, _ = nest_of("for (int k = 0; k < n; k++) " + OUTER + "x[i] = x[i] * x[k] + x[n - 1 - i];")
    inner = next(loop for loop, around in loops(function.body) if around)
    assert isinstance(inner, For)
    found = [step_text(s) for s in candidates(facts, function, inner, cost_of(facts, function, (inner,)))]
    assert found[-1] == "split=f/k/i,at=k,single=true"


def test_what_is_shared_is_expanded_through_all_loops_that_hold_its_uses() -> None:
    facts, function, loop = nest_of(
        "double t; int c = 0; " + OUTER + INNER + "{ t = a[i][j]; x[j] = t * t; c = i; } y[0] = t;"
    )
    found = [step_text(step) for step in expansions(facts, function, loop)]
    assert "expand=f/i,variable=x,depth=2" in found and "expand=f/i,variable=x" in found
    assert not any("variable=j" in step for step in found)
    more = [step_text(step) for step in expansions(facts, function, loop, scalars=True)]
    assert set(found) < set(more) and "expand=f/i,variable=c,depth=2" in more


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + a[i][j - 1];",
         {"wavefront"}),
        (OUTER + "x[i] = 1;", set()),
        (OUTER + "x[at[i]] = x[i] + at[at[i]];", set()),
    ],
)  # fmt: skip
def test_an_order_of_the_whole_nest_is_looked_for_where_it_is_sequential(text: str, names: set[str]) -> None:
    facts, function, loop = nest_of(text)
    assert {step.name for step in reorderings(facts, function, loop)} - {"reschedule"} == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for (int i = 0; i < n; i += m) x[i] = 0;", ["normalize=f/for", "canonicalize=f/for"]),
        ("for (int i = 1; i < n; i *= 2) x[i] = 0;", ["canonicalize=f/for"]),
        ("while (n > 0) x[--n] = 0;", ["canonicalize=f/while"]),
    ],
)
def test_loops_that_may_become_counted(text: str, expected: list[str]) -> None:
    facts = analyze(program_of(f"{HEAD}{text}\n}}\n"), PolyOptions())
    ((_, function),) = facts.program.functions()
    loop = next(loop for loop, _ in loops(function.body))
    assert isinstance(loop, While)
    assert [step_text(step) for step in countings(facts, function, loop)] == expected


BODIES = """static void put(double *p) { *p = 1; }
static void fill(double *p) { for (int i = 0; i < 3; i++) p[i] = 1; }
static double twice(double v) { return 2 * v; }
void other(double *);
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("put(&x[i])", ["inline=f/i,function=put"]),
        ("put(x + i), put(y + i)", ["inline=f/i,function=put"]),
        # a function with a loop has kernels of its own, unless each iteration gives it another place
        ("fill(x)", []),
        ("fill(&x[at[0]])", []),
        ("fill(&x[i])", ["inline=f/i,function=fill"]),
        # one with numbers alone, or without a text, is no help
        ("other(&x[i])", []),
        ("x[i] = twice(y[at[i]]), other(y)", []),
    ],
)
def test_functions_that_get_addresses_are_opened(call: str, expected: list[str]) -> None:
    facts = analyze(program_of(f"{BODIES}{HEAD}for (int i = 0; i < n; i++) {{ {call}; }}\n}}\n"), PolyOptions())
    function = next(f for _, f in facts.program.functions() if f.symbol.name == "f")
    loop = next(loop for loop, _ in loops(function.body))
    assert isinstance(loop, For) and facts.loop(loop).category == "unanalyzable"
    found = [step_text(step) for step in candidates(facts, function, loop, cost_of(facts, function, (loop,)))]
    assert [text for text in found if text.startswith("inline")] == expected
