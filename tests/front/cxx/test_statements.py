"""Statements of C++ that C does not have."""

from __future__ import annotations

from tests.front.conftest import Load, found
from tests.front.cxx.test_cxx import ROUND, _function
from warpsmith.tree.nodes import Block, For, Verbatim, While
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.walk import loops


def test_a_range_for_is_a_counted_loop(load: Load) -> None:
    loaded = load(ROUND, name="case.cpp")
    shift = _function(loaded, "Grid::shift")
    ((loop, _),) = loops(shift.body)
    assert isinstance(loop, For)
    assert loop.variable.name == "c_at" and loop.header.text == "for (auto &c : cells)"
    assert print_expr(loop.bound, nothing) == "this->cells.size()"


def test_a_destructor_runs_at_the_end_of_its_block(load: Load) -> None:
    text = """
    double a[10];
    struct Writer { ~Writer() { a[0] = 1; } int n; };
    void f(int n) { { Writer w; for (int i = 0; i < n; i++) a[i] = 2; } a[1] = 3; }
    int g(int n) { Writer w; if (n) return 1; return 2; }
    """
    loaded = load(text, name="case.cpp")
    f, g = (next(x for _, x in loaded.program.functions() if x.symbol.name == name) for name in "fg")
    boxes = [n for n in found(f.body, Verbatim) if isinstance(n, Verbatim)]
    assert [n.calls for n in boxes if n.reason == "the destructor of w"] == [True]
    boxes = [n for n in found(g.body, Verbatim) if isinstance(n, Verbatim)]
    assert [n.calls for n in boxes if n.reason.startswith("a jump out")] == [True, True]


FORMS = """
#include <vector>
struct Ends { ~Ends(); int k; };
struct Pair { int a, b; };
int f(int n, std::vector<int> &v, std::vector<Pair> &p, int (&t)[4], int *q)
{
    %s
    return n;
}
"""


CASES = {
    "if (int k = n) n = k;": "a condition that declares a variable",
    "while (int k = n--) v[k] = 1;": "a condition that declares a variable",
    "if constexpr (sizeof(int) == 4) n++;": "if constexpr",
    "if (n++; n > 2) n--;": "an `if` or `switch` with a statement in its header",
    "switch (n) { case 1: n++; }": "",
    "using T = int;": "a declaration that makes no variable",
    "{ Ends e; if (n) return 1; }": "a jump out of a block that may run destructors",
    "{ if (n) return 1; }": "",
    "for (auto &x : v) x += 1;": "",
    "for (int x : t) n += x;": "",
    "for (float x : v) n += x;": "",
    "for (Pair x : p) n += x.a;": "",
    "for (int x : {1, 2}) n += x;": "a range-for over what is no vector or array",
    "for (auto x : std::vector<int>(3)) n += x;": "a range-for over what is no vector or array",
    "for (auto &x : (n++, v)) x = 1;": "a range-for over what is no vector or array",
    "for (auto &[a, b] : p) n += a;": "a range-for of an unusual form",
}


def test_statements_that_c_does_not_have(load: Load) -> None:
    head, _, rest = FORMS.partition("int f(")
    text = head + "".join(f"int f{n}({rest}" % case for n, case in enumerate(CASES))
    loaded = load(text, "--std=c++17", name="case.cpp")
    for n, (case, reason) in enumerate(CASES.items()):
        boxes = [b.reason for b in found(_function(loaded, f"f{n}").body, Verbatim) if isinstance(b, Verbatim)]
        told = [why for why in boxes if not why.startswith("the destructor")] or [""]
        assert (case, told[0]) == (case, reason)


def test_the_counter_of_a_range_for_is_a_new_name(load: Load) -> None:
    text = FORMS % "int x_at = 0; for (auto &x : v) { x += x_at; } for (int x : t) n += x;"
    first, second = (loop for loop, _ in loops(_function(load(text, name="case.cpp"), "f").body))
    assert isinstance(first, For) and isinstance(second, For)
    assert first.variable.name == "x_at_" and print_expr(second.bound, nothing) == "4"
    assert first.variable != second.variable


def test_a_lambda_called_on_the_spot_is_a_block(load: Load) -> None:
    text = FORMS % "[&] { n++; v[0] = n; }(); [=]() mutable { n++; }(); [&] { return; }(); [&](int k) { n = k; }(2);"
    made = _function(load(text, name="case.cpp"), "f").body.statements
    assert isinstance(made[0], Block) and [type(s).__name__ for s in made[1:4]] == ["ExprStmt"] * 3


def test_loops_in_what_is_kept_as_text_are_listed(load: Load) -> None:
    text = FORMS % "if constexpr (1) { for (int i = 0; i < n; i++) { do n--; while (n); } auto l = [] { for (;;); }; }"
    body = _function(load(text, "--std=c++17", name="case.cpp"), "f").body
    assert [loop.form for loop, _ in loops(body) if isinstance(loop, While)] == ["for", "do"]
