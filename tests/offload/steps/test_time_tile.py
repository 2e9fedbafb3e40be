"""Time tile: what it says of loops, and what it makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, refused
from tests.poly.programs import load
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.time_tile import TimeTile
from warpsmith.tree.program import Assumption

LOOP = (
    "void f(int steps, int n, double B[restrict n][n], double A[restrict n][n], const double *restrict x) {"
    " for (int t = 0; t < steps; t++) {"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) B[i][j] = A[i - 1][j] + A[i][j + 1];"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) A[i][j] = B[i + 1][j] + B[i][j]; } }"
)


def test_two_stencils_may_be_passes(tmp_path: Path) -> None:
    for step in (TimeTile("f/t"), TimeTile("f/t", 1, 2), TimeTile("f/t", 3, 4)):
        assert isinstance(answer(LOOP, step, tmp_path), Proved)
    copied = LOOP.replace("A[i][j] = B[i + 1][j] + B[i][j]", "A[i][j] = B[i][j]")
    assert isinstance(answer(copied, TimeTile("f/t"), tmp_path), Proved)
    scaled = LOOP.replace("= A[i - 1][j]", "= x[j] * fabs(A[i - 1][j])").replace("void f", "double fabs(double);void f")
    assert isinstance(answer(scaled, TimeTile("f/t"), tmp_path), Proved)


OUTSIDE = re.sub(r"for \(int ([tij])", r"for (\1", LOOP).replace("{ for", "{ int t, i, j; for", 1)


def test_counters_may_be_declared_outside_where_nobody_reads_them_later(tmp_path: Path) -> None:
    assert "for (t = 0" in OUTSIDE and "for (j = 1" in OUTSIDE
    assert isinstance(answer(OUTSIDE, TimeTile("f/t"), tmp_path), Proved)
    for name in "tij":
        later = f"{OUTSIDE[:-1]} A[0][0] = {name}; }}"
        assert f"the counter {name} is read after its loop" in refused(later, TimeTile("f/t"), tmp_path).text
    shared = OUTSIDE.replace("{ int t, i, j;", "{ int t, j;").replace("void f", "int i; void f", 1)
    assert "the counter i may be read elsewhere" in refused(shared, TimeTile("f/t"), tmp_path).text


def test_what_the_nests_read_is_tested_to_be_apart_as_well(tmp_path: Path) -> None:
    # rows of 40: the nests are parallel for n <= 41, and read A[i][j + 1], which is in its row for n <= 40
    fixed = LOOP.replace("[restrict n][n]", "[40][40]")
    assert fixed.count("[40][40]") == 2
    verdict = answer(fixed, TimeTile("f/t"), tmp_path)
    assert isinstance(verdict, Proved)
    tested = {one.text for one in verdict.assumptions if isinstance(one, Assumption)}
    assert {"n <= 40", "what is touched of A and of B does not overlap"} <= tested


@pytest.mark.parametrize(
    ("iterations", "passes", "word"), [(0, 2, "0"), (9, 2, "9"), (1, 3, "3"), (1, 0, "0"), (2, 66, "66")]
)
def test_wrong_numbers_are_told(iterations: int, passes: int, word: str, tmp_path: Path) -> None:
    reason = refused(LOOP, TimeTile("f/t", iterations, passes), tmp_path)
    assert reason.rule == "STP003" and word in reason.text and reason.legal_if


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("B[i][j] = A[i - 1][j]", "B[i][j] = t + A[i - 1][j]", "the iterations read t"),
        ("B[i][j] = A[i - 1][j]", "B[i][j] += A[i - 1][j]", "more than one store"),
        ("A[i][j] = B[i + 1][j] + B[i][j]; }", "A[i][j] = B[i + 1][j] + B[i][j]; A[0][0] = 1; }", "two nests"),
        ("n - 1; j++) A[i][j]", "n - 2; j++) A[i][j]", "same values"),
        ("A[i][j] = B[i + 1][j]", "A[i][j - 1] = B[i + 1][j]", "by its counters as they are"),
        ("A[i][j] = B[i + 1][j] + B[i][j]", "A[i][j] = A[i][j] / 2", "writes what A[i][j] is"),
        ("= A[i - 1][j]", "= (x[j] > 3 ? A[i - 1][j] : 1)", "depends on data"),
        ("t = 0; t < steps; t++", "t = steps; t > 0; t--", "count up by one"),
        ("int t", "long t", "64 bits"),
        ("+ A[i][j + 1]", "+ A[j][i]", "by its counters moved by numbers"),
        ("double A[restrict", "float A[restrict", "not of one type"),
    ],
)  # fmt: skip
def test_what_cannot_be_passes_is_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert old in LOOP
    verdict = answer(LOOP.replace(old, new), TimeTile("f/t"), tmp_path)
    assert not isinstance(verdict, Proved) and why in verdict.reasons[0].text


def test_an_element_that_is_stored_at_another_distance_is_refused_with_it(tmp_path: Path) -> None:
    # behind the end of a row the next one begins
    rows = (
        "void f(int steps, int n, double *restrict B, double *restrict A) { for (int t = 0; t < steps; t++) {"
        " for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) B[i * 8 + j] = A[i * 8 + j] + A[i * 8 + j + 1];"
        " for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) A[i * 8 + j] = B[i * 8 + j]; } }"
    )
    text = refused(rows, TimeTile("f/t"), tmp_path).text
    assert "is written at a distance of 1 along i, -7 along j, not only of 0 along i, 1 along j" in text


def test_tiles_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    reason = refused(LOOP.replace("A[i][j + 1]", "A[i][j + 20]").replace("n - 1; j", "n - 20; j"),
                     TimeTile("f/t", 8, 2), tmp_path)  # fmt: skip
    assert reason.rule == "STP003" and "bytes of shared memory" in reason.text and reason.legal_if


def test_the_loop_is_cut_and_noted(tmp_path: Path) -> None:
    program = load(LOOP, tmp_path)
    after = TimeTile("f/t", 2, 4).apply(program)
    (decision,) = after.decisions
    assert (decision.kind, decision.loop, decision.width) == ("passes", "f/t_passes/t_in", 2)
    assert program.decisions == ()
