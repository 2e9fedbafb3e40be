"""Guards leave room for the loops: sizes are found that meet them, and what never holds is found out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.poly.programs import function, load
from warpsmith.base.verdict import Proved
from warpsmith.poly.analyze import analyze
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions, reading
from warpsmith.poly.regions.satisfiable import guard_sample, is_always_positive
from warpsmith.poly.regions.sections import SHARE
from warpsmith.tree.nodes import For, If
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import walk


def sizes_for(condition: str, loops: str, directory: Path) -> Mapping[str, int] | None:
    """Return sizes at which a condition holds and the loops run long."""
    text = f"void f(double *a, int n, int m, int mode) {{ if ({condition}) {{ a[0] = 1; }} {loops} }}"
    program = load(text, directory)
    f = function(program, "f")
    first = f.body.statements[0]
    assert isinstance(first, If)
    guard = Assumption(condition, "guarded", first.condition)
    return guard_sample(program, f, f.body.statements[1:], (guard,), PolyOptions()).sizes


@pytest.mark.parametrize(
    ("condition", "sizes"),
    [
        ("n >= 1 && m >= 1", {"n": 1000, "m": 1000}),
        ("n < m", {"n": 1000, "m": 1001}),
        ("n < m && m < n", None),
        ("n <= 1", None),
        ("n <= 1 || m >= 5", {"n": 1000, "m": 1000}),
        ("(long long)n*n <= n", None),
        ("(long long)n*m <= m", None),
        ("(long long)n*m >= 2000000", {"n": 2000, "m": 1000}),
        ("(long long)n*n == (long long)m*m && n != m", None),
        ("m >= 1500000000", None),
    ],
)
def test_sizes_that_meet_a_guard(condition: str, sizes: dict[str, int] | None, tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; i++) a[i] = 0; for (int j = 0; j < m; j++) a[j] = 1;"
    assert sizes_for(condition, loops, tmp_path) == sizes


def test_a_loop_that_is_always_short_asks_for_no_more(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < 4; i++) for (int j = i; j < 4; j++) a[i*n + j] = 0;"
    assert sizes_for("n == 3", loops, tmp_path) == {"n": 3}


def test_branches_of_one_condition_are_not_asked_to_run_both(tmp_path: Path) -> None:
    loops = """if (mode == 1) { for (int i = 0; i < n; i++) a[i] = 0; }
      else { for (int i = 0; i < n; i++) a[i] = 1; }"""
    found = sizes_for("m >= 1", loops, tmp_path)
    assert found is not None and found["n"] == 1000


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        # a leading dimension: natural sizes
        ("void f(double *a, int n, int m, int k) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
         " a[i*k + j] = 1; }", ["m <= k"]),
        # the loop over j ends for n <= 255 only, which is no reason to doubt the guard
        ("void f(double *a, int n, int w) { for (int i = 0; i < n; i++) for (unsigned char j = 0; j < n; j++)"
         " a[i*w + j] = 1; }", ["n <= 255", "n <= w"]),
        # j runs over all rows, whatever i is: what made it parallel would leave the loop one iteration
        ("void f(double *a, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n*n; j++)"
         " a[i*n + j] = 1; }", None),
    ],
)  # fmt: skip
def test_verdicts_rest_on_guards_that_leave_room(text: str, guards: list[str] | None, tmp_path: Path) -> None:
    verdict = analyze(load(text, tmp_path), PolyOptions()).functions[0].loops[0].verdict
    assert (sorted(a.text for a in verdict.assumptions) if isinstance(verdict, Proved) else None) == guards


def test_statements_that_hold_too_much_are_not_read(tmp_path: Path) -> None:
    text = "void f(double *a, int n) { if (n < 1) { a[0] = 1; } for (int i = 0; i < n; i++) a[i] = 0; }"
    program = load(text, tmp_path)
    f = function(program, "f")
    first, loop = f.body.statements
    assert isinstance(first, If)
    guard = Assumption("n < 1", "guarded", first.condition)
    enough = reading(loop) * SHARE
    assert guard_sample(program, f, (loop,), (guard,), PolyOptions(max_nodes=enough)).sizes is None
    assert guard_sample(program, f, (loop,), (guard,), PolyOptions(max_nodes=enough - 1)).sizes == {}


@pytest.mark.parametrize(
    ("head", "value", "known"),
    [
        ("for (int j = m; j > 0; j /= 2)", "j", True),
        ("for (int j = m; j > 0; j /= 2)", "2 * j", True),
        ("for (int j = m; j > 0; j /= 2)", "j - 1", False),
        ("for (int j = m; j >= 0; j /= 2)", "j", False),
        ("for (int j = 1; j < n; j *= 2)", "j", False),
        ("for (int j = 3; j < n; j++)", "j - 2", True),
        ("if (n > 4)", "n", True),
        ("if (n > 4)", "a[0]", False),
        ("", "7", True),
    ],
)
def test_values_that_are_positive_at_a_loop(head: str, value: str, known: bool, tmp_path: Path) -> None:
    program = load(
        f"void f(double *a, int n, int m) {{ {head} for (int i = {value}; i < n; i++) a[i] = 0; }}", tmp_path
    )
    f = function(program, "f")
    loop = next(node for node in walk(f.body) if isinstance(node, For) and node.variable.name == "i")
    summaries = Summaries.of(program)
    assert is_always_positive(f, loop, loop.lower, PolyOptions(), summaries) == known
    tight = PolyOptions(max_operations=4)
    assert not ("/ 2" in head and is_always_positive(f, loop, loop.lower, tight, Summaries.of(program)))
    assert not is_always_positive(f, loop, loop.lower, PolyOptions(max_nodes=4), summaries)
