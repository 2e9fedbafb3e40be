"""Calls of algorithms as the loops that they are, in several spellings; near misses stay as they are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from warpsmith.base.source import Span
from warpsmith.front.cxx.algorithms import found
from warpsmith.front.cxx.algorithms.positions import Position
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Block, Expr, ExprStmt, For, Function, Index
from warpsmith.tree.printing.printer import Printer, join_lines, nothing
from warpsmith.tree.types import DOUBLE

HEAD = """#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>
#include <list>
typedef std::vector<double> D;
struct V { double x, y; };
static double total;
static double half(double x) { return x / 2; }
static double counted(double x) { total += x; return x; }
"""
FUNCTION = "void f%d(D &v, D &w, D &u, std::vector<int> &k, std::vector<V> &c, std::array<double, 8> &h, double *p,\n"
FUNCTION += (
    "        double *q, int n, double s, double *&moved, std::list<double> &l) { double t = 0; int m = 0; %s }\n"
)
LOOPS = {
    "std::fill(v.begin(), v.end(), 1.5);": "for (size_t v_at = 0; v_at < v.size(); v_at++) { v.data()[v_at] = 1.5; }",
    "std::fill(p, p + n, 2);": "for (long p_at = 0; p_at < (long)n; p_at++) { p[p_at] = (double)2; }",
    "std::fill(v.begin() + 1, v.end() - 1, s);": "{ double value = s; for (long v_at = 1; v_at < "
    "(long)v.size() - 1; v_at++) { v.data()[v_at] = value; } }",
    "std::fill_n(p + m, n, 0.0);": "for (long p_at = (long)m; p_at < (long)m + (long)n; p_at++) { p[p_at] = 0.0; }",
    "std::fill(h.begin(), h.end(), 0.0);": "for (long h_at = 0; h_at < 8; h_at++) { (h.data())[h_at] = 0.0; }",
    "std::copy(v.begin(), v.end(), w.begin());": "for (size_t v_at = 0; v_at < v.size(); v_at++) "
    "{ w.data()[v_at] = v.data()[v_at]; }",
    "std::copy(p, p + n, q + 1);": "for (long p_at = 0; p_at < (long)n; p_at++) { q[p_at + 1] = p[p_at]; }",
    "std::copy_n(v.begin(), n, q);": "for (long v_at = 0; v_at < (long)n; v_at++) { q[v_at] = v.data()[v_at]; }",
    "std::iota(k.begin(), k.end(), 3);": "for (size_t k_at = 0; k_at < k.size(); k_at++) "
    "{ k.data()[k_at] = 3 + (int)k_at; }",
    "std::transform(v.begin(), v.end(), w.begin(), [s](double x) { return s * x; });":
    "for (size_t v_at = 0; v_at < v.size(); v_at++) { w.data()[v_at] = s * v.data()[v_at]; }",
    "std::transform(v.cbegin(), v.cend(), p, q, std::plus<double>());":
    "for (size_t v_at = 0; v_at < v.size(); v_at++) { q[v_at] = v.data()[v_at] + p[v_at]; }",
    "auto op = [](double x, double y) { double d = x - y; return d * d; }; std::transform(p, p + n, q, p, op);":
    "for (long p_at = 0; p_at < (long)n; p_at++) { p[p_at] = (p[p_at] - q[p_at]) * (p[p_at] - q[p_at]); }",
    "std::transform(p, p + n, q, half);": "for (long p_at = 0; p_at < (long)n; p_at++) { q[p_at] = half(p[p_at]); }",
    "std::for_each(v.begin(), v.end(), [](double &x) { x = x * 2 + 1; });":
    "for (size_t v_at = 0; v_at < v.size(); v_at++) { double &x = v.data()[v_at]; x = x * 2 + 1; }",
    "std::for_each(c.begin(), c.end(), [s](V &a) { a.x *= s; a.y = 0; });":
    "for (size_t c_at = 0; c_at < c.size(); c_at++) { V &a = c.data()[c_at]; a.x *= s; a.y = 0; }",
    "std::for_each(p, p + n, [&](double x) { t += x; });": "for (long p_at = 0; p_at < (long)n; p_at++) "
    "{ double x = p[p_at]; t += x; }",
    "t = std::accumulate(v.begin(), v.end(), 0.0);": "{ double sum = 0.0; for (size_t v_at = 0; v_at < v.size(); "
    "v_at++) { sum = sum + v.data()[v_at]; } t = sum; }",
    "t = std::accumulate(p, p + n, 0);": "{ int sum = 0; for (long p_at = 0; p_at < (long)n; p_at++) "
    "{ sum = (int)(sum + p[p_at]); } t = sum; }",
    "t += std::reduce(p, p + n, 0.0);": "{ double sum = 0.0; for (long p_at = 0; p_at < (long)n; p_at++) "
    "{ sum = sum + p[p_at]; } t += sum; }",
    "t = std::inner_product(v.begin(), v.end(), w.begin(), 0.0);": "{ double sum = 0.0; for (size_t v_at = 0; "
    "v_at < v.size(); v_at++) { sum = sum + v.data()[v_at] * w.data()[v_at]; } t = sum; }",
    "t = std::accumulate(p, p + n, 0.0, [](double a, double b) { return a > b ? a : b; });": "{ double sum = 0.0; "
    "for (long p_at = 0; p_at < (long)n; p_at++) { sum = sum > p[p_at] ? sum : p[p_at]; } t = sum; }",
}  # fmt: skip
LEFT = (
    "std::copy(v.begin(), v.end(), std::back_inserter(w));",
    "std::fill(l.begin(), l.end(), 1.0);",
    "std::fill(v.begin(), w.end(), 1.0);",
    "std::fill(moved, moved + n, 1.0);",
    "std::iota(v.begin(), v.end(), 0.1);",
    "std::for_each(v.begin(), v.end(), [&](double &x) { w.push_back(x); });",
    "std::for_each(v.begin(), v.end(), [&](double &x) { if (x > 0) return; x = 1; });",
    "std::for_each(p, p + n, [&](double &x) { x = 0; n = 1; });",
    "std::for_each(p, p + n, [&](double &x) { x = 0; p = q; });",
    "std::for_each(p, p + n, counted);",
    "std::transform(p, p + n, q, [&](double x) { t += x; return t; });",
    "std::transform(p, p + n, q, [t](double x) mutable { t += x; return t; });",
    "std::transform(p, p + n, q, [](float x) -> float { return x; });",
    "std::transform(p, p + n, q, counted);",
    "std::reverse_copy(p, p + n, q);",
)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Function]:
    path = tmp_path_factory.mktemp("loops") / "loops.cpp"
    path.write_text(HEAD + "".join(FUNCTION % pair for pair in enumerate([*LOOPS, *LEFT])))
    found = [f for _, f in load_program([str(path)], FrontOptions()).program.functions()]
    return {int(f.symbol.name[1:]): f for f in found if re.fullmatch(r"f\d+", f.symbol.name)}


@pytest.mark.parametrize("number", range(len(LOOPS)), ids=list(LOOPS))
def test_an_algorithm_is_its_loop(functions: dict[int, Function], number: int) -> None:
    made = functions[number].body.statements[-1]
    assert isinstance(made, For | Block)
    assert made.intact
    assert made.span.text == list(LOOPS)[number].rpartition("}; " if "auto op" in list(LOOPS)[number] else "\n")[2]
    assert " ".join(join_lines(Printer(nothing).stmt(made)).split()) == list(LOOPS.values())[number]


MAIN = """#include <cstdio>
int main() {
    for (int n = 0; n < 5; n++) {
        D v{1, 2, 3, 4, 5, 6}, w{6, 5, 4, 3, 2, 1}, u{2, 2}; std::vector<int> k{1, 2, 3};
        std::vector<V> c{{1, 2}, {3, 4}}; std::array<double, 8> h{}; std::list<double> l{1, 2};
        double p[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, q[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1}, *moved = p;
        auto show = [&] {
            for (double x : v) std::printf("%g ", x); for (double x : w) std::printf("%g ", x);
            for (double x : p) std::printf("%g ", x); for (double x : q) std::printf("%g ", x);
            for (double x : h) std::printf("%g ", x); for (int x : k) std::printf("%d ", x);
            std::printf("%g %g %g\\n", c[0].x, c[1].y, result);
        };
        CALL
    }
}
"""


def _printed(text: str, path: Path) -> str:
    path.write_text(text)
    program = path.with_suffix("")
    subprocess.run(["g++", "-w", "-O0", "-std=c++17", "-o", str(program), str(path)], check=True, capture_output=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60).stdout


def _wrong_loops(folder: Path) -> bool:
    """Whether the loops, written in place of what the user has, make a program that prints another thing."""
    calls = "".join(f"f{n}(v, w, u, k, c, h, p, q, n, 2.5, moved, l); show(); " for n in range(len(LOOPS)))
    functions = "".join(FUNCTION % (n, f"{one} result += t;") for n, one in enumerate(LOOPS))
    text = HEAD + "static double result;\n" + functions + MAIN.replace("CALL", calls)
    path = folder / "run.cpp"
    before = _printed(text, path)
    program = load_program([str(path)], FrontOptions()).program
    for function in sorted((f for _, f in program.functions() if FUNCTION_NAME.fullmatch(f.symbol.name)),
                           key=lambda f: -f.span.start):  # fmt: skip
        written = Printer(nothing).top(function)
        text = text[: function.span.start] + written + text[function.span.end :]
    assert text.count("_at++") >= len(LOOPS)
    return _printed(text, folder / "written.cpp") != before


FUNCTION_NAME = re.compile(r"f\d+")


def test_loops_do_what_algorithms_do(tmp_path: Path) -> None:
    assert not _wrong_loops(tmp_path)


@pytest.mark.slow
def test_seeded_offset_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(self: Position, counter: Expr, start: Expr | None, place: Span) -> Index:
        return Index(span=place, type=self.element, base=self.data, index=counter)

    monkeypatch.setattr(Position, "at", at)
    assert _wrong_loops(tmp_path)


@pytest.mark.slow
def test_seeded_sum_of_another_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "_plain", lambda _: DOUBLE)
    assert _wrong_loops(tmp_path)


@pytest.mark.parametrize("number", range(len(LOOPS), len(LOOPS) + len(LEFT)), ids=LEFT)
def test_what_is_more_than_a_loop_is_left(functions: dict[int, Function], number: int) -> None:
    made = functions[number].body.statements[-1]
    assert isinstance(made, ExprStmt)


@pytest.mark.parametrize("policy", ["seq", "par", "par_unseq"])
def test_an_execution_policy_changes_nothing_about_what_the_loop_does(tmp_path: Path, policy: str) -> None:
    text = f"""#include <algorithm>
#include <execution>
void f0(double *p, double *q, int n) {{
    std::for_each(std::execution::{policy}, p, p + n, [](double &x) {{ x += 1; }});
    std::transform(std::execution::{policy}, p, p + n, q, [](double x) {{ return x; }});
    std::fill(std::execution::{policy}, p, p + n, 2.0);
}}
"""
    path = tmp_path / "policy.cpp"
    path.write_text(text)
    functions = {f.symbol.name: f for _, f in load_program([str(path)], FrontOptions()).program.functions()}
    assert all(isinstance(stmt, For) for stmt in functions["f0"].body.statements)
