"""Calls of C++'s library that keep no address: what they evaluate, and what is no such call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.front.cxx import library_texts
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.library_texts import TEXTS, VALUE
from warpsmith.tree.nodes import Call, Literal, Name
from warpsmith.tree.printing.printer import nothing, print_expr

HEAD = """
#include <chrono>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>
struct P { double x; };
std::ostream &operator<<(std::ostream &o, const P &p) { return o << p.x; }
std::ostream &shout(std::ostream &o) { return o << '!'; }
double total;
"""
EVALUATED = {
    "std::cout << n << ' ' << a[n] + 1 << std::endl": ("std::ostream", ["n", "a[n] + 1"]),
    'std::cerr << std::setw(n) << std::fixed << v[2] << "x"': ("std::ostream", ["n", "v.data()[2]"]),
    "file << s << n++": ("std::ostream", ["file", "s", "n++"]),
    "std::cout << a": ("std::ostream", ["a"]),
    "std::cout.precision(n)": ("std::ostream", ["n"]),
    "r = std::chrono::duration<double>(late - late).count()": ("std::value", ["late", "late"]),
    "late = std::chrono::steady_clock::now()": ("std::clock", []),
    "r = std::isnormal(a[n])": ("std::value", ["a[n]"]),
}
OTHER = (
    "std::cout << p",
    "std::cout << n << p << n",
    "std::cout << shout",
    "out << n",
    "std::cout << std::cin.rdbuf()",
    "std::cout << &p",
    "std::cin >> n",
)
BODY = """void f(std::ostream &out, std::vector<double> &v, double *a, int n, P p, double r)
{ std::string s; std::ofstream file; std::chrono::steady_clock::time_point late; %s; }"""


def _texts(load: Load, text: str) -> list[Call]:
    calls = found(function(load(HEAD + BODY % text, name="case.cpp")).body, Call)
    named = [c for c in calls if isinstance(c, Call) and isinstance(c.function, Name)]
    return [c for c in named if isinstance(c.function, Name) and c.function.symbol.name in TEXTS]


@pytest.mark.parametrize("text", EVALUATED)
def test_they_evaluate_values(load: Load, text: str) -> None:
    (call,) = _texts(load, text)
    name, values = EVALUATED[text]
    assert isinstance(call.function, Name) and call.function.symbol.name == name
    given = [a for a in call.arguments if not (isinstance(a, Literal) and a.intact and not a.text.isalnum())]
    assert [print_expr(a, nothing) for a in given] == values
    plain = text.replace("v[2]", "v.data()[2]").replace("a[n] + 1", "(a[n] + 1)")
    assert print_expr(call, nothing) in plain.replace("n++", "(n++)") + plain  # as it stood there


@pytest.mark.parametrize("text", OTHER)
def test_what_may_run_code_of_the_program_is_none(load: Load, text: str) -> None:
    assert _texts(load, text) == []


LOOPS = (
    HEAD
    + """
void f(double *x, int n) { for (int i = 0; i < n; i++) { x[i] = i; std::cout << x[i]; } }
void g(double *x, int n)
{ double s = 0; std::cout << s << n; for (int i = 0; i < n; i++) { s += x[i]; } std::cout << s; }
void h(double *x, int n) { P p{1}; for (int i = 0; i < n; i++) { x[i] = total; std::cout << p; } }
"""
)


def _categories(tmp_path: Path, more: str = "") -> list[str]:
    (tmp_path / "case.cpp").write_text(LOOPS + more)
    loaded = load_program([str(tmp_path / "case.cpp")], FrontOptions())
    return [loop.category for f in analyze(loaded.program, PolyOptions()).functions for loop in f.loops]


def test_loops_that_write_output_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _categories(tmp_path) == ["unanalyzable", "reduction", "unanalyzable"]
    # seeded: output is taken for a value
    monkeypatch.setattr(library_texts, "OUTPUT", VALUE)
    assert _categories(tmp_path, " ")[0] != "unanalyzable"
