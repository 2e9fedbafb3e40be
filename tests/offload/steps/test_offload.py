"""Offload: only a loop whose iterations may run at once becomes a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import GRID, NEXT, SUM, answer, decided, refused
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.offload.steps.offload import Offload


def test_a_carried_dependence_is_shown(tmp_path: Path) -> None:
    verdict = answer(NEXT, Offload("f/i"), tmp_path)
    assert isinstance(verdict, Refuted)
    assert verdict.reasons[0].dependence is not None
    assert verdict.reasons[0].dependence.carried_by == "f/i"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("void f(double *a) { int i = 0; while (a[i] > 0) { a[i] = 0; i++; } }", "STP002"),
        ("void f(int n, int *a, int *k) { for (int i = 0; i < n; i++) a[k[i]] = i; }", "POR005"),
        ("int g(int); void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = g(i); }", "POR006"),
    ],
)
def test_what_is_not_known_to_run_at_once_stays(text: str, rule: str, tmp_path: Path) -> None:
    assert refused(text, Offload("f/while" if "while" in text else "f/i"), tmp_path).rule == rule


def test_an_associative_update_may_run_at_once(tmp_path: Path) -> None:
    assert isinstance(answer(SUM, Offload("f/i"), tmp_path), Proved)
    # in one iteration out of two it is none
    used = SUM.replace("s += a[i];", "{ if (i % 2) s += a[i]; else s = a[i] * s + 1; }")
    assert not isinstance(answer(used, Offload("f/i"), tmp_path), Proved)


def test_what_the_verdict_rests_on_is_handed_on(tmp_path: Path) -> None:
    text = "void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
    verdict = answer(text, Offload("f/i"), tmp_path)
    assert isinstance(verdict, Proved)
    assert any("overlap" in assumption.text for assumption in verdict.assumptions)


def test_the_decision_is_noted(tmp_path: Path) -> None:
    (decision,) = decided(GRID, tmp_path, Offload("f/i/j"))
    assert (decision.loop, decision.kind, decision.function) == ("f/i/j", "device", "f")
