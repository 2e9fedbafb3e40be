"""What is left to be tested before a launch."""

from __future__ import annotations

from pathlib import Path

from tests.offload.analyzed import analyzed
from warpsmith.offload.values.tested import find_tested
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.program import Assumption


def facts(text: str, folder: Path) -> tuple[LoopFacts, ...]:
    return analyzed(text, folder).request().facts.loops


def test_each_condition_is_tested_once(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    (loop,) = facts(text, tmp_path)
    tested = find_tested((loop, loop))
    assert [one.text for one in tested] == ["what is touched of b and of a does not overlap"] or len(tested) == 1
    assert find_tested((loop,), tested) == ()


def test_a_part_of_an_alternative_is_enough(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    (loop,) = facts(text, tmp_path)
    (whole,) = find_tested((loop,))
    condition = whole.condition
    parts = [part for part in (getattr(condition, "left", None), getattr(condition, "right", None)) if part is not None]
    assert parts
    known = [Assumption("a part", "guarded", part) for part in parts]
    assert any(find_tested((loop,), (one,)) == () for one in known)


def test_what_needs_no_test_has_none(tmp_path: Path) -> None:
    text = "void f(int n, double *restrict a, double *restrict b) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    assert find_tested(facts(text, tmp_path)) == ()
