"""std::unique_ptr to an array: a pointer in an object. What gives it another array, or runs code, is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.front.cxx.calls import CxxCalls
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.containers import OWNED, is_owner
from warpsmith.tree.nodes import Expr, Member, VarDecl, VerbatimExpr
from warpsmith.tree.printing.printer import nothing, print_stmt

HEAD = """
#include <memory>
struct Free { void operator()(double *p) const { delete[] p; } };
struct E { ~E(); double x; };
void keep(std::unique_ptr<double[]> &p);
"""
KNOWN = "std::unique_ptr<double[]> &a, std::unique_ptr<double[]> &b, int n"
WRITTEN = {
    "a[n] = b.get()[n];": "a.get()[n] = b.get()[n];",
    "double *p = a.get(); p[n] = 1;": "double *p = a.get();\n    p[n] = 1;",
}
OTHER = ("std::unique_ptr<double[], Free> &a", "std::unique_ptr<E[]> &a", "std::unique_ptr<double> &a")
CHANGES = ("a.reset(new double[n]);", "a = std::make_unique<double[]>(n);", "keep(a);", "b = std::move(a);")
MADE = {
    "std::unique_ptr<double[]> p(new double[n]);": True,
    "auto p = std::make_unique<double[]>(n);": True,
    "std::unique_ptr<double[]> p;": True,
    "std::unique_ptr<double[]> p(a.release());": False,
    "std::unique_ptr<double[]> p(std::move(a));": False,
}


@pytest.mark.parametrize("text", WRITTEN)
def test_the_array_is_a_member(load: Load, text: str) -> None:
    body = function(load(f"{HEAD}void f({KNOWN}) {{ {text} }}", name="case.cpp")).body
    assert print_stmt(body, "", nothing) == f"{{\n    {WRITTEN[text]}\n}}"


@pytest.mark.parametrize("parameter", OTHER)
def test_other_owners_are_no_such_objects(load: Load, parameter: str) -> None:
    f = function(load(f"{HEAD}void f({parameter}) {{ int n = 0; auto *p = a.get(); }}", name="case.cpp"))
    assert not [m for m in found(f.body, Member) if isinstance(m, Member) and m.field == OWNED]
    assert not any(is_owner(parameter.type) for parameter in f.parameters)


@pytest.mark.parametrize("text", MADE)
def test_making_one_reads_its_length_only(load: Load, text: str) -> None:
    body = function(load(f"{HEAD}void f({KNOWN}) {{ {text} }}", name="case.cpp")).body
    (one,) = found(body, VarDecl)
    assert isinstance(one, VarDecl)
    quiet = one.init is None or (isinstance(one.init, VerbatimExpr) and not one.init.calls and not one.init.writes)
    assert quiet is MADE[text]


def _localizes(folder: Path, change: str) -> bool:
    """Whether the array of `a` may be in a variable during a loop that also runs `change`."""
    from warpsmith.loops.steps.data.localize import Localize

    path = folder / "case.cpp"
    path.write_text(f"{HEAD}void f({KNOWN}) {{ for (int i = 0; i < 9; i++) {{ a[i] = i; {change} }} }}")
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    return type(Localize("f/i").check(program, facts)).__name__ == "Proved"


def test_who_changes_the_owner_is_seen(tmp_path: Path) -> None:
    assert _localizes(tmp_path, "")
    assert [_localizes(tmp_path, change) for change in CHANGES] == [False] * len(CHANGES)


def test_seeded_change_without_effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def harmless(self: CxxCalls, row: int, value: Expr, reason: str, rows: list[int]) -> Expr:
        return value

    monkeypatch.setattr(CxxCalls, "_change_container", harmless)
    assert any(_localizes(tmp_path, change) for change in CHANGES)
