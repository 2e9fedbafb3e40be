"""Calls of `at` tested once before a loop: the loop and its original do the same, and throw alike, for all sizes."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.loops.steps.test_docstrings import NoWords
from warpsmith.base.verdict import Proved, Reason, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.loops.writing import checked_subscripts
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.containers import find_checked
from warpsmith.tree.nodes import Function
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names, loops

HEAD = """
#include <array>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>
using std::size_t;
using V = std::vector<double>;
using I = std::vector<int>;
struct Bag { V v; size_t size; };
extern int limit;
"""
PARAMETERS = "V &v, V &w, I &c, std::array<double, 9> &a, Bag &bag, int n, int m"
PORTED = [
    "for (int i = 0; i < n; i++) v.at(i) = 2 * w.at(i) + i;",
    "for (size_t i = 0; i < v.size(); i++) v.at(i) += 1;",
    "for (int i = m; i < n; i++) { v.at(i) = i; w.at(i - m) = v.at(i); }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) v.at(i * m + j) = w.at(j) + i;",
    "for (int i = 0; i < n; i++) if (i < m) v.at(i) += 3; else w.at(i) = 1;",
    "for (int i = n; i >= m; i--) v.at(i) += v.at(i) * 2;",
    "for (size_t i = 0; i < v.size() - 1; i++) v.at(i) = v.at(i + 1) * 0.5;",
    "for (unsigned i = 0; i < (unsigned)m; i++) v.at(i + n) = i;",
    "for (int i = 0; i < n; i++) { v.at(i) = i + 0.25; v.at(i) += w.at(i); c.at(i)++; }",
    "for (int i = 0; i < n; i++) a.at(i) = a.at(i) + m;",
    "for (int i = 0; i < n; i++) bag.v.at(i) = w[0] + i;",
    "for (int i = 0; i < n; i += 2) { if (v.at(i) > 3) break; v.at(i) += 10; }",
    "for (int i = 0; i < limit; i++) v.at(i) = 4;",
    "double s = 0; for (int i = 0; i < n; i++) { s += w.at(2 * i); v.at(0) = s; }",
    "for (int i = 0; i < c[0]; i++) v.at(i) = w.at(n);",
]
STAY = {
    "for (int i = 0; i < n; i++) v.at(c[i]) += i;": "v.at(c[i]) may throw: its index is not known before the loop",
    "for (int i = 0; i < n; i++) { v.at(i) = i; if (i % 3 == 0) v.push_back(1); }": (
        "v.at(i) may throw: the size is not known before the loop"
    ),
    "for (int i = 0; i < n; i++) { v.at(i) = i; if (i == 2) v.swap(w); }": (
        "v.at(i) may throw: the size is not known before the loop"
    ),
    "for (size_t i = 0; i < v.size(); i++) v.at(i - 1) = w.at(i);": (
        "v.at(i - 1) may throw: no test before the loop says that its index is less than the size"
    ),
    "int k = 0; for (int i = 0; i < n; i++) { v.at(k) = i; if (w[i] > 2) k++; }": "",
    "for (int i = 0; i < n; i++) for (int j = 0; j < c[i]; j++) v.at(j) = i;": "",
}
DRIVER = """
int limit;
using function = void(%s);
struct State { V v, w; I c; std::array<double, 9> a; Bag bag; int thrown; };
static State run(function *body, int size, int other, int n, int m)
{
    State s{V(size), V(other), I(12), {}, {V(other), 0}, 0};
    for (int k = 0; k < size; k++) s.v[k] = k %% 5;
    for (int k = 0; k < other; k++) s.w[k] = s.bag.v[k] = k %% 3 + 0.5;
    for (int k = 0; k < 12; k++) s.c[k] = k %% 4 + 3;
    s.w.reserve(20); s.v.reserve(20);
    limit = m;
    try { body(s.v, s.w, s.c, s.a, s.bag, n, m); } catch (std::out_of_range &) { s.thrown = 1; }
    return s;
}
static int differs(function *one, function *two)
{
    const int sizes[] = {1, 4, 9, 12, 16}, numbers[] = {-3, 0, 1, 3, 4, 9, 10, 12};
    for (int size : sizes) for (int other : sizes) for (int n : numbers) for (int m : numbers) {
        State x = run(one, size, other, n, m), y = run(two, size, other, n, m);
        if (x.v != y.v || x.w != y.w || x.c != y.c || x.a != y.a) return 1;
        if (x.bag.v != y.bag.v || x.thrown != y.thrown) return 1;
    }
    return 0;
}
"""


def _text(name: str, body: str) -> str:
    return f"void {name}({PARAMETERS})\n{{\n    {body}\n}}\n"


def _load(folder: Path, text: str) -> Program:
    path = folder / "c.cpp"
    path.write_text(HEAD + text)
    return load_program([str(path)], FrontOptions()).program


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def _rewritten(folder: Path, bodies: Sequence[str]) -> tuple[str, list[int]]:
    """Return the functions after the step at their outermost loops, and which of them have a loop without `at`."""
    program = start = _load(folder, "".join(_text(f"after{k}", body) for k, body in enumerate(bodies)))
    changed: list[int] = []
    for k in range(len(bodies)):
        step = Localize(next(iter(loop_names(_named(program, f"after{k}")).values())))
        if isinstance(step.check(program, Facts.about(program, PolyOptions())), Proved):
            program = step.apply(program)
            free = [loop for loop, _ in loops(_named(program, f"after{k}").body) if not find_checked(loop)]
            changed += [k] if free else []
    return unit_text(start.units[0], program.units[0], NoWords()), changed


def _wrong(folder: Path, bodies: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return which bodies the step changed, and which of these do something else then."""
    after, changed = _rewritten(folder, bodies)
    calls = "".join(f'    if (differs(before{k}, after{k})) std::printf("{k} ");\n' for k in changed)
    before = "".join(_text(f"before{k}", bodies[k]) for k in changed)
    file = folder / "both.cpp"
    file.write_text(f"{after}{DRIVER % PARAMETERS}{before}int main()\n{{\n{calls}}}\n")
    made = ["g++", "-std=c++17", "-O1", "-fsanitize=address,undefined", "-D_GLIBCXX_SANITIZE_VECTOR=1", str(file)]
    subprocess.run([*made, "-o", str(folder / "both")], check=True)
    done = subprocess.run([str(folder / "both")], capture_output=True, text=True)
    return changed, [*map(int, done.stdout.split())] if done.returncode == 0 else changed


