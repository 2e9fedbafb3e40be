"""Unknown functions that a loop calls: what an effects file would have to say of them."""

from __future__ import annotations

import pytest

from tests.loops.remedies.proposals import known
from warpsmith.loops.remedies.calls import described_calls

HEAD = """#include <math.h>
double outside(double x);
double second(const double *x, double *y);
static double inside(double x) { return 2 * x; }
static double through(double x) { return outside(x); }
"""


def said(body: str) -> list[tuple[str, str]]:
    text = f"{HEAD}void f(int n, double *a, double (*p)(double)) {{ for (int i = 0; i < n; i++) {body} }}\n"
    return [(one.option, one.text) for one in described_calls(*known(text, "f/i"))]


def test_one_table_for_each_unknown_function() -> None:
    ((option, text),) = said("{ a[i] = outside(a[i]) + outside(2.0) + second(a, a); }")
    assert option == "--effects" and text.count("[[functions]]") == 2
    assert text.count('"outside"') == 1 and text.count('"second"') == 1 and text.endswith("\n")
    assert text.index('"outside"') < text.index('"second"')


@pytest.mark.parametrize("body", ["a[i] = sqrt(a[i]);", "a[i] = inside(a[i]);", "a[i] = p(a[i]);", "a[i] = 1;"])
def test_nothing_is_to_be_said_of_functions_that_are_known(body: str) -> None:
    assert not said(body)


def test_only_what_the_loop_calls_itself() -> None:
    assert not said("a[i] = through(a[i]);")
