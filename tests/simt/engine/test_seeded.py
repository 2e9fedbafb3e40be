"""Bugs that are put into the code generator are all found by comparing with the interpreter."""

from __future__ import annotations

import pytest

from tests.simt.engine.seeded import BUGS, Bug, shown

QUICK = 3


@pytest.mark.parametrize("bug", BUGS[3::3][:QUICK], ids=lambda bug: bug.what)
def test_a_bug_is_found(bug: Bug) -> None:
    assert shown(bug)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what)
def test_each_bug_is_found_and_its_kernel_is_right_without(bug: Bug) -> None:
    assert shown(bug)
    bug.against(bug.case())


def test_there_are_enough_bugs() -> None:
    assert len({bug.what for bug in BUGS}) >= 12