@pytest.mark.slow
def test_a_loop_and_its_original_do_the_same_and_throw_alike(tmp_path: Path) -> None:
    changed, wrong = _wrong(tmp_path, PORTED)
    assert changed == [*range(len(PORTED))]
    assert wrong == []


def test_what_has_no_test_before_the_loop_stays(tmp_path: Path) -> None:
    for body, reason in STAY.items():
        program = _load(tmp_path, _text("f", body))
        address = next(iter(loop_names(_named(program, "f")).values()))
        step, facts = Localize(address), Facts.about(program, PolyOptions())
        verdict = step.check(program, facts)
        if isinstance(verdict, Unknown):
            assert any(reason in r.text for r in verdict.reasons), (body, verdict.reasons)
        else:
            assert not reason
            assert all(
                find_checked(loop) for loop, around in loops(_named(step.apply(program), "f").body) if not around
            )


def _random_body(rng: random.Random) -> str:
    """Return a nest with calls of `at` at subscripts that are in range for some sizes."""
    plain = ["i", "i + m", "i - 1", "n - i", "2 * i", "i + 1", "m", "n - 1 - i", "3 * i + m"]
    nested = [*plain, "j", "i + j", "i * m + j", "j * n + i", "i - j", "j + 2"]
    deep = rng.random() < 0.4
    chosen = nested if deep else plain
    elements = [f"{rng.choice(['v', 'w', 'bag.v', 'a'])}.at({rng.choice(chosen)})" for _ in range(3)]
    body = f"{elements[0]} {rng.choice(['=', '+='])} {elements[1]} + 1;"
    if rng.random() < 0.3:
        body = f"if ({rng.choice(['i < m', 'i > 2', 'n > m', 'w[0] > i'])}) {body} else {elements[2]} = i;"
    if deep:
        body = f"for (int j = {rng.choice(['0', 'i'])}; j < {rng.choice(['m', 'n', '4', 'i'])}; j++) {body}"
    kind = rng.choice(["int", "int", "long", "size_t", "unsigned"])
    signed = [("0", "n"), ("0", "m"), ("m", "n"), ("-1", "n")] if kind in ("int", "long") else []
    low, high = rng.choice([("1", "9"), ("0", "v.size()"), *signed])
    return f"for ({kind} i = {low}; i < {high}; i++) {body}"


# as many as the bugs below need
_SEEDS = 24


@pytest.mark.slow
def test_random_loops_do_the_same(tmp_path: Path) -> None:
    changed, wrong = _wrong(tmp_path, [_random_body(random.Random(seed)) for seed in range(_SEEDS)])
    assert len(changed) > _SEEDS // 3
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["no test", "too large by one", "negative"])
def test_seeded_bugs_are_found(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = checked_subscripts._bound

    def wrong(region: object, state: object, probe: object) -> Reason | None:
        ends = state.require_on  # type: ignore[attr-defined]

        def require(path: object, values: tuple[object, ...], *rest: object, **more: object) -> bool:
            if bug == "no test":
                return True
            low, high = values
            given = (low.shift(1), high.shift(1)) if bug == "too large by one" else (high,)  # type: ignore[attr-defined]
            return bool(ends(path, given, *rest, **more))

        monkeypatch.setattr(type(state), "require_on", lambda self, *a, **k: require(*a, **k))
        try:
            return bound(region, state, probe)  # type: ignore[arg-type]
        finally:
            monkeypatch.undo()
            monkeypatch.setattr(checked_subscripts, "_bound", wrong)

    monkeypatch.setattr(checked_subscripts, "_bound", wrong)
    _, found = _wrong(tmp_path, [_random_body(random.Random(seed)) for seed in range(_SEEDS)])
    assert found
