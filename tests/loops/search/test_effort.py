"""The work that a text says a function does: trip counts, operations, calls, and which loop they are in."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.loops.search.effort import FunctionEffort, effort_of

HEAD = "enum { SIZE = 6 };\ndouble g(double);\nvoid h(void);\n"


def effort(body: str) -> FunctionEffort:
    ((_, function),) = program_of(f"{HEAD}void f(int n, double *a, double *b) {{\n{body}\n}}\n").functions()
    return effort_of(function)


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("int i = 0; i < 10; i++", 10),
        ("int i = 0; i <= 10; i++", 11),
        ("int i = 0; i < 10; i += 3", 4),
        ("int i = 0; i < 9; i += 3", 3),
        ("int i = 10; i > 0; i--", 10),
        ("int i = 10; i >= 0; i -= 4", 3),
        ("int i = 0; i != 8; i++", 8),
        ("int i = 10; i < 0; i++", 0),
        ("int i = -3; i < SIZE * 2 - 1; i++", 14),
        ("int i = 1 + 1; i < (int)20L; i++", 18),
        ("int i = 0; i < n; i++", None),
        ("int i = n; i < 9; i++", None),
        ("int i = 0; i != n; i++", None),
        ("int i = 0; i < 20 / 2; i++", None),
        ("int i = 0; i < 2 + n; i++", None),
    ],
)
def test_how_often_a_loop_runs(header: str, trips: int | None) -> None:
    (loop,) = effort(f"for ({header}) a[0] = 1;").loops
    assert (loop.trips, loop.counted, loop.around) == (trips, True, -1)


def test_a_while_loop_is_not_counted() -> None:
    (loop,) = effort("while (a[0] > 0) a[0] -= 1;").loops
    assert (loop.trips, loop.counted) == (None, False)


def test_work_is_that_of_the_innermost_loop_around_it() -> None:
    found = effort("""
    h();
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++)
            a[j] += g(b[i]);
        for (int k = 0; k < 5; k++)
            ;
        h(); h();
    }
    for (int l = 0; l < 6; l++)
        a[l] = 1;
""")
    assert [loop.around for loop in found.loops] == [-1, 0, 0, -1]
    assert [loop.trips for loop in found.loops] == [None, 4, 5, 6]
    assert [[key.split("@")[-1][-1] for key in loop.calls] for loop in found.loops] == [["h", "h"], ["g"], [], []]
    # one for the loop itself; an assignment, two elements and a call; two calls
    assert [loop.operations for loop in found.loops] == [3, 5, 1, 3]
    assert found.operations == len(found.calls) == 1


def test_what_is_touched_outside_loops_does_not_count() -> None:
    found = effort("a[0] = b[1]; if (n > 2) a[n] = -b[2];")
    assert not found.loops and found.operations == 8 and not found.calls
    assert not effort("").operations
