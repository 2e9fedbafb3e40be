"""Steps leave the blocks alone that declare types."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.local_types import find_moved_type
from warpsmith.loops.step import Step, check_step, rewrite_program
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.strip_mine import StripMine
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

TEXT = """
void twice(double *x, int i) {
    for (int k = 0; k < 1; k++) { struct r { double v; } s; s.v = x[i]; x[i] = 2 * s.v; }
}
void f(int n, double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) {
        struct p { double x; };
        struct p q = {a[i]};
        a[i] = q.x + 1;
        b[i] = 2;
    }
    for (int i = 0; i < n; i++) { a[i] = 0; b[i] = 1; }
    for (int i = 0; i < n; i++) twice(a, i);
}
"""


@pytest.mark.parametrize(
    ("step", "stop"),
    [
        (StripMine("f/i", size=4), ""),
        (Unroll("f/i", factor=2), "struct p"),
        (Unroll("f/i#2", factor=2), ""),
        (Distribute("f/i#2"), ""),
        (Inline("f/i#3", function="twice"), "struct r"),
    ],
)
def test_a_step_that_would_change_such_a_block_is_refused(step: Step, stop: str, tmp_path: Path) -> None:
    program = load(TEXT, tmp_path)
    facts = analyze(program, PolyOptions())
    assert isinstance(step.check(program, facts), Proved)
    verdict = check_step(step, program, facts)
    if not stop:
        assert isinstance(verdict, Proved)
        return
    assert isinstance(verdict, Unknown)
    (reason,) = verdict.reasons
    assert reason.text == f"a type is declared in the loop, and steps do not move those: {stop}"
    assert find_moved_type(program, rewrite_program(step, program)) is not None


def test_a_program_that_stays_moves_nothing(tmp_path: Path) -> None:
    program = load(TEXT, tmp_path)
    assert find_moved_type(program, program) is None
