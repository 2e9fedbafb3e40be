"""What the making of an object does: it reads what it is made from, or may do anything."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.front.cxx.constructions import CxxConstructions
from warpsmith.tree.nodes import VarDecl, VerbatimExpr

HEAD = """
#include <algorithm>
#include <utility>
#include <vector>
struct Bare { int a, b; };
struct Told { Told(int *p) { *p = 1; } int a; };
int next();
"""
READS = (
    "std::vector<double> v(n);",
    "std::vector<double> v(n, w[0]);",
    "std::vector<double> v(std::max(n, 3));",
    "std::vector<double> v(w.begin(), w.end());",
    "std::vector<double> v{1.0, 2.0};",
    "std::vector<Bare> v(n);",
    "std::vector<std::vector<int>> v(3, std::vector<int>(n));",
    "std::vector<double> v(w);",
)
WRITES = (
    "std::vector<double> v(next());",
    "std::vector<double> v(n++);",
    "std::vector<double> v(std::exchange(n, 2));",
    "std::vector<double> v(std::move(w));",
    "Told t(&n);",
)


def _is_quiet(load: Load, text: str) -> bool:
    f = function(load(f"{HEAD}void f(int n, std::vector<double> w) {{ {text} }}", name="case.cpp"))
    (made,) = found(f.body, VarDecl)
    assert isinstance(made, VarDecl) and isinstance(made.init, VerbatimExpr)
    return not made.init.calls and not made.init.writes


@pytest.mark.parametrize("text", READS)
def test_what_only_reads(load: Load, text: str) -> None:
    assert _is_quiet(load, text)


@pytest.mark.parametrize("text", WRITES)
def test_what_may_write(load: Load, text: str) -> None:
    assert not _is_quiet(load, text)


def test_seeded_arguments_that_are_not_looked_at(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CxxConstructions, "by_value", lambda *_: True)
    assert _is_quiet(load, "std::vector<double> v(next());")
