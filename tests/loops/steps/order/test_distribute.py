"""Distribution: the finest legal grouping, what blocks it, and what becomes parallel."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import Asked, one, verdicts
from warpsmith.base.verdict import Refuted
from warpsmith.loops.place import LoopContext
from warpsmith.loops.steps.order.distribute import Distribute

REFUSALS: dict[str, Asked] = {
    "one statement": ("for (int i = 0; i < n; i++) x[i] = 1;", lambda f: Distribute(f"{f}/i")),
    "a declared scalar": (
        "for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t; }",
        lambda f: Distribute(f"{f}/i"),
    ),
    "a continue": (
        "for (int i = 0; i < n; i++) { if (x[i] > 1) continue; y[i] = 1; x[i] = 2; }",
        lambda f: Distribute(f"{f}/i"),
    ),
    "a first value that a piece writes": (
        "int q = 0; for (int i = q; i < n; i++) { q = 3; y[i] = 1; }",
        lambda f: Distribute(f"{f}/i"),
    ),
    "positions that fall": (
        "for (int i = 0; i < n; i++) { x[i] = 1; y[i] = 2; a[i][0] = 3; }",
        lambda f: Distribute(f"{f}/i", (2, 1)),
    ),
    "an order that leaves one out": (
        "for (int i = 0; i < n; i++) { x[i] = 1; y[i] = 2; }",
        lambda f: Distribute(f"{f}/i", (1,), (0, 0)),
    ),
}


def test_what_does_not_fit_is_unknown_with_a_reason(tmp_path: Path) -> None:
    found = verdicts(REFUSALS, tmp_path)
    rules = {case: rule for case, (rule, _, _) in found.items()}
    assert rules.pop("positions that fall") == rules.pop("an order that leaves one out") == "STP003"
    assert set(rules.values()) == {"STP002"}, rules
    verdict = found["a declared scalar"][2]
    assert not isinstance(verdict, Refuted) and "variable=t" in str(verdict)


def test_s2244_is_two_parallel_loops(tmp_path: Path) -> None:
    stand = one("for (int i = 0; i < n; i++) { x[i + 1] = y[i] + a[0][i]; x[i] = y[i] + b[0][i]; }", tmp_path)
    assert stand.loops()["F/i"].category != "parallel"
    assert isinstance(stand.check(Distribute("F/i", (1,), (1, 0))), Refuted)
    step = Distribute("F/i").complete(stand.program, stand.facts)
    assert step == Distribute("F/i", (1,))
    assert {facts.category for facts in stand.proved(step).loops().values()} == {"parallel"}


def test_a_scalar_between_the_pieces_asks_for_its_expansion(tmp_path: Path) -> None:
    verdict = one("double t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t; }", tmp_path).check(Distribute("F/i"))
    assert isinstance(verdict, Refuted)
    assert verdict.reasons[0].legal_if == ("expand=F/i,variable=t",)


def test_a_sum_between_the_pieces_does_not(tmp_path: Path) -> None:
    verdict = one("double t = 0; for (int i = 0; i < n; i++) { t += x[i]; y[i] = t; }", tmp_path).check(
        Distribute("F/i")
    )
    assert isinstance(verdict, Refuted)
    # Expanding t would lose the value that flows from one iteration to the next.
    assert verdict.reasons[0].legal_if == ()


def test_pieces_are_put_in_an_order_that_works(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) { x[i] = y[i - 1]; y[i] = a[0][i]; b[i][0] = b[i - 1][0] + x[i]; }"
    stand = one(body, tmp_path)
    step = Distribute("F/i").complete(stand.program, stand.facts)
    assert step == Distribute("F/i", (1, 2), (1, 0, 2))
    assert stand.proved(step).loops()["F/i#2"].category == "parallel"


def test_a_cycle_stays_together(tmp_path: Path) -> None:
    stand = one("for (int i = 1; i < n; i++) { x[i] = y[i - 1]; y[i] = x[i]; a[i][0] = x[i]; }", tmp_path)
    step = Distribute("F/i").complete(stand.program, stand.facts)
    assert step == Distribute("F/i", (2,))


def test_each_piece_has_its_own_counter_and_declarations(tmp_path: Path) -> None:
    stand = one("for (int i = 0; i < n; i++) { double s, t; s = x[i]; y[i] = s; t = x[i]; a[0][i] = t; }", tmp_path)
    after = stand.proved(Distribute("F/i", (3,)))
    first, second = (LoopContext.of(after.program, address).require_counted() for address in ("F/i", "F/i#2"))
    assert first.variable != second.variable and first.variable.name == second.variable.name
    assert len(after.loops()) == 2
