"""Names of C++ functions and variables: for the program, and for people."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import parsed
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import ANONYMOUS, CONST, INSTANCE, PATTERN, VIRTUAL

TEXT = """
namespace heat {
struct Solver { virtual void step(); int at(int) const; static int count(); };
template <class T> struct Grid { T sum() const { return T(); } };
template <class T, int N> T blur(T x) { return x + N; }
template <template <class> class G> int odd(G<int> g) { return 0; }
double total;
}
namespace { int hidden(int x) { return x; } }
struct Outer { struct Inner { void run(); Inner &operator/(int); }; };
int plain(int x) { struct Local { int f() { return 1; } } l; return x + l.f(); }
double use() {
    heat::Solver s; heat::Grid<float> g; Outer::Inner i; i.run(); i / 2; s.step(); s.at(1); heat::Solver::count();
    return g.sum() + heat::blur<double, 3>(1) + hidden(2) + plain(3) + heat::odd<heat::Grid>({}) + heat::total;
}
"""
NAMES = {
    "step": ("heat::Solver::step", "Solver::step", "heat::Solver", VIRTUAL),
    "at": ("heat::Solver::at", "Solver::at", "heat::Solver", CONST),
    "count": ("heat::Solver::count", "Solver::count", "", 0),
    "blur": ("heat::blur", "blur<double,3>", "", INSTANCE),
    "odd": ("heat::odd", "odd<…>", "", INSTANCE),
    "total": ("heat::total", "total", "", 0),
    "hidden": ("hidden", "hidden", "", ANONYMOUS),
    "run": ("Outer::Inner::run", "Outer::Inner::run", "Outer::Inner", 0),
    "operator/": ("Outer::Inner::operator/", "Outer::Inner::operator÷", "Outer::Inner", 0),
    "plain": ("plain", "plain", "", 0),
    "f": ("f", "Local::f", "Local", 0),
}


def test_names_of_the_program_and_of_people(tmp_path: Path) -> None:
    context = parsed(tmp_path, TEXT, name="case.cpp").context
    assert context is not None
    found: dict[str, tuple[str, str, str, int]] = {}
    for row, (qualified, label, owner, flags) in context.dump.details.items():
        spelling = context.dump.types[owner][3] if owner >= 0 else ""
        if not flags & PATTERN and context.dump.declared[row][0] != kinds.FUNCTION_TEMPLATE:
            found.setdefault(context.dump.declared[row][1], (qualified, label, spelling, flags))
    assert {name: found[name] for name in NAMES} == NAMES
    qualified, label, _, flags = found["sum"]
    assert (qualified, label) == ("heat::Grid<float>::sum", "Grid<float>::sum") and flags & CONST
    patterns = [d for d in context.dump.details.values() if d[3] & PATTERN]
    assert [d[1] for d in patterns] == ["Grid<T>::sum"]
