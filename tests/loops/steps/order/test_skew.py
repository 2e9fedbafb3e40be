"""A skewed loop visits the same points in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.order.orders_run import applied, outputs, text_of
from tests.poly.programs import load
from warpsmith.base.verdict import Unknown
from warpsmith.loops.steps.order.skew import Skew
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
