"""Nests made perfect: what is refused and why, and statements that run in one turn of the inner loop only."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Misfits, one, wrongly_answered
from tests.loops.steps.twins import Steps, stepped
from warpsmith.base.verdict import Proved
from warpsmith.loops.steps.statements.nest import Nest

NESTED = "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < m; j++) x[i] += a[i][j]; }"
MISFITS: Misfits = {
    "an inner loop that may not run": ("may not run at all", (NESTED, lambda f: Nest(f"{f}/i"))),
    "no inner loop": ("0 counted loops", ("for (int i = 0; i < n; i++) x[i] += 1;", lambda f: Nest(f"{f}/i"))),
    "a declaration between the loops": (
        "is declared between",
        (NESTED.replace("x[i] = 0;", "double s = x[i];"), lambda f: Nest(f"{f}/i")),
    ),
    "the inner counter beside its loop": (
        "uses j",
        (
            "int j; for (int i = 0; i < n; i++) { for (j = 0; j < n; j++) a[i][j] = 1; x[i] = j; }",
            lambda f: Nest(f"{f}/i"),
        ),
    ),
    "an iteration that is left early": (
        "left early",
        (
            NESTED.replace("x[i] +=", "if (a[i][j] > 9) break; else x[i] +="),
            lambda f: Nest(f"{f}/i"),
        ),
    ),
    "a bound that a statement changes": (
        "changes a bound",
        (
            "int q = n; for (int i = 0; i < n; i++) { for (int j = 0; j < q; j++) a[i][j] = 1; q = i + 1; }",
            lambda f: Nest(f"{f}/i"),
        ),
    ),
}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


def test_the_inner_loop_runs_because_the_outer_one_does(tmp_path: Path) -> None:
    for bound in ("n", "i + 1", "n + 2"):
        body = NESTED.replace("j < m", f"j < {bound}")
        assert isinstance(one(body, tmp_path).check(Nest("F/i")), Proved), bound


SAME: tuple[tuple[str, Steps], ...] = (
    (NESTED.replace("j < m", "j <= i"), lambda f: (Nest(f"{f}/i"),)),
    (
        "for (int i = 0; i < n; i++) { y[i] = i; for (int j = n; j > i; j--) x[i] += a[i][j]; x[i] *= y[i]; }",
        lambda f: (Nest(f"{f}/i"),),
    ),
)


def test_perfect_nests_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path) == []
