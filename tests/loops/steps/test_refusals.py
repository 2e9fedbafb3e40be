"""What tile, strip-mine, unroll, peel, fuse, nest, reverse and shift refuse: the rule, and the words that matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import Asked, one, verdicts
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.peel import Peel
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.loops.steps.order.shift import Shift
from warpsmith.loops.steps.order.strip_mine import StripMine
from warpsmith.loops.steps.order.tile import Tile
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.statements.nest import Nest
from warpsmith.tree.nodes import If
from warpsmith.tree.walk import walk

LOOP = "for (int i = 0; i < n; i++) x[i] += 1;"
DOWN = "for (int i = n; i > 0; i--) x[i] += 1;"
LIVE = "int i; for (i = 0; i < n; i++) x[i] += 1; y[0] = i;"
NESTED = "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j < m; j++) x[i] += a[i][j]; }"

WRONG_VALUES: dict[str, Asked] = {
    "no sizes": (LOOP, lambda f: Tile(f"{f}/i", ())),
    "a size of one": (LOOP, lambda f: Tile(f"{f}/i", (1,))),
    "a strip of nothing": (LOOP, lambda f: StripMine(f"{f}/i", 0)),
    "a negative strip": (LOOP, lambda f: StripMine(f"{f}/i", -4)),
    "a factor of one": (LOOP, lambda f: Unroll(f"{f}/i", 1)),
    "a huge factor": (LOOP, lambda f: Unroll(f"{f}/i", 1000)),
    "nothing to peel": (LOOP, lambda f: Peel(f"{f}/i")),
    "two last ones": (LOOP, lambda f: Peel(f"{f}/i", 0, 2)),
    "no shift": (LOOP, lambda f: Shift(f"{f}/i", 0)),
}
MISFITS: dict[str, tuple[str, Asked]] = {
    "read after": ("is read after its loop", (LIVE, lambda f: StripMine(f"{f}/i", 4))),
    "unroll read after": ("is read after its loop", (LIVE, lambda f: Unroll(f"{f}/i", 4))),
    "shift read after": ("is read after its loop", (LIVE, lambda f: Shift(f"{f}/i", 4))),
    "more sizes than loops": ("2 sizes are given", (LOOP, lambda f: Tile(f"{f}/i", (4, 4)))),
    "unknown trips": ("is not a number", (LOOP, lambda f: Unroll(f"{f}/i", 0))),
    "many trips": ("runs 100 times", (LOOP.replace("n;", "100;"), lambda f: Unroll(f"{f}/i", 0))),
    "counting down": ("does not count up", (DOWN, lambda f: Unroll(f"{f}/i", 2))),
    "a bound of another sign": (
        "without conversions",
        ("for (unsigned i = 0; i < n; i++) x[i] += 1;", lambda f: StripMine(f"{f}/i", 4)),
    ),
    "a wide counter from anywhere": (
        "might overflow",
        ("for (long i = k; i < n; i++) x[i] += 1;", lambda f: StripMine(f"{f}/i", 4)),
    ),
    "no second loop": ("no counted loop stands directly behind", (LOOP, lambda f: Fuse(f"{f}/i"))),
    "another range": (
        "do not have the same range",
        (LOOP + " for (int j = 0; j < m; j++) y[j] = 1;", lambda f: Fuse(f"{f}/i")),
    ),
    "a statement between": (
        "no counted loop stands directly behind",
        (LOOP + " y[0] = 1; " + LOOP, lambda f: Fuse(f"{f}/i")),
    ),
    "an inner loop that may not run": ("may not run at all", (NESTED, lambda f: Nest(f"{f}/i"))),
    "no inner loop": ("0 counted loops", (LOOP, lambda f: Nest(f"{f}/i"))),
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
    "an unsigned reversal": (
        "in a signed type",
        ("for (unsigned i = 0; i < 9; i++) x[i] += 1;", lambda f: Reverse(f"{f}/i")),
    ),
    "reversing steps of two": ("count by one", (LOOP.replace("i++", "i += 2"), lambda f: Reverse(f"{f}/i"))),
    "a shift of what is not declared in the loop": (
        "might overflow",
        ("int i; for (i = 0; i < n; i++) x[i] += 1;", lambda f: Shift(f"{f}/i", 3)),
    ),
    "sizeof the counter": (
        "cannot be rewritten",
        ("for (int i = 0; i < 4; i++) x[i] = sizeof(i);", lambda f: Unroll(f"{f}/i", 0)),
    ),
    "an array measured by the counter": (
        "cannot be rewritten",
        ("for (int i = 1; i < 4; i++) { double t[i]; t[0] = 1; x[i] = t[0]; }", lambda f: Peel(f"{f}/i", 1)),
    ),
    "a bound that the body changes": (
        "may change the bound",
        ("int q = 0; for (int i = q; i < n; i++) { x[i] = 1; q = i; }", lambda f: Peel(f"{f}/i", 1)),
    ),
}


def test_wrong_values_are_stp003(tmp_path: Path) -> None:
    found = verdicts(WRONG_VALUES, tmp_path)
    assert {case: rule for case, (rule, _, _) in found.items()} == dict.fromkeys(WRONG_VALUES, "STP003")


def test_what_does_not_fit_is_stp002_and_says_why(tmp_path: Path) -> None:
    found = verdicts({case: asked for case, (_, asked) in MISFITS.items()}, tmp_path)
    wrong = {
        case: (rule, text)
        for case, (rule, text, _) in found.items()
        if rule != "STP002" or MISFITS[case][0] not in text
    }
    assert not wrong


ORDERS: dict[str, tuple[str, Step]] = {
    "tile": ("for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i - 1][j + 1];", Tile("F/i", (4, 4))),
    "fuse": (
        "for (int i = 0; i < n; i++) x[i] = y[i]; for (int i = 0; i < n; i++) y[i] = x[i + 1];",
        Fuse("F/i"),
    ),
    "reverse": ("for (int i = 0; i < 50; i++) x[i + 1] = x[i];", Reverse("F/i")),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_dependence_that_would_turn_around_is_shown(name: str, tmp_path: Path) -> None:
    body, step = ORDERS[name]
    verdict = one(body, tmp_path).check(step)
    assert isinstance(verdict, Refuted), verdict
    assert verdict.reasons[0].rule == "STP001" and verdict.reasons[0].dependence is not None


def test_skewed_dependences_allow_tiles(tmp_path: Path) -> None:
    body = "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] = a[i - 1][j - 1] + a[i][j - 1];"
    assert isinstance(one(body, tmp_path).check(Tile("F/i", (4, 4))), Proved)


def test_the_inner_loop_runs_because_the_outer_one_does(tmp_path: Path) -> None:
    for bound in ("n", "i + 1", "n + 2"):
        body = NESTED.replace("j < m", f"j < {bound}")
        assert isinstance(one(body, tmp_path).check(Nest("F/i")), Proved), bound


def test_reversal_needs_no_test_where_the_loops_around_show_that_it_runs(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += 1;"
    after = one(body, tmp_path).proved(Reverse("F/i/j"))
    assert not [part for part in walk(after.function.body) if isinstance(part, If)]
    alone = one("for (int i = 0; i < n; i++) x[i] += 1;", tmp_path).proved(Reverse("F/i"))
    assert [part for part in walk(alone.function.body) if isinstance(part, If)]
