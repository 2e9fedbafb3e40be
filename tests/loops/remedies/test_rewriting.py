"""Pieces of the user's text: where statements may stand beside a loop, and which text may be changed."""

from __future__ import annotations

from itertools import product

import pytest

from tests.loops.remedies.proposals import known
from tests.poly.analysis import program_of
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.loops.remedies.rewriting import (
    calls_program,
    declare,
    fresh,
    function_start,
    is_plain,
    iterations_done,
    keeps_start,
    leaves_iteration,
    may_meet,
    operand,
    place_of,
    renamings,
    trip_count,
    with_edits,
)
from warpsmith.tree.nodes import For
from warpsmith.tree.types import DOUBLE, Scalar

HEAD = """#include <math.h>
#define PLUS(x) ((x) + 1)
#define THERE a[i]
int g(int x);
"""


def text_of(body: str) -> str:
    return f"{HEAD}void f(int n, int m, double *restrict a, double *b, double *c)\n{{\n{body}\n}}\n"


def loop_of(body: str, name: str = "f/i") -> For:
    _, one = known(text_of(body), name)
    assert isinstance(one.loop, For)
    return one.loop


UP = "for (int i = 0; i < n; i++) "


def beside(body: str) -> str | None:
    facts, one = known(text_of(body), "f/i")
    place = place_of(facts, one)
    if place is None:
        return None
    made = apply_edits(facts.program.units[0].file, (*place.before(["x;", "y;"]), *place.behind(["z;"])))
    return made[made.index("{\n") + 2 : -3]


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (f"    {UP}a[i] = 1;", f"    x;\n    y;\n    {UP}a[i] = 1;\n    z;"),
        (f"    n = 2; {UP}a[i] = 1;", f"    n = 2; x; y; {UP}a[i] = 1; z;"),
        (
            f"    #pragma omp simd\n    {UP}a[i] = 1;",
            f"    x;\n    y;\n    #pragma omp simd\n    {UP}a[i] = 1;\n    z;",
        ),
        (f"    if (n) {UP}a[i] = 1;", None),
        (f"    if (n) {{ {UP}a[i] = 1; }}", f"    if (n) {{ x; y; {UP}a[i] = 1; z; }}"),
    ],
)
def test_statements_beside_a_loop(body: str, made: str | None) -> None:
    assert beside(body) == made


def test_nothing_to_add_is_no_edit() -> None:
    facts, one = known(text_of(UP + "a[i] = 1;"), "f/i")
    place = place_of(facts, one)
    assert place is not None and place.before([]) == place.behind([]) == ()


@pytest.mark.parametrize(
    ("body", "plain", "calls", "leaves"),
    [
        ("a[i] = b[i] + sqrt(2.0);", True, False, False),
        ("a[i] = PLUS(b[i]);", False, False, False),
        ("a[i] = PLUS(i);", False, False, False),
        ("THERE = 1;", False, False, False),
        ("{\n#pragma omp atomic\n a[0] += 1; }", False, False, False),
        ("a[i] = g(i);", True, True, False),
        ("{ if (a[i] > 1) continue; a[i] = 1; }", True, False, True),
        ("{ if (a[i] > 1) return; a[i] = 1; }", True, False, True),
    ],
)
def test_what_a_text_is(body: str, plain: bool, calls: bool, leaves: bool) -> None:
    facts, one = known(text_of(UP + body))
    assert (is_plain(one.loop), calls_program(facts, one.loop), leaves_iteration(one.loop.body)) == (
        plain,
        calls,
        leaves,
    )


def test_names_are_replaced_where_they_stand() -> None:
    loop = loop_of(UP + "a[i] = (i) + m * i;")
    edits = renamings(loop.body, {loop.variable: "k"})
    assert with_edits(loop.body.span, edits) == "a[k] = (k) + m * k;"
    assert renamings(loop.body, {}) == ()


def test_edits_inside_others_and_outside_the_text_are_left_out() -> None:
    file = SourceFile("a.c", "one two three")
    span = Span(file, 0, 7)
    inside = [Edit(Span(file, 4, 5), "x"), Edit(Span(file, 4, 7), "2"), Edit(Span(file, 6, 9), "y")]
    assert with_edits(span, inside) == "one 2"
    assert with_edits(span, []) == "one two"


def test_names_and_declarations() -> None:
    span = Span(SourceFile("a.c", "int w, w2; // w3"), 0, 3)
    assert (fresh(span, "v"), fresh(span, "int")) == ("v", "int2")
    assert fresh(span, "w") not in ("w", "w2")
    const = Scalar("double", 64, "float", const=True, volatile=True, spelling="const volatile real")
    assert declare(const, "x") == "real x" and declare(DOUBLE, "x") == "double x"
    loop = loop_of(UP + "a[i] = 1;")
    function = next(f for _, f in program_of(text_of("")).functions())
    start = function_start(function)
    assert (start.start, start.end) == (function.span.start, function.span.start) and loop.step == 1


@pytest.mark.parametrize(
    ("header", "count"),
    [
        ("int i = 0; i < n; i++", "0 < n ? n : 0"),
        ("int i = 0; i <= n; i++", "0 <= n ? n + 1 : 0"),
        ("int i = m; i < n; i++", "m < n ? n - m : 0"),
        ("int i = m + 1; i <= n - 1; i++", "(m + 1) <= (n - 1) ? (n - 1) - (m + 1) + 1 : 0"),
    ],
)
def test_how_often_a_loop_runs(header: str, count: str) -> None:
    loop = loop_of(f"for ({header}) a[i] = 1;")
    assert trip_count(loop) == count and operand(loop.lower) in count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "relation"),
    [
        ("int i = {lower}; i < {bound}; i += {step}", "<"),
        ("int i = {lower}; i <= {bound}; i += {step}", "<="),
        ("int i = {bound}; i > {lower}; i -= {step}", ">"),
        ("int i = {bound}; i >= {lower}; i -= {step}", ">="),
    ],
)
def test_iterations_are_counted_right(header: str, relation: str) -> None:
    """The expressions are worked out as Python has them and compared with what a loop does."""
    for lower, bound, step in product((-2, 0, 3), (-3, 0, 4, 9), (1, 2, 3)):
        text = header.format(lower=lower, bound=bound, step=step)
        loop = loop_of(f"for ({text}) a[i + 9] = 1;")
        first, end = (lower, bound) if loop.step > 0 else (bound, lower)
        counted = range(first, end + (loop.step // abs(loop.step) if "=" in relation else 0), loop.step)
        condition, _, rest = trip_count(loop).partition(" ? ")
        runs = rest.removesuffix(" : 0").replace("/", "//")
        assert (eval(runs) if eval(condition) else 0) == len(counted), text
        done = iterations_done(loop).replace("(unsigned long long)", "").replace("/", "//")
        assert [eval(done, {"i": i}) for i in counted] == list(range(len(counted))), text


@pytest.mark.parametrize(
    ("start", "kept"),
    [("0", True), ("k + 1", True), ("-1", True), ("m", False), ("(int)b[0]", False), ("g(k)", False)],
)
def test_whether_a_start_stays_what_it_is(start: str, kept: bool) -> None:
    loop = loop_of(f"int k = n / 2; for (int i = {start}; i < n; i++) {{ m = i; a[i + 1] = m; }}")
    assert keeps_start(loop) == kept


def test_pointers_that_may_meet() -> None:
    facts, one = known(text_of(UP + "a[i] = b[i] + c[i];"), "f/i")
    n, _, a, b, c = one.function.parameters
    assert may_meet(facts, one, b, c) and not may_meet(facts, one, a, b) and not may_meet(facts, one, n, b)
