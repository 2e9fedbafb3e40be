"""Small bodies and lambdas in place of their calls, private members, and what a constructor is given."""

from __future__ import annotations

import re

import pytest

from tests.front.conftest import Load, found
from warpsmith.front.c.counted import escapes
from warpsmith.front.cxx import bodies as cxx_bodies
from warpsmith.front.cxx import library as cxx_library
from warpsmith.tree.nodes import Expr, ExprStmt, Function, Member, Return, VarDecl, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr

TEXT = """
#include <vector>
int seen;
class Row {
public:
    Row(int n, double fill) : n_(n), data_(n, fill) {}
    double at(int i) const
    {
        i = i < 0 ? 0 : i;
        const int last = n_ - 1;
        if (i > last)
            return 0;
        return data_[i];
    }
    int size() const { return n_; }
private:
    int n_;
    std::vector<double> data_;
};
int counted(int i) { if (i < 0) { seen++; return 0; } return i; }
static double twice(const double &x) { double y = x; y = y + x; return y; }
double use(const Row &row, double k, double x, int i)
{
    %s
}
"""


def _use(load: Load, text: str) -> Function:
    loaded = load(TEXT % text, name="case.cpp")
    return next(f for _, f in loaded.program.functions() if f.symbol.name == "use")


def _written(load: Load, text: str) -> str:
    """Return what is returned, printed from the tree alone."""
    (last,) = found(_use(load, text).body, Return)[-1:]
    assert isinstance(last, Return) and last.value is not None
    return print_expr(last.value, nothing)


def test_a_body_of_several_statements_is_its_value(load: Load) -> None:
    member = "(row.*ws_member(ws_Row_{}()))"
    i, last = "(i < 0 ? 0 : i)", f"{member.format('n_')} - 1"
    wanted = f"{i} > {last} ? (double)0 : {member.format('data_')}.data()[i < 0 ? 0 : i]"
    assert _written(load, "return row.at(i);") == wanted
    assert _written(load, "return twice(x);") == "x + x"


def test_a_body_that_writes_stays_a_call(load: Load) -> None:
    assert _written(load, "return counted(i);") == "counted(i)"


NEARBY = """
static double near(const double *p, double limit, double &weight)
{
    const double other = p[1];
    if (other >= limit)
        return 0;
    weight += 1;
    return other;
}
static double took(double v, double &weight) { const double was = v; weight += 1; return was; }
static double given(double v, double &weight) { v += 1; weight += v; return v; }
static double twice(double &a, double &b) { a += 1; b += 2; return a; }
static double &itself(double &weight) { weight += 1; return weight; }
static double *kept;
static double keeps(double &weight) { kept = &weight; weight += 1; return 2; }
"""
LENT = [
    ("sum += near(p, x, w)", "sum += p[1] >= x ? (double)0 : (w += 1, p[1])"),
    ("double r = near(p, x, w)", "p[1] >= x ? (double)0 : (w += 1, p[1])"),
    ("near(p, x, w)", "p[1] >= x ? (double)0 : (w += 1, p[1])"),
    ("sum = took(x, w)", "sum = (w += 1, x)"),
    ("sum = twice(w, x)", "sum = (w += 1, (x += 2, w))"),
    # what was there before the change is not what is there after it
    ("sum = took(w, w)", ""),
    ("sum = took(w * 2, w)", ""),
    ("sum = near(p, w + 1, w)", ""),
    # the order of two operands, and of a place and its value, is nobody's
    ("sum = w + near(p, x, w)", ""),
    ("sum += 1 + near(p, x, w)", ""),
    ("w = near(p, x, w)", ""),
    ("w += near(p, x, w)", ""),
    ("q[i] = near(p, x, w)", ""),
    # others may look at it meanwhile
    ("double *r = &w; sum = near(p, x, w); k = *r", ""),
    ("keeps(w); sum = near(p, x, w)", ""),
    ("double &r = w; sum = near(p, x, w); k = r", ""),
    ("sum = near(p, x, q[2])", ""),
    ("sum = itself(w)", ""),
    ("sum = keeps(w)", ""),
    ("sum = given(x, w)", ""),
]


def _wrong(load: Load) -> list[str]:
    """Return the cases in which a call became something else than it should."""
    use = "void use{}(const double *p, double *q, double x, double k) {{ double sum = 0, w = 1; int i = 0; {}; }}\n"
    text = NEARBY + "".join(use.format(number, case) for number, (case, _) in enumerate(LENT))
    functions = {f.symbol.name: f for _, f in load(text, name="case.cpp").program.functions()}
    wrong = []
    for number, (case, written) in enumerate(LENT):
        made = "; ".join(print_expr(part, nothing) for part in _values(functions[f"use{number}"]))
        if written not in made or (not written and re.search(r"w \+= 1, |\+= 2|\+= v", made)):
            wrong.append(f"{case}: {made}")
    return wrong


def test_a_body_that_changes_what_it_was_lent(load: Load) -> None:
    assert _wrong(load) == []


def _values(function: Function) -> list[Expr]:
    """Return what the last lines of a function evaluate."""
    found_ones = found(function.body, ExprStmt, VarDecl)
    return [e for n in found_ones for e in ([n.expr] if isinstance(n, ExprStmt) else [getattr(n, "init", None)]) if e]


def test_seeded_stale_value(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx_bodies._Body, "_is_stale", lambda *_: False)
    assert {"sum = took(w, w)", "sum = took(w * 2, w)"} <= {case.partition(":")[0] for case in _wrong(load)}


def test_seeded_reference_that_is_kept(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escapes, "_references", lambda context, taken: set())
    kept = {"keeps(w); sum = near(p, x, w)", "double &r = w; sum = near(p, x, w); k = r"}
    assert kept <= {case.partition(":")[0] for case in _wrong(load)}


def test_private_members_say_how_they_are_reached(load: Load) -> None:
    (member,) = found(_use(load, "return row.size();").body, Member)
    assert isinstance(member, Member) and member.opener is not None
    assert member.opener.lines[-1] == "template struct ws_Row_n__made<&Row::n_>;"


@pytest.mark.parametrize(
    ("text", "writes", "kept"),
    [
        ("Row made(i, k); return made.at(0);", set(), set()),
        ("Row made(i++, k); return made.at(0);", {"i", "k"}, {"i", "k"}),
        ("Row made(counted(i), k); return made.at(0);", {"i", "k", "counted"}, {"i", "k"}),
    ],
)
def test_a_constructor_of_numbers_knows_no_variable(load: Load, text: str, writes: set[str], kept: set[str]) -> None:
    boxes = [b for b in found(_use(load, text).body, VerbatimExpr) if isinstance(b, VerbatimExpr)]
    (make_opaque,) = [b for b in boxes if b.reason == "a constructor of Row"]
    assert make_opaque.calls == bool(writes)  # this one makes only its object, if its arguments do no more
    assert {s.name for s in make_opaque.writes} - {"counted"} == writes - {"counted"}
    assert {s.name for s in make_opaque.kept or ()} - {"counted"} == kept - {"counted"}


def test_seeded_conversion_left_out(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx_library.CxxLibrary, "convert", lambda self, value, *rest: value)
    with pytest.raises(AssertionError):
        test_a_body_of_several_statements_is_its_value(load)
