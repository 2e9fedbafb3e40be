"""A skewed loop visits the same points in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.order.orders_run import applied, outputs, text_of
from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.loops.step import Step, check_step, rewrite_program
from warpsmith.loops.steps.order.skew import Skew
from warpsmith.loops.steps.order.tile import Tile
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

TEXT = """void f(int n, int *at, int log[2000])
{
    for (int i = 1; i < n; i++) {
        for (int j = n - 1; j > i - 3; j -= 2)
            log[(*at)++] = 100 * i + j;
        for (int j = 0; j <= i; j++)
            log[(*at)++] = -100 * i - j;
    }
}
"""

MAIN = """
int main(void)
{
    for (int n = -1; n < 12; n++) {
        int at = 0, log[2000];
        f(n, &at, log);
        for (int k = 0; k < at; k++)
            printf("%d ", log[k]);
        printf("\\n");
    }
    return 0;
}
"""


IN_PLACE = """void f(int n, int steps, double A[restrict n][n])
{
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                           + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
}
"""

IN_PLACE_MAIN = """
int main(void)
{
    for (int n = 0; n < 24; n += 3)
        for (int steps = -1; steps < 9; steps += 2) {
            double (*A)[n] = malloc(n * n * sizeof(double) + 1);
            for (int k = 0; k < n * n; k++)
                A[k / n][k % n] = k * k % 17;
            f(n, steps, A);
            for (int k = 0; k < n * n; k++)
                printf("%a ", A[k / n][k % n]);
        }
    return 0;
}
"""


@pytest.mark.parametrize("factor", [1, -1, 3])
@pytest.mark.parametrize("loop", ["f/i/j", "f/i/j#2"])
def test_same_order(loop: str, factor: int, tmp_path: Path) -> None:
    after = applied(TEXT, Skew(loop, "i", factor), tmp_path)
    assert "w" in text_of(after)
    assert outputs(text_of(after), MAIN, tmp_path, "after") == outputs(TEXT, MAIN, tmp_path, "before")


@pytest.mark.parametrize(
    ("step", "rule"),
    [(Skew("f/i"), "STP002"), (Skew("f/i/j", "k"), "STP003"), (Skew("f/i/j", "i", 0), "STP003")],
)
def test_refusals(step: Skew, rule: str, tmp_path: Path) -> None:
    program = load(TEXT, tmp_path)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].rule == rule


def test_three_loops_are_skewed_and_then_tiled(tmp_path: Path) -> None:
    steps: tuple[Step, ...] = Skew("f/t/i", "t"), Skew("f/t/w/j", "t"), Skew("f/t/w/w2", "w"), Tile("f/t", (4, 5, 6))
    program = load(IN_PLACE, tmp_path)
    facts = Facts.about(program, PolyOptions())
    # as it stands, and with one skew too few, tiles would turn dependences around
    assert isinstance(steps[-1].check(program, facts), Refuted)
    for number, step in enumerate(steps):
        assert isinstance(check_step(step, facts.program, facts), Proved), step
        if number == 2:
            assert isinstance(check_step(steps[-1], facts.program, facts), Refuted)
        facts = facts.after(rewrite_program(step, facts.program))
    text = text_of(facts.program)
    assert text.count("for (") == 6
    assert outputs(text, IN_PLACE_MAIN, tmp_path, "after") == outputs(IN_PLACE, IN_PLACE_MAIN, tmp_path, "before")
