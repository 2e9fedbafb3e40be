"""C++ as the tree has it: what is implied in the text is written in the tree, and prints as C++ again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.front.conftest import Load, found
from tests.sampling import one_in
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.front.clang.process import parse_files
from warpsmith.front.clang.wire import Dump
from warpsmith.front.cxx import library as cxx_library
from warpsmith.front.inputs import parser_arguments
from warpsmith.front.load import Loaded
from warpsmith.tree.nodes import Expr, ExprStmt, Function, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr, print_stmt

EVERYTHING = """
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>
namespace outer { namespace inner {
template <typename T> T twice(T *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; return a[0]; }
template <typename T> void never(T *a, int n) { for (int i = 0; i < n; i++) { while (a[i] > 0) a[i] -= 1; } }
} }
namespace { double hidden(double *a) { double s = 0; do { s += *a; } while (s < 1); return s; } }
template <class T, int N> struct Fixed {
    T cell[N];
    T sum() const { T s = 0; for (int i = 0; i < N; i++) s += cell[i]; return s; }
    void unused() { for (int i = 0; i < N; i++) for (auto &c : cell) c += i; }
};
struct Base {
    virtual ~Base() {}
    virtual void run(int n) { for (int i = 0; i < n; i++) total += i; }
    double total = 0;
};
class Timer { public: Timer() { for (int i = 0; i < 3; i++) ticks += i; } ~Timer() { while (ticks) --ticks; }
    operator int() const { int s = 0; for (int i = 0; i < ticks; i++) s++; return s; } private: int ticks = 0; };
