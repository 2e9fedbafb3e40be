"""Functions of C++: every one with loops, with a name that tells it from others."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import Load
from tests.front.cxx.test_cxx import EVERYTHING, _loops_of_text
from warpsmith.tree.nodes import NOT_MADE, Function, While
from warpsmith.tree.walk import loops


def test_every_loop_is_listed(load: Load, tmp_path: Path) -> None:
    loaded = load(EVERYTHING, name="case.cpp")
    listed = [loop for _, f in loaded.program.functions() for loop, _ in loops(f.body)]
    algorithm = EVERYTHING.index("std::for_each(")
    expected = _loops_of_text(tmp_path / "case.cpp") | {algorithm, EVERYTHING.index("f(i);")}
    in_lambda = EVERYTHING.index("for", EVERYTHING.index("auto f = [&]"))  # its loop stands where it is called
    assert {loop.span.start for loop in listed} == expected - {in_lambda}
    assert all(loop.reason for loop in listed if isinstance(loop, While))


TRIED = """
#include <vector>
struct S {
    std::vector<double> v;
    S(int n) try : v(n) { for (int i = 0; i < n; i++) v[i] = i; } catch (...) { throw; }
    ~S() try { for (int i = 0; i < 2; i++) v[i] = 0; } catch (...) { }
    void put(int n);
};
void S::put(int n) try { for (int i = 0; i < n; i++) v[i] = i; } catch (...) { }
template <typename A> void all(int n, A *a) try {
    for (int i = 0; i < n; i++) a[i] += 2;
} catch (int) { for (int i = 0; i < n; i++) a[i] = 0; }
int main() try { double b[9] = {0}; for (int i = 0; i < 9; i++) b[i] = i; all(9, b); S(3).put(2); } catch (...) { }
"""


def test_the_loops_of_functions_that_are_try_blocks_are_listed(load: Load, tmp_path: Path) -> None:
    loaded = load(TRIED, name="case.cpp")
    listed = [loop for _, f in loaded.program.functions() for loop, _ in loops(f.body)]
    assert {loop.span.start for loop in listed} == _loops_of_text(tmp_path / "case.cpp") and len(listed) == 6
    assert {loop.reason if isinstance(loop, While) else "" for loop in listed} == {"try"}
    (put,) = (f for _, f in loaded.program.functions() if "S::put" in (f.symbol.label, f.symbol.name))
    assert put.body.span.text.startswith("try {") and put.body.span.text.endswith("catch (...) { }")


def test_names_tell_functions_apart(load: Load) -> None:
    names = {f.symbol.label or f.symbol.name for _, f in load(EVERYTHING, name="case.cpp").program.functions()}
    expected = {
        "twice<double>", "twice<float>", "never", "hidden", "Fixed<double,8>::sum", "Base::run", "Derived::run",
        "Derived::count", "over(int)", "over(double)", "main",
    }  # fmt: skip
    assert expected <= names
    keys = [f.symbol.key for _, f in load(EVERYTHING, name="case.cpp").program.functions()]
    assert len(set(keys)) == len(keys)


def test_what_shares_its_text_is_no_item(load: Load) -> None:
    (unit,) = load(EVERYTHING, name="case.cpp").program.units
    items = {f.symbol.label or f.symbol.name for f in unit.items if isinstance(f, Function)}
    assert "Fixed<double,8>::sum" in items
    assert not {"twice<double>", "twice<float>"} & items


MACROS = """
#define MAKE(name) void name(int *a) { for (int i = 0; i < 3; i++) a[i] = 0; }
MAKE(made)
struct A { MAKE(inside)
void run(int *a) { auto l = [a](int n) { for (int i = 0; i < n; i++) a[i] = 1; }; l(2); l(3); } };
template <class T> void never(T *a) { a[0] = 0; }
template <class T> void loops(T *a) { for (int i = 0; i < 3; i++) a[i] = 0; }
void over(int *a, int n) { while (n--) a[n] = 1; }
void over(float *a, int n) { while (n--) a[n] = 1; }
"""


def test_what_has_no_tree_is_listed_with_its_reason(load: Load) -> None:
    functions = {f.symbol.label or f.symbol.name: f for _, f in load(MACROS, name="case.cpp").program.functions()}
    reasons = {
        name: {loop.reason for loop, _ in loops(f.body) if isinstance(loop, While)} for name, f in functions.items()
    }
    assert reasons["made"] == reasons["A::inside"] == {"a function that a macro writes"}
    (in_lambda,) = [name for name in reasons if "lambda@" in name]
    assert in_lambda == "A::run::lambda@5" and reasons[in_lambda] == {"the body of a lambda"}
    assert reasons["loops"] == {NOT_MADE} and "never" not in functions
    assert {"over(int*,int)", "over(float*,int)"} <= set(functions)
    assert not functions["loops"].parameters
