"""Functions around one loop over `s` and `t`, as the steps that recognize updates make them."""

from __future__ import annotations

from pathlib import Path

from tests.poly.programs import load
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.steps.statements.recognize_reduction import RecognizeReduction
from warpsmith.loops.steps.statements.recognize_scan import RecognizeScan
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.printing.printer import print_stmt

HEAD = (
    "double f(int n, double *restrict a, double *restrict b) { double s = 0.0, t = 0.0; for (int i = 0; i < n; i++) {"
)


def recognized(step: RecognizeReduction | RecognizeScan, body: str, folder: Path, result: str = "s") -> str | None:
    """Return the function as the step makes it, on one line; None where the step is refused."""
    program = load(f"{HEAD} {body} }} return {result}; }}", folder)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    if isinstance(verdict, Unknown):
        assert verdict.reasons[0].rule == "STP002" and verdict.reasons[0].text
        return None
    assert isinstance(verdict, Proved)
    (function,) = step.apply(program).units[0].functions
    return " ".join(print_stmt(function.body).split())
