"""The arms of branches and of switches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.front.conftest import Load, function
from warpsmith.front.c.jumps.branches import BranchArm, arms_of
from warpsmith.front.c.jumps.runs import NotNestedError, completes, find_targets
from warpsmith.tree.nodes import Stmt


def _exits(statements: Sequence[Stmt]) -> frozenset[int]:
    """Return the positions of A, B and C, which are 0, 1 and 2."""
    targets = frozenset(find_targets(statements))
    return frozenset({"ABC".index(t) for t in targets} | ({0} if completes(statements, targets) else set()))


def _arms(load: Load, text: str) -> list[BranchArm]:
    body = function(load(f"void f(int n, int *a) {{ {text} A: n--; B: n++; C: ; goto A; goto B; goto C; }}")).body
    return arms_of(body.statements[0], _exits)


def test_an_if_has_two_arms(load: Load) -> None:
    first, second = _arms(load, "if (n) { n++; goto B; } else a[0] = 1;")
    assert (len(first.statements), first.exits) == (2, frozenset({1}))
    assert (len(second.statements), second.exits) == (1, frozenset({0}))
    assert _arms(load, "if (n) goto C;")[1] == BranchArm((), frozenset({0}))


def test_cases_that_only_go_to_one_place_are_one_arm(load: Load) -> None:
    arms = _arms(load, "switch (n) { case 1: goto A; case 2: goto B; case 3: n = 2; break; case 4: goto B; }")
    assert [(sorted(arm.exits), len(arm.labels), len(arm.statements)) for arm in arms] == [
        ([0], 2, 0),
        ([1], 2, 0),
        ([0], 1, 1),
    ]
    assert arms[0].labels[1] is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("switch (n) { case 1: n = 1; case 2: goto A; }", "falls into the next"),
        ("switch (n) { case 1: if (n) break; goto A; }", "break inside another statement"),
        ("{ n++; if (n) goto A; }", "out of a block"),
    ],
)
def test_what_is_not_taken_apart(load: Load, text: str, why: str) -> None:
    with pytest.raises(NotNestedError, match=why):
        _arms(load, text)


def test_a_break_of_a_loop_in_a_case_is_its_own(load: Load) -> None:
    arms = _arms(load, "switch (n) { case 1: while (n) { break; } goto A; default: goto B; }")
    assert [set(arm.exits) for arm in arms] == [{0}, {1}]
