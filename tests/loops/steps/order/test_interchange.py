"""Interchange: what is refused and why, and what it makes parallel."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Asked, one, verdicts
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.interchange import Interchange

NEST = "for (int j = 0; j < m; j++) a[i][j] = 1;"
REFUSALS: dict[str, Asked] = {
    "a statement between the loops": (
        f"for (int i = 0; i < n; i++) {{ x[i] = 0; {NEST} }}",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a bound in memory": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < (int)x[0]; j++) a[i][j] = 1;",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a bound that the body writes": (
        "int q = 0; for (int i = 0; i < n; i++) for (int j = q; j < m; j++) { a[i][j] = 1; q = j; }",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a counter that lives on": (
        f"int i; for (i = 0; i < n; i++) {NEST} x[i] = 1;",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a break": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { if (a[i][j] > 3) break; a[i][j] = 1; }",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a pragma": (
        f"\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) {NEST}",
        lambda f: Interchange(f"{f}/i"),
    ),
    "an order that names other loops": (
        f"for (int i = 0; i < n; i++) {NEST}",
        lambda f: Interchange(f"{f}/i", ("j", "q")),
    ),
    "a step other than one under a triangle": (
        "for (int i = 0; i < n; i += 2) for (int j = i; j < m; j++) a[i][j] = 1;",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a counter that hides a bound": (
        "for (int i = 0; i < n; i++) for (int n = 0; n < m; n++) a[i][n] = 1;",
        lambda f: Interchange(f"{f}/i"),
    ),
    "a while loop": ("int i = 0; while (i < n) i++;", lambda f: Interchange(f"{f}/while")),
}


def test_what_does_not_fit_is_unknown_with_a_reason(tmp_path: Path) -> None:
    found = verdicts(REFUSALS, tmp_path)
    rules = {case: rule for case, (rule, _, _) in found.items()}
    assert rules.pop("an order that names other loops") == "STP003"
    assert set(rules.values()) == {"STP002"}, rules
    assert "read after its loop" in found["a counter that lives on"][1]
    assert "left early" in found["a break"][1]
    assert "pragma" in found["a pragma"][1]
    assert "another variable" in found["a counter that hides a bound"][1]


def test_the_first_loop_may_have_any_bounds_where_it_stays(tmp_path: Path) -> None:
    nest = "for (int j = 0; j < n; j++) for (int l = j; l < m; l++) a[j][l] = 1;"
    stand = one(f"for (int i = (int)x[0]; i < m; i++) {nest}", tmp_path)
    assert isinstance(stand.check(Interchange("F/i")), Unknown)
    assert isinstance(stand.check(Interchange("F/i", ("i", "l", "j"))), Proved)
    changed = one(f"int q = 0; for (int i = q; i < m; i++) {nest.replace('a[j][l] = 1', 'q = a[j][l] = 1')}", tmp_path)
    assert isinstance(changed.check(Interchange("F/i", ("i", "l", "j"))), Unknown)


def test_a_dependence_that_would_turn_around_is_named(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i - 1][j + 1];"
    verdict = one(body, tmp_path).check(Interchange("F/i"))
    assert isinstance(verdict, Refuted)
    reason = verdict.reasons[0]
    assert reason.rule == "STP001" and reason.dependence is not None and reason.dependence.variable == "a"


def test_atax_gets_a_parallel_outer_loop(tmp_path: Path) -> None:
    body = (
        "for (int i = 0; i < m; i++) { x[i] = 0; for (int j = 0; j < n; j++) x[i] += a[i][j];"
        " for (int j = 0; j < n; j++) y[j] += a[i][j] * x[i]; }"
    )
    stand = one(body, tmp_path)
    assert stand.loops()["F/i"].category != "parallel"
    after = stand.proved(Distribute("F/i"), Interchange("F/i#3"))
    categories = {name: facts.category for name, facts in after.loops().items()}
    assert categories["F/i"] == categories["F/i#2"] == categories["F/j"] == "parallel", categories
