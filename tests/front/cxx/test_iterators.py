"""Loops over vectors by an iterator: which are counted, and that they do what was written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.front.conftest import Load, function
from warpsmith.front.cxx import statements
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import nothing, print_stmt
from warpsmith.tree.walk import loops

HEAD = """
#include <cstdio>
#include <list>
#include <vector>
struct P { double x; };
using V = std::vector<double>;
void keep(V::iterator it);
"""
COUNTED = (
    "for (auto it = v.begin(); it != v.end(); ++it) *it += 1;",
    "for (auto it = v.begin(); it < v.end(); it++) { s += *it; }",
    "for (V::const_iterator it = v.begin(); it != v.cend(); ++it) s += *it;",
    "for (auto it = p.begin(); it != p.end(); ++it) it->x = s;",
)
KEPT = (
    "for (auto it = v.begin(); it != w.end(); ++it) *it += 1;",
    "for (auto it = v.begin(); it != v.end(); it += 2) *it += 1;",
    "for (auto it = v.begin(); it != v.end(); ++it) keep(it);",
    "for (auto it = v.begin(); it != v.end(); ++it) { s += *it; ++it; }",
    "for (auto it = v.begin(); it != v.end(); ++it) { s += *it; v.pop_back(); }",
    "for (auto it = v.begin(); it != v.end(); ++it) { s += *it; grown(v); }",
    "for (auto it = v.begin(); it != v.end() && s < 3; ++it) s += *it;",
    "for (auto it = v.begin() + 1; it != v.end(); ++it) s += *it;",
    "for (auto it = v.rbegin(); it != v.rend(); ++it) s += *it;",
    "for (auto it = l.begin(); it != l.end(); ++it) s += *it;",
    "for (auto it = v.begin(); it != v.end(); ++it) { auto f = [&] { return it; }; s += *f(); }",
    "for (auto it = v.begin(); it != v.end(); ++it) s += *(it + 1);",
)


def _loop(load: Load, text: str) -> object:
    parameters = "V &v, V &w, std::vector<P> &p, std::list<double> &l, double &s"
    loaded = load(f"{HEAD}void grown(V &v) {{ v.push_back(1); }}\nvoid f({parameters}) {{ {text} }}", name="case.cpp")
    return next(loop for loop, _ in loops(function(loaded).body))


@pytest.mark.parametrize("text", COUNTED)
def test_a_walk_over_a_vector_is_counted(load: Load, text: str) -> None:
    loop = _loop(load, text)
    assert isinstance(loop, For) and loop.span.text == text and loop.relation == "<" and loop.step == 1


@pytest.mark.parametrize("text", KEPT)
def test_any_other_walk_is_not(load: Load, text: str) -> None:
    assert not isinstance(_loop(load, text), For)


ROUND = """
int main()
{
    V v(9), w;
    std::vector<P> p(5);
    double s = 0, last = 0;
    for (auto it = v.begin(); it != v.end(); ++it) { last += 1.5; *it = last; }
    for (auto it = p.begin(); it != p.end(); it++) { it->x = last; double &y = it->x; y += 1; }
    for (V::const_iterator it = v.cbegin(); it != v.cend(); ++it) { if (*it > 9) break; s += *it; }
    for (auto it = w.begin(); it < w.end(); ++it) s += *it;
    for (auto it = p.begin(); it != p.end(); ++it) s = s * 2 + it->x;
    printf("%g %g", s, v[8]);
    return 0;
}
"""


def test_what_is_printed_does_the_same(load: Load, tmp_path: Path) -> None:
    main = function(load(HEAD + ROUND, name="case.cpp"), "main")
    printed = print_stmt(main.body, "", nothing)
    assert len(re.findall(r"size_t it_at = 0; it_at < \w\.size\(\)", printed)) == 5
    answers = []
    printed = re.sub(r"(\w+)\.data\(\)", r"(\1.data())", printed)
    for number, text in enumerate((HEAD + ROUND, f"{HEAD}int main()\n{printed}")):
        path = tmp_path / f"made{number}.cpp"
        path.write_text(text)
        subprocess.run(["g++", "-O1", "-w", str(path), "-o", str(path.with_suffix(""))], check=True)
        answers.append(subprocess.run([str(path.with_suffix(""))], check=True, capture_output=True).stdout)
    assert answers[0] == answers[1] != b""


CARRIED = """
void f(V &v, V &w) { for (auto it = v.begin(); it != v.end(); ++it) { *it = w[0]; w[1] = *it; } }
void g(V &v) { int k = 0; for (auto it = v.begin(); it != v.end(); ++it) { *it = 1; v[k] += *it; } }
void h(V &v) { for (auto it = v.begin(); it != v.end(); ++it) *it = 1; }
"""


def test_what_iterations_share_is_seen(tmp_path: Path) -> None:
    (tmp_path / "case.cpp").write_text(HEAD + CARRIED)
    loaded = load_program([str(tmp_path / "case.cpp")], FrontOptions())
    found = [loop.category for f in analyze(loaded.program, PolyOptions()).functions for loop in f.loops]
    assert len(found) == 3 and not {"parallel", "reduction"} & set(found[:2])


def test_seeded_vector_that_shrinks(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    shrinks = next(text for text in KEPT if "pop_back" in text)
    assert not isinstance(_loop(load, shrinks), For)
    # seeded: nobody looks whether the vector stays as it is
    monkeypatch.setattr(statements, "recognize", lambda *parts: ())
    assert isinstance(_loop(load, shrinks), For)
