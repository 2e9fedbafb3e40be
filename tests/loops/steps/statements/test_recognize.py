"""recognize-reduction and recognize-scan: what they claim, what they rewrite, what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def applied(step: RecognizeReduction | RecognizeScan, body: str, folder: Path, result: str = "s") -> str | None:
    """Return the function as the step makes it, on one line; None where the step is refused."""
    program = load(f"{HEAD} {body} }} return {result}; }}", folder)
    verdict = step.check(program, Facts.about(program, PolyOptions()))
    if isinstance(verdict, Unknown):
        assert verdict.reasons[0].rule == "STP002" and verdict.reasons[0].text
        return None
    assert isinstance(verdict, Proved)
    (function,) = step.apply(program).units[0].functions
    return " ".join(print_stmt(function.body).split())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = s; t = t + a[i]; s = t;", "{ s = s + a[i]; }"),
        ("double x = s * a[i]; s = x;", "{ s = s * a[i]; }"),
        ("b[i] = 1; t = s - a[i]; t -= 2; s = t;", "{ b[i] = 1; s = s - a[i] - 2; }"),
        ("s += a[i];", "{ s += a[i]; }"),
        ("t = s + a[i]; a[i] = 0; s = t;", "{ t = s + a[i]; a[i] = 0; s = t; }"),
    ],
)
def test_reductions_are_written_plainly(body: str, expected: str, tmp_path: Path) -> None:
    found = applied(RecognizeReduction("f/i"), body, tmp_path)
    assert found is not None and expected in found


@pytest.mark.parametrize(
    "body", ["s = a[i] - s;", "s += a[i]; b[i] = s;", "b[i] = a[i];", "s += a[i]; if (s > 3) t += 1;"]
)
def test_what_is_no_reduction_is_refused(body: str, tmp_path: Path) -> None:
    assert applied(RecognizeReduction("f/i"), body, tmp_path) is None


def test_a_temporary_that_is_read_later_stays(tmp_path: Path) -> None:
    assert applied(RecognizeReduction("f/i"), "t = s; t = t + a[i]; s = t;", tmp_path, "s + t") is None
    assert applied(RecognizeScan("f/i"), "t = s + a[i]; b[i] = t; s = t;", tmp_path, "s + t") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = s + a[i]; b[i] = t; s = t;", "{ s = s + a[i]; b[i] = s; }"),
        ("double x = s * a[i]; b[i] = 2 * x; s = x;", "{ s = s * a[i]; b[i] = 2 * s; }"),
        ("b[i] = s; s += a[i];", "{ b[i] = s; s += a[i]; }"),
    ],
)
def test_scans_are_written_plainly(body: str, expected: str, tmp_path: Path) -> None:
    found = applied(RecognizeScan("f/i"), body, tmp_path)
    assert found is not None and expected in found


@pytest.mark.parametrize(
    "body",
    [
        "t = s + a[i]; b[i] = s; s = t;",
        "t = s + a[i]; b[i] = t; s = t; t = 0;",
        "t = s + a[i]; if (a[i] < 0) continue; s = t;",
        "s += a[i];",
        "t = s * s; b[i] = t; s = t;",
        "a[i] = 2; s += a[i]; b[i] = s;",
    ],
)
def test_what_is_no_scan_is_refused(body: str, tmp_path: Path) -> None:
    assert applied(RecognizeScan("f/i"), body, tmp_path) is None
