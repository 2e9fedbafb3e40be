"""std::swap as assignments, and which classes are nothing but their members."""

from __future__ import annotations

from collections.abc import Iterable

from tests.front.conftest import Load, found
from warpsmith.tree.nodes import Assign, Block, Function, Verbatim, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_expr

TEXT = """
#include <array>
#include <utility>
#include <vector>
template <typename T> class Image {
public:
    Image(int w, T fill = T()) : w_(w), data_(w, fill) { if (w < 0) throw 1; }
    int width() const { return w_; }
    bool operator==(const Image &o) const { return w_ == o.w_; }
private:
    int w_ = 0;
    std::vector<T> data_;
};
extern int made;
struct Plain { int n; double *at; };
struct Counted { Counted(int k) : n(k) { made++; } int n; };
struct Told { Told(int k) : n(k + made) {} int n; };
struct Moves { Moves(Moves &&o) : n(o.n) { made++; } Moves &operator=(Moves &&o) { n = o.n; return *this; } int n; };
struct Dies { ~Dies() { made++; } int n; };
struct Fixed { std::array<double, 3> a; };
template <typename T> struct Arena {
    using value_type = T;
    T *allocate(std::size_t n);
    void deallocate(T *p, std::size_t n);
    bool operator==(const Arena &) const { return true; }
    bool operator!=(const Arena &) const { return false; }
};
using Own = std::vector<double, Arena<double>>;
struct Base { Base(const Base &) { made++; } int b; };
struct Derived : Base { int n; };
"""
USE = """void use{}(Image<float> &a, Image<float> &b, std::vector<double> &v, std::vector<double> &w,
    std::vector<Dies> &d, std::vector<Dies> &e, Own &k, Own &l,
    Plain &p, Plain &q, Moves &m, Moves &n, Dies &x, Dies &y, Fixed &s, Fixed &t,
    Derived &g, Derived &h, int i, int j, double *at, double *to, std::vector<std::vector<int>> &r,
    std::vector<std::vector<int>> &u) {{ {}; }}
"""
VECTORS = ["v.data() = w.data()", "w.data() = swapped_0", "v.size() = w.size()", "w.size() = swapped_1"]
SWAPS: dict[str, list[str] | None] = {
    "std::swap(at, to)": ["at = to", "to = swapped_0"],
    "std::swap(v, w)": VECTORS,
    "v.swap(w)": VECTORS,
    # whatever the elements are, none of them moves
    "std::swap(r, u)": [text.replace("v.", "r.").replace("w.", "u.") for text in VECTORS],
    "r.swap(u)": [text.replace("v.", "r.").replace("w.", "u.") for text in VECTORS],
    "std::swap(r[i], r[j])": [text.replace("v.", "r.data()[i].").replace("w.", "r.data()[j].") for text in VECTORS],
    "d.swap(e)": [text.replace("v.", "d.").replace("w.", "e.") for text in VECTORS],
    "std::swap(k, l)": None,
    "std::swap(p, q)": ["p.n = q.n", "q.n = swapped_0", "p.at = q.at", "q.at = swapped_1"],
    "std::swap(a, b)": [
        "a.w_ = b.w_",
        "b.w_ = swapped_0",
        "a.data_.data() = b.data_.data()",
        "b.data_.data() = swapped_1",
        "a.data_.size() = b.data_.size()",
        "b.data_.size() = swapped_2",
    ],
    # code of the program's may run, or the elements are in the object, or a place is not the same twice
    "std::swap(m, n)": None,
    "std::swap(x, y)": None,
    "std::swap(s, t)": None,
    "std::swap(g, h)": None,
    "std::swap(r[i++], r[j])": None,
}
# what it may call, and what it writes (None: anything)
MADE: dict[str, tuple[bool, set[str] | None]] = {
    "Image<float> c(i)": (False, set()),
    "Image<float> c(a.width() + 1, 2.0f)": (False, set()),
    "Image<float> c = a": (False, set()),
    "Image<float> c = std::move(a)": (True, None),
    "Counted c(i)": (True, set()),
    "Told c(i)": (True, set()),
    "Dies c = x": (True, None),
    "std::vector<Dies> c = d": (True, None),
}


def _functions(load: Load, cases: Iterable[str]) -> list[Function]:
    text = TEXT + "".join(USE.format(number, case) for number, case in enumerate(cases))
    known = {f.symbol.name: f for _, f in load(text, "--std=c++17", name="case.cpp").program.functions()}
    return [known[f"use{number}"] for number, _ in enumerate(cases)]


def _wrong_swaps(load: Load) -> list[str]:
    """Return the statements that are not taken for what they are."""
    wrong = []
    for (case, wanted), made in zip(SWAPS.items(), _functions(load, SWAPS), strict=True):
        boxes = found(made.body, VerbatimExpr, Verbatim)
        assigned = [n for n in found(made.body, Assign) if isinstance(n, Assign)]
        lines = [f"{print_expr(a.target, nothing)} = {print_expr(a.value, nothing)}" for a in assigned]
        blocks = [n for n in found(made.body, Block) if n is not made.body]
        whole = all(n.intact and n.span.text == f"{case};" for n in blocks)
        if (wanted is None) != bool(boxes) or (wanted is not None and (lines != wanted or not whole)):
            wrong.append(case)
    return wrong


def test_a_swap_is_an_exchange_of_members(load: Load) -> None:
    assert _wrong_swaps(load) == []


def _wrong_objects(load: Load) -> list[str]:
    wrong = []
    for (case, (calls, writes)), made in zip(MADE.items(), _functions(load, MADE), strict=True):
        make_opaque = next(n for n in found(made.body, VerbatimExpr) if isinstance(n, VerbatimExpr))
        written = {s.name for s in make_opaque.writes}
        if make_opaque.calls is not calls or (writes is not None and not writes <= written <= (writes or written)):
            wrong.append(case)
    return wrong
