"""The small instances that pictures show."""

from __future__ import annotations

from tests.poly.patterns.test_nest import spaces


def test_a_triangle_in_the_order_of_its_iterations() -> None:
    text = "void f(int n, double a[n][n]) { for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[j][i] = 0; }"
    ((reference,),) = (space.references for space in spaces(text, "f/i"))
    assert reference.visits == tuple((j, i) for i in range(6) for j in range(i, 6))


def test_what_rests_on_data_has_none() -> None:
    text = """void f(int n, double *a, const int *k) {
      for (int i = 0; i < n; i++) { a[k[i]] = 0; if (i % 2 == 0) a[i] = 1; } }"""
    visited = {r.text: bool(r.visits) for space in spaces(text, "f/i") for r in space.references}
    assert visited == {"k[i]": True, "a[k[i]]": False, "a[i]": False}


def test_long_loops_are_seen_at_their_beginning() -> None:
    text = "double g[9000]; void f(void) { for (int i = 0; i < 9000; i++) g[i] = 0; }"
    ((reference,),) = (space.references for space in spaces(text, "f/i"))
    assert reference.visits == tuple((i,) for i in range(8))
