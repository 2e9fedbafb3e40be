"""The value of a call as an expression in its place."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.loops.analysis.called_value import called_value
from warpsmith.tree.nodes import Call
from warpsmith.tree.printing.printer import print_expr

TEXT = """
struct grid { double *u, scale; };
static double square(double x) { return x * x; }
static double at(const struct grid *g, int i) { return g->u[i] * g->scale; }
static int whole(double x) { return x; }
static double two(double x) { double y = x; return y; }
static double stores(double *p, double x) { return *p = x; }
static double steps(double *p) { return *p++; }
static double sized(double x) { return sizeof(x) * x; }
static double addressed(double x) { return *&x; }
static double outer(double x) { return square(x); }
static double many(int n, ...) { return n; }
static double next(void) { return 1; }
static void nothing(void) { }
double f(struct grid *g, double *u, float *h, int i, int j)
{
    square(u[i]); square(i); at(g, i + 1); whole(u[0]); two(u[0]); stores(u, 1); steps(u); sized(u[0]); addressed(u[0]);
    outer(u[i]); many(1, 2); next(); nothing(); square(u[j++]); square(next()); square(u[i] = 2);
    square(u[i] + u[i + 1] * u[i + 2] + u[i + 3] * u[i + 4]); whole(u[i] + u[i + 1] * u[i + 2] + u[i + 3] * u[i + 4]);
    stores((double *)h, 1); square(h[i]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("called"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("square(u[i])", "u[i] * u[i]"),
        # an argument is what the parameter's type makes of it, the value what the function's does
        ("square(i)", "(double)i * (double)i"),
        ("square(h[i])", "(double)h[i] * (double)h[i]"),
        ("whole(u[0])", "(int)u[0]"),
        ("at(g, i + 1)", "g->u[i + 1] * g->scale"),
        ("outer(u[i])", "square(u[i])"),
        ("next()", "(double)1"),
        # more than an expression
        ("two(u[0])", None), ("nothing()", None), ("many(1, 2)", None),
        # effects, of the function or of an argument that would be written twice
        ("stores(u, 1)", None), ("steps(u)", None), ("square(u[j++])", None), ("square(u[i] = 2)", None),
        ("square(next())", None),
        # what is about the parameter itself
        ("sized(u[0])", None), ("addressed(u[0])", None),
        # a long argument once, not twice
        ("square(u[i] + u[i + 1] * u[i + 2] + u[i + 3] * u[i + 4])", None),
        ("whole(u[i] + u[i + 1] * u[i + 2] + u[i + 3] * u[i + 4])",
         "(int)(u[i] + u[i + 1] * u[i + 2] + u[i + 3] * u[i + 4])"),
    ],
)  # fmt: skip
def test_what_stands_for_a_call(text: str, value: str | None, program: Analyzed) -> None:
    call = program.expr(text)
    assert isinstance(call, Call)
    made = called_value(call, program.function(text.partition("(")[0]))
    assert (None if made is None else print_expr(made)) == value


def test_a_call_with_another_number_of_arguments_has_no_value(program: Analyzed) -> None:
    call = program.expr("square(u[i])")
    assert isinstance(call, Call)
    assert called_value(call, program.function("at")) is None
