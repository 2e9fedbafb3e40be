"""Which single step makes a refused one legal: every answer is tried here again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.cases import TWO, prepared
from warpsmith.base.verdict import Proved
from warpsmith.catalogue import make
from warpsmith.loops.step import rewrite_program, step_text
from warpsmith.recipes import enabling
from warpsmith.recipes.enabling import enabling_steps

SEQUENCE = """void f(int n, int m, double a[n][m])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 0.5 * a[i - 1][j];
}
"""
SHARED = """void f(int n, double *restrict a, double *restrict b)
{
    double t[4];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++)
            t[k] = a[i];
        b[i] = t[0] + t[3];
    }
}
"""


def test_each_answer_makes_the_refused_step_legal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = prepared(tmp_path, SHARED).facts
    refused = make("offload", {"loop": "f/i"})
    answers = enabling_steps(facts, refused)
    assert 1 <= len(answers) <= 4, "each iteration may have its own t"
    for answer in answers:
        assert isinstance(answer.step.check(facts.program, facts), Proved)
        program = rewrite_program(answer.step, facts.program)
        assert isinstance(answer.then.check(program, facts.after(program)), Proved)
        assert answer.then.name == "offload"
    assert len({step_text(answer.step) for answer in answers}) == len(answers)
    # the effort is bounded by a number of checks
    monkeypatch.setattr(enabling, "MOST_TRIES", 0)
    assert enabling_steps(facts, refused) == ()


def test_the_refused_step_is_asked_of_its_loop_wherever_it_went(tmp_path: Path) -> None:
    facts = prepared(tmp_path, SEQUENCE).facts
    answers = enabling_steps(facts, make("keep", {"loop": "f/i"}))
    assert answers and all(answer.then.name == "keep" for answer in answers)
    assert {str(getattr(answer.then, "loop", "")) for answer in answers} <= {"f/i", "f/j/i", "f/i/j", "f/j"}


def test_no_step_helps_values_in_a_fixed_order(tmp_path: Path) -> None:
    facts = prepared(tmp_path, TWO).facts
    assert enabling_steps(facts, make("offload", {"loop": "f/i#2"})) == ()


def test_a_loop_that_is_not_there(tmp_path: Path) -> None:
    facts = prepared(tmp_path, TWO).facts
    assert enabling_steps(facts, make("offload", {"loop": "f/k"})) == ()