struct Derived : Base {
    void run(int n) override;
    static int count(int n) { int c = 0; for (int i = 0; i < n; i++) c += i; return c; }
};
void Derived::run(int n) { for (int i = 0; i < n; i++) total -= i; }
void over(int n) { for (int i = 0; i < n; i++) hidden(nullptr); }
void over(double x) { for (int i = 0; i < 3; i++) x += i; }
int main()
{
    double data[8] = {0};
    float other[8] = {0};
    std::vector<double> v(8);
    std::vector<bool> bits(8);
    std::array<int, 4> four;
    Timer timer;
    outer::inner::twice(data, 8); outer::inner::twice(other, 8);
    Fixed<double, 8> fixed; fixed.sum();
    for (auto &x : v) x = 1;
    for (double x : v) data[0] += x;
    for (bool b : bits) data[1] += b;
    for (int x : {1, 2, 3}) data[2] += x;
    for (auto it = v.begin(); it != v.end(); ++it) *it += 1;
    for (int &x : four) x = 0;
    auto f = [&](int i) { for (int k = 0; k < i; k++) data[k] += 1; };
    for (int i = 0; i < 8; i++) f(i);
    [&] { for (int i = 0; i < 8; i++) data[i] = 2; }();
    std::for_each(v.begin(), v.end(), [](double &x) { for (int i = 0; i < 2; i++) x += i; });
    try { for (int i = 0; i < 8; i++) data[i] = v.at(i); } catch (...) { while (data[0] > 0) data[0]--; }
    if (int n = Derived::count(3)) for (int i = 0; i < n; i++) data[i] = 0;
    for (int i = 0; i < 8; i++) { if (data[i] > 7) throw 1; }
    over(3); over(2.5);
    return 0;
}
"""


def _loops_of_text(path: Path) -> set[int]:
    """Return where the parser sees a loop in the main file."""
    (dump,) = parse_files([(str(path), parser_arguments("c++", ()), None, 400_000, False)], 60)
    assert isinstance(dump, Dump)
    table = NodeTable(dump)
    rows = [r for top, file in dump.tops if file == 0 for r in range(top, table.after[top])]
    return {table.start[r] for r in rows if table.kind[r] in (kinds.FOR, kinds.WHILE, kinds.DO, kinds.RANGE_FOR)}


CLASS = """
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>
static void bump(double &x, double by) { x += by; x += by; }
struct Grid {
    Grid(int nx, int ny) : nx_(nx), ny_(ny), cells(nx * ny) {}
    double &operator()(int i, int j) { return cells[i * ny_ + j]; }
    int rows() const { return nx_; }
    void set(int i, double v) { cells[i] = v; }
    double heavy(int n) { double s = 0; for (int i = 0; i < n; i++) s += cells[i]; return s; }
    void test(Grid &g, std::vector<double> &v, std::array<double, 4> &arr, double &r, const double &c, int i, float f)
    {
        %s;
    }
    int nx_, ny_;
    std::vector<double> cells;
};
"""


def _function(loaded: Loaded, name: str) -> Function:
    return next(f for _, f in loaded.program.functions() if (f.symbol.label or f.symbol.name) == name)


def _written(load: Load, text: str) -> str:
    """Return the one expression of `Grid::test`, printed from the tree alone."""
    return print_expr(_expression(load, text), nothing)


def _expression(load: Load, text: str) -> Expr:
    test = _function(load(CLASS % text, name="case.cpp"), "Grid::test")
    (stmt,) = found(test.body, ExprStmt)
    assert isinstance(stmt, ExprStmt)
    assert stmt.intact and stmt.span.text == f"{text};"
    return stmt.expr


@pytest.mark.parametrize(
    ("text", "written"),
    one_in(
        4,
        [
            ("r = c", "r = c"),
            ("*&r = 1", "*&r = 1"),
            ("r += v[i]", "r += v.data()[i]"),
            ("r = v.size()", "r = v.size()"),
            ("v.front() = v.back()", "v.data()[0] = v.data()[v.size() - 1]"),
            ("r = arr[i] * arr.size()", "r = (arr.data())[i] * (size_t)4"),
            ("nx_ = i", "this->nx_ = i"),
            ("this->nx_ = ny_", "this->nx_ = this->ny_"),
            ("cells[i] = g.cells[i]", "this->cells.data()[i] = g.cells.data()[i]"),
            ("g(i, 2) = (*this)(i, 1)", "g.cells.data()[i * g.ny_ + 2] = this->cells.data()[i * this->ny_ + 1]"),
            ("r = rows() + g.rows()", "r = this->nx_ + g.nx_"),
            ("g.set(i, f)", "g.cells.data()[i] = (double)f"),
            ("r = g.heavy(i)", "r = g.heavy(i)"),
            ("r = heavy(i)", "r = this->heavy(i)"),
            ("r = std::max(r, c)", "r = r < c ? c : r"),
            ("r = std::min(r, c)", "r = c < r ? c : r"),
            ("r = std::clamp(r, c, 2.0)", "r = 2.0 < (r < c ? c : r) ? 2.0 : r < c ? c : r"),
            ("r = std::abs(r)", "r = fabs(r)"),
            ("f = std::sqrt(f)", "f = sqrtf(f)"),
            ("r = std::pow(r, 2)", "r = pow(r, (double)2)"),
            ("r = static_cast<double>(i)", "r = (double)i"),
            ("r = double(i)", "r = (double)i"),
            ("bump(r, 1)", "bump(r, 1)"),
            ("bump(g.cells[i], 1)", "bump(g.cells.data()[i], 1)"),
        ],
    ),
)
def test_what_is_implied_is_written(load: Load, text: str, written: str) -> None:
    made = _written(load, text)
    assert made == written


ROUND = """
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>
struct Grid {
    Grid(int nx, int ny) : nx_(nx), ny_(ny), cells(nx * ny) {}
    double &operator()(int i, int j) { return cells[i * ny_ + j]; }
    double at(int i, int j) const { return cells[i * ny_ + j]; }
    void shift(double by) { for (auto &c : cells) c += by; }
    double norm() const { double s = 0; for (double c : cells) s = std::max(s, std::fabs(c)); return s; }
    int nx_, ny_;
    std::vector<double> cells;
};
static void bump(double &x, double by) { x += by; x *= by; }
static double nearby(const double *p, long step, double limit, double &weight, int &seen)
{
    const double other = p[step];
    if (std::fabs(other - p[0]) >= limit)
        return 0;
    weight += other;
    ++seen;
    return other * weight;
}
double run(Grid &g, std::array<double, 4> &arr, const double &weight)
{
    double none = std::nan(""), out = 0;
    double &first = arr[0];
    auto sq = [&](double x) { return x * x + weight; };
    for (int i = 0; i < g.nx_; i++)
        for (int j = 0; j < g.ny_; j++)
            g(i, j) = sq(i) - j + g.at(j % 2, i % 2);
    first = 3;
    bump(first, 2);
    bump(g.cells[1], weight);
    for (int i = 1; i < 4; i++)
        arr[i] = arr[i - 1] + static_cast<int>(2.9) + std::pow(2.0f, 3) + std::min(i, 2);
    g.shift(weight);
    double sum = 1, share = 1;
    int seen = 0;
    for (int i = 1; i < 15; i++) {
        sum += nearby(&g.cells[i], 1, 6, share, seen);
        const double back = nearby(&g.cells[i], -1, share, share, seen);
        sum = sum * back + seen;
    }
    out += sum * 1e-9 + share + seen;
    out += std::max(none, 1.0) == 1.0 ? 100 : 7;
    out += std::max(1.0, none) == 1.0 ? 1000 : 9;
    out += std::clamp(sum, 0.5, 1.5) + std::clamp(arr[1], 3.0, 4.0);
    out += std::clamp(none, 0.0, 1.0) == 1.0 ? 2000 : 11;
    for (double x : arr)
        out += x;
    return out + g.norm() + g.cells.back();
}
int main()
{
    Grid g(5, 4);
    std::array<double, 4> arr{};
    double r = run(g, arr, 0.75);
    for (double c : g.cells) std::printf("%.17g ", c);
    std::printf("%.17g %.17g\\n", r, arr[3]);
}
"""


def _output(path: Path) -> str:
    program = path.with_suffix("")
    subprocess.run(["g++", "-std=c++17", "-w", str(path), "-o", str(program)], check=True, capture_output=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def _rewritten(load: Load, tmp_path: Path) -> str:
    """Return what the program prints when every function's body was printed from its tree."""
    loaded = load(ROUND, name="case.cpp")
    text = ROUND
    functions = [f for _, f in loaded.program.functions() if (f.symbol.label or f.symbol.name) != "Grid::Grid"]
    outer = [f for f in functions if "lambda" not in f.symbol.name]
    for function in sorted(outer, key=lambda f: -f.span.start):
        span = function.body.span
        text = text[: span.start] + print_stmt(function.body, known=nothing) + text[span.end :]
    (tmp_path / "again.cpp").write_text(text)
    return _output(tmp_path / "again.cpp")


def test_printed_from_the_tree_it_runs_the_same(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "user.cpp").write_text(ROUND)
    wanted = _output(tmp_path / "user.cpp")
    assert _rewritten(load, tmp_path) == wanted
    # The check finds what it is for: std::max with its operands exchanged gives another result for a NaN.
    extreme = cxx_library.CxxLibrary._extreme
    exchanged = {"max": "min", "min": "max"}
    monkeypatch.setattr(
        cxx_library.CxxLibrary, "_extreme", lambda self, name, *rest: extreme(self, exchanged[name], *rest)
    )
    assert _rewritten(load, tmp_path) != wanted


def test_null_is_a_null_pointer(load: Load) -> None:
    text = "#include <cstdlib>\nvoid f(double *p, double *q) { if (p == NULL) q = NULL; if (__null != p) q = nullptr; }"
    body = _function(load(text, name="case.cpp"), "f").body
    assert not found(body, VerbatimExpr)
    assert print_stmt(body, "", nothing).count("nullptr") == 4
