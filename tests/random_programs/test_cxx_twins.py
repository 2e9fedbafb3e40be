"""The same loop in C and in the words of C++: one verdict. What differs is seeded here, and found.

The twins have references for pointers, a method for a function, a template's instance for a plain type, small functions
and lambdas for subscripts, std::max for a comparison; every pair must have the same category and as many assumptions.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from warpsmith.front.c import expressions
from warpsmith.front.c.expressions import Expressions
from warpsmith.front.cxx import calls as cxx_calls
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import Expr

PAIRS = 24
CXX = """
#include <algorithm>
static inline double &cell(double *p, int k) { return p[k]; }
struct Host {
    double keep;
%s
};
"""


def _read(pick: random.Random) -> tuple[str, str]:
    """Return an operand in C and in C++."""
    array, shift = pick.choice("xy"), pick.choice((-1, 0, 0, 1, 2))
    at = f"i + {shift}" if shift >= 0 else f"i - {-shift}"
    if pick.random() < 0.2:
        return "*s", "s"
    return f"{array}[{at}]", pick.choice((f"{array}[{at}]", f"cell({array}, {at})", f"get_{array}({at})"))


def _statement(pick: random.Random) -> tuple[str, str]:
    (a, a_cxx), (b, b_cxx) = _read(pick), _read(pick)
    kind = pick.random()
    if kind < 0.25:
        return f"*s += {a} * {b};", f"s += {a_cxx} * {b_cxx};"
    if kind < 0.45:
        return f"y[i] = ({a} < {b} ? {b} : {a});", f"y[i] = std::max({a_cxx}, {b_cxx});"
    if kind < 0.6:
        return f"y[2 * i] = {a} + {b};", f"cell(y, 2 * i) = {a_cxx} + {b_cxx};"
    return f"y[i] = {a} - {b};", f"y[i] = {a_cxx} - {b_cxx};"


def _pair(seed: int) -> tuple[str, str]:
    """Return one function in C, and its twin as a method or a template."""
    pick = random.Random(seed)
    made = [_statement(pick) for _ in range(pick.choice((1, 1, 2)))]
    restrict = pick.random() < 0.5
    words = "*restrict" if restrict else "*"
    c = f"void f{seed}(int n, double {words} x, double {words} y, double *s)\n"
    c += "{ for (int i = 1; i < n; i++) { " + " ".join(a for a, _ in made) + " } }\n"
    words = "*__restrict" if restrict else "*"
    body = "auto get_x = [&](int k) { return x[k]; }; auto get_y = [&](int k) { return y[k]; };"
    body += " for (int i = 1; i < n; i++) { " + " ".join(b for _, b in made) + " }"
    return c, f"    void f{seed}(int n, double {words} x, double {words} y, double &s)\n    {{ {body} }}\n"


def _facts(path: Path) -> list[LoopFacts]:
    loaded = load_program([str(path)], FrontOptions())
    return [loop for function in analyze(loaded.program, PolyOptions()).functions for loop in function.loops]


def _differences(tmp_path: Path) -> list[str]:
    """Return the pairs that are judged differently."""
    pairs = [_pair(seed) for seed in range(PAIRS)]
    (tmp_path / "twin.c").write_text("".join(c for c, _ in pairs))
    (tmp_path / "twin.cpp").write_text(CXX % "".join(cxx for _, cxx in pairs))
    ours, twins = _facts(tmp_path / "twin.c"), _facts(tmp_path / "twin.cpp")
    assert len(ours) == len(twins) == PAIRS
    return [
        f"{a.id} {a.category}, {b.id} {b.category}: {[r.text for r in b.reasons][:1]}"
        for a, b in zip(ours, twins, strict=True)
        if (a.category, len(getattr(a.verdict, "assumptions", ())))
        != (b.category, len(getattr(b.verdict, "assumptions", ())))
    ]


def test_twins_have_one_verdict(tmp_path: Path) -> None:
    assert _differences(tmp_path) == []
    categories = {loop.category for loop in _facts(tmp_path / "twin.c")}
    assert {"parallel", "sequential"} <= categories


@pytest.mark.slow
def test_seeded_reference_as_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(pointer: Expr, span: object, *, intact: bool) -> Expr:
        return pointer

    monkeypatch.setattr(expressions, "dereference", copied)
    assert _differences(tmp_path) != []


def test_seeded_lambda_without_effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx_calls.CxxCalls, "_in_place", lambda *_: None)
    assert _differences(tmp_path) != []


RESIZED = """
#include <vector>
double total;
void f(std::vector<double> &v, int n) { for (int i = 0; i < n; i++) { v[i] = i; v.resize(n + i); } }
void g(std::vector<double> &v, std::vector<double> &w, int n) { for (int i = 0; i < n; i++) v[i] = w[i + 1]; }
void h(std::vector<bool> &v, int n) { for (int i = 0; i < n; i++) v[i] = true; }
struct S { double *p; int n; void k(double *q) { for (int i = 0; i < n; i++) { q[i] = p[i]; grow(); } } void grow(); };
"""


def _localizes(tmp_path: Path) -> dict[str, bool]:
    """Return which loops of RESIZED may have the data of their vectors in variables."""
    from warpsmith.loops.steps.data.localize import Localize
    from warpsmith.poly.analyze import Facts

    (tmp_path / "resized.cpp").write_text(RESIZED)
    program = load_program([str(tmp_path / "resized.cpp")], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    return {name: type(Localize(f"{name}/i").check(program, facts)).__name__ == "Proved" for name in "fg"}


def test_a_vector_that_is_resized_keeps_its_pointer_in_memory(tmp_path: Path) -> None:
    assert _localizes(tmp_path) == {"f": False, "g": True}


def test_seeded_resize_without_effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def harmless(self: Expressions, row: int, value: Expr, reason: str, rows: list[int]) -> Expr:
        return value

    monkeypatch.setattr(cxx_calls.CxxCalls, "_change_container", harmless)
    assert _localizes(tmp_path)["f"]


def test_two_vectors_by_reference_may_be_one(tmp_path: Path) -> None:
    from warpsmith.loops.steps.data.localize import Localize
    from warpsmith.poly.analyze import Facts

    (tmp_path / "resized.cpp").write_text(RESIZED)
    program = load_program([str(tmp_path / "resized.cpp")], FrontOptions()).program
    after = Localize("g/i").apply(program)
    assert isinstance(Facts.about(after, PolyOptions()), Facts)
    loops = {f"{loop.id}": loop for function in analyze(after, PolyOptions()).functions for loop in function.loops}
    assumed = [a.text for a in getattr(loops["g/i"].verdict, "assumptions", ())]
    assert any("overlap" in text for text in assumed)
    assert loops["h/for" if "h/for" in loops else "h/i"].category == "unanalyzable"
