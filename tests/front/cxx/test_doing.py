"""Effects of C++ texts that make objects: what they evaluate, what they copy, and those that are unknown."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load
from warpsmith.tree.nodes import Call, Doing, Member, VarDecl, VerbatimExpr
from warpsmith.tree.walk import peel, walk

TEXT = """
#include <cstdio>
#include <string>
#include <vector>
int seen;
struct Rgb { float r = 0.0f, g = 0.0f; };
struct Mean { double value = 0.0; };
struct Counted { int n = seen++; };
template <typename T> class Row {
public:
    Row() = default;
    explicit Row(int n) : n_(n), data_(n) {}
    Row(int n, int told) : n_(n), data_(n) { seen = told; }
    std::vector<T> &values() { return data_; }
    const std::vector<T> &values() const { return data_; }
private:
    int n_ = 0;
    std::vector<T> data_;
};
struct Loud { int n; ~Loud() { std::puts("end"); } };
Row<float> half(const Row<float> &in);
Row<float> mixed(const Row<float> &one, const Row<float> &other);
struct Filter { int n; explicit Filter(int k) : n(k) {} Row<float> operator()(const Row<float> &in) const; };
void use(const Row<float> &row, const Row<Rgb> &colors, int n)
{
    Row<float> own(n);
    %s;
}
"""


def _make_opaque(load: Load, text: str) -> VerbatimExpr:
    loaded = load(TEXT % text, name="case.cpp")
    function = next(f for _, f in loaded.program.functions() if f.symbol.name == "use")
    return next(p for p in walk(function.body.statements[1]) if isinstance(p, VerbatimExpr))


def _calls(doing: Doing) -> list[str]:
    """Return the functions that are called, those inside the arguments too."""
    found: list[str] = []
    for part in (p for expr in doing.evaluates for p in walk(expr)):
        if isinstance(part, Call):
            found.append(peel(part.function).span.text.split("(")[0])
        elif isinstance(part, VerbatimExpr) and part.doing is not None:
            found += _calls(part.doing)
    return found


@pytest.mark.parametrize(
    ("text", "calls", "copies"),
    [
        ("Row<float> made(n + 1)", 0, 0),
        ("Row<float> made", 0, 0),
        ("Mean made", 0, 0),
        ("std::vector<double> made(n)", 0, 0),
        ("Row<float> made = row", 0, 1),
        ("std::vector<float> made(row.values())", 0, 1),
        ("own = half(row)", 1, 0),
        ("Row<float> made = mixed(half(row), half(own))", 3, 0),
        ("Row<float> made = Filter(n)(row)", 1, 0),
        ("auto made = [n](float x) { return n * x; }", 0, 0),
    ],
)
def test_what_is_known_of_it(load: Load, text: str, calls: int, copies: int) -> None:
    doing = _make_opaque(load, text).doing
    assert doing is not None
    assert len(_calls(doing)) == calls and len(doing.copies) == copies


@pytest.mark.parametrize(
    "text",
    [
        "Row<float> made(n, n)",  # tells the world
        "Counted made",  # its first value does
        "Loud made{n}",
        "std::string made(3, 'x')",
        "own.values().resize(n)",  # elements are written where they are
        "std::vector<float> made(row.values().begin(), row.values().end())",
        "std::vector<std::vector<float>> made(n, row.values())",
        "auto made = [own](int i) { return own.values()[i]; }",
    ],
)
def test_what_is_not_known_is_not_said(load: Load, text: str) -> None:
    assert _make_opaque(load, text).doing is None


def test_members_that_are_vectors_of_structs_are_known_by_what_returns_them(load: Load) -> None:
    loaded = load(TEXT % "const auto &made = colors.values()", name="case.cpp")
    function = next(f for _, f in loaded.program.functions() if f.symbol.name == "use")
    bound = next(p for p in walk(function.body.statements[1]) if isinstance(p, VarDecl))
    assert any(isinstance(part, Member) and part.field == "data_" for part in walk(bound))
