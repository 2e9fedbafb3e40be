"""Values of the functions that algorithms are given; functions that do more than to return one have none."""

from __future__ import annotations

import re

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.printing.printer import Printer, join_lines, nothing

HEAD = """#include <algorithm>
#include <functional>
static double twice(double x) { return 2 * x; }
static double by(const double &x) { return x; }
struct Scaled { double by; double operator()(double x) const { return by * x; } };
"""
FUNCTION = (
    "void f%d(double *p, double *q, float *g, int n, int m, double s, int &r) { n++; std::transform(p, p + m, %s); }\n"
)
VALUES = {
    "q, [](double x) { return x + 1; }": "q[p_at] = p[p_at] + 1;",
    "q, [=](double x) { if (x > s) return s; return x; }": "q[p_at] = p[p_at] > s ? s : p[p_at];",
    "q, [&](const double &x) { return x * s; }": "q[p_at] = p[p_at] * s;",
    "q, [](double x) { double y = x * x; return y * x; }": "q[p_at] = p[p_at] * p[p_at] * p[p_at];",
    "g, [](float x) { return x / 3; }": "g[p_at] = (float)p[p_at] / 3;",
    "q, [n](double x) { return x + n; }": "q[p_at] = p[p_at] + n;",
    "q, q, std::minus<double>()": "q[p_at] = p[p_at] - q[p_at];",
    "q, q, std::multiplies<>()": "q[p_at] = p[p_at] * q[p_at];",
    "q, twice": "q[p_at] = twice(p[p_at]);",
}
NONE = (
    "q, [](double x) -> int { return x; }",
    "q, [&](double x) { s = x; return x; }",
    "q, [r](double x) { return x + r; }",  # copied from what another name may change
    "q, [&r](double x) mutable { return x + r++; }",
    "q, [](double x) { static double last; double was = last; last = x; return was; }",
    "q, q, std::multiplies<float>()",
    "q, [n](double x) mutable { return x + n++; }",
    "q, [k = n](double x) { return x + k; }",
    "q, Scaled{2}",
    "q, by",
)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Function]:
    path = tmp_path_factory.mktemp("applied") / "applied.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate([*VALUES, *NONE])))
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {int(f.symbol.name[1:]): f for f in found if re.fullmatch(r"f\d+", f.symbol.name)}


@pytest.mark.parametrize("number", range(len(VALUES)), ids=list(VALUES))
def test_a_function_is_its_value(functions: dict[int, Function], number: int) -> None:
    made = functions[number].body.statements[-1]
    assert isinstance(made, For)
    assert join_lines(Printer(nothing).stmt(made.body)).split("\n")[1].strip() == list(VALUES.values())[number]


@pytest.mark.parametrize("number", range(len(VALUES), len(VALUES) + len(NONE)), ids=NONE)
def test_a_function_that_does_more_has_none(functions: dict[int, Function], number: int) -> None:
    assert not isinstance(functions[number].body.statements[-1], For)
