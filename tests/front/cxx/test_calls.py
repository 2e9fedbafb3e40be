"""Calls of C++: what is implied in them is written in the tree."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found
from tests.front.cxx.test_cxx import _expression
from tests.front.cxx.test_library import expressions
from warpsmith.front.c.expressions import Expressions
from warpsmith.tree.nodes import Call, ExprStmt, For, MacroUse, Name, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.walk import loops

REASONS = {
    "v.push_back(r)": "a call of std::vector::push_back",
    "r = v.at(i++)": "a call of std::vector::at",
    "std::reverse(v.begin(), v.end())": "a call of std::reverse",
    "std::sort(v.begin(), v.end())": "a call of std::sort",
    "r = (new Grid(1, 2))->nx_": "new",
    "r = [&] { return c; }()": "",
}


def test_what_is_not_modelled_says_so(load: Load) -> None:
    for case, expr in expressions(load, REASONS).items():
        boxes = [n.reason for n in found(expr, VerbatimExpr) if isinstance(n, VerbatimExpr)]
        assert (boxes or [""])[0] == REASONS[case]


def test_a_box_in_a_method_names_its_object(load: Load) -> None:
    (make_opaque,) = found(_expression(load, "std::exchange(ny_, nx_)"), VerbatimExpr)
    assert isinstance(make_opaque, VerbatimExpr)
    assert "this" in {symbol.name for symbol in make_opaque.writes}


def test_a_call_hands_over_addresses(load: Load) -> None:
    (call,) = found(_expression(load, "bump(r, 1)"), Call)
    assert isinstance(call, Call)
    assert [type(a).__name__ for a in call.arguments] == ["Name", "Literal"]


def test_a_macro_may_be_a_function_s_name(load: Load) -> None:
    text = """
#include <cmath>
#define ROOT sqrtf
#define HALF(x) half(x)
static float half(float x) { return x / 2; }
void f(float *a) { a[0] = ROOT(a[1]); a[2] = half(a[3]); }
"""
    functions = [f for _, f in load(text, name="case.cpp").program.functions()]
    calls = [c for f in functions for c in found(f.body, Call) if isinstance(c, Call)]
    named = {c.span.text: c.function.span.text for c in calls}
    assert named["ROOT(a[1])"] == "ROOT"
    inner = next(c for c in calls if c.span.text == "ROOT(a[1])").function
    assert isinstance(inner, MacroUse) and isinstance(inner.expansion, Name) and inner.expansion.symbol.name == "sqrtf"


def test_seeded_object_left_out_of_a_box(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Expressions, "own_object", lambda self, row: ())
    with pytest.raises(AssertionError):
        test_a_box_in_a_method_names_its_object(load)


def test_a_default_argument_that_is_not_modelled_leaves_the_call_as_text(load: Load) -> None:
    text = """
#include <string>
struct Line { int n = 0; void add(char opt, std::string arg, std::string def = ""); };
void Line::add(char opt, std::string arg, std::string def) { n += opt + (int)(arg.size() + def.size()); }
void use(Line &line, double *a) { line.add('h', "x"); for (int i = 0; i < 9; i++) a[i] = i; }
"""
    loaded = load(text, name="case.cpp")
    use = next(f for _, f in loaded.program.functions() if f.symbol.name == "use")
    first = use.body.statements[0]
    assert isinstance(first, ExprStmt) and isinstance(first.expr, VerbatimExpr)
    assert first.expr.calls and "default argument" in first.expr.reason
    assert [type(loop) for loop, _ in loops(use.body)] == [For]


PLACED = {
    "g(i, 2) = (*this)(i, 1)": "g.cells.data()[i * g.ny_ + 2] = this->cells.data()[i * this->ny_ + 1]",
    "g.set(i, f)": "g.cells.data()[i] = (double)f",
    "g.set(i++, f)": "g.set(i++, f)",
    "r = g.heavy(i)": "r = g.heavy(i)",
    "bump(g.cells[i], 1)": "bump(g.cells.data()[i], 1)",
    "nx_ = Grid::rows()": "this->nx_ = this->nx_",
    "r = (&g)->rows()": "r = g.nx_",
}


CHANGES = """
struct Mean {
    void add(double x, double scale, double *sum) { *sum += x * scale; }
    void both(double x, double *sum) { *sum = (sum[1] = x) + x; }
    void next(double *sum, double x) { sum[0] = sum[1] + x; }
};
void use(Mean mean, double *a, int n) {
    double sum = 0;
    @
}
"""


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("mean.add(a[n], 0.5, &sum);", "*&sum += a[n] * 0.5"),
        # the argument is read before the change, as the call does
        ("mean.add(a[n], a[0], a);", "*a += a[n] * a[0]"),
        ("mean.next(a, a[0]);", "a[0] = a[1] + a[0]"),
        # the argument would be read behind the first of two changes
        ("mean.both(a[1], a);", "mean.both(a[1], a)"),
        ("mean.both(sum, a);", "*a = (a[1] = sum) + sum"),
    ],
)
def test_a_body_of_one_change_reads_its_arguments_first(text: str, printed: str, load: Load) -> None:
    loaded = load(CHANGES.replace("@", text), name="case.cpp")
    use = next(f for _, f in loaded.program.functions() if f.symbol.name == "use")
    stmt = use.body.statements[1]
    assert isinstance(stmt, ExprStmt)
    assert print_expr(stmt.expr, nothing) == printed


def test_small_functions_stand_in_place_of_their_calls(load: Load) -> None:
    made = expressions(load, PLACED)
    assert {case: print_expr(expr, nothing) for case, expr in made.items()} == PLACED
