"""Steps that place loops, asked about one C text."""

from __future__ import annotations

from pathlib import Path

from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Reason, Verdict
from warpsmith.loops.step import Step
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Decision

SUM = "double f(int n, double *a) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
NEXT = "void f(int n, double *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1] * a[i - 1] + 1; }"
GRID = (
    "void f(int n, int m, double (*restrict a)[64], double *restrict x) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = x[j]; }"
)


def answer(text: str, step: Step, folder: Path) -> Verdict:
    program = load(text, folder)
    return step.check(program, Facts.about(program, PolyOptions()))


def refused(text: str, step: Step, folder: Path) -> Reason:
    """Return why a step is refused."""
    verdict = answer(text, step, folder)
    assert not isinstance(verdict, Proved)
    return verdict.reasons[0]


def decided(text: str, folder: Path, *steps: Step) -> tuple[Decision, ...]:
    """Return what steps, all of them Proved, note in the program, whose text they leave alone."""
    program = load(text, folder)
    for step in steps:
        assert isinstance(step.check(program, Facts.about(program, PolyOptions())), Proved)
        after = step.apply(program)
        assert after.units == program.units
        program = after
    return program.decisions
