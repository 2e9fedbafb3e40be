"""A program whose loops are right on a device only where blocks of memory are apart, which they are not always."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.loops import linear
from warpsmith.loops.analysis import invariant_guards
from warpsmith.poly.aliasing import aliasing

PROGRAM = Path(__file__).with_name("allocations_hostile.c")
HOT = ("tally", "push", "backwards")


def _ported() -> PortResult:
    return port([str(PROGRAM)], PortOptions())


def _functions(result: PortResult) -> set[str]:
    return {fragment.function.symbol.name for fragment in (result.plan.fragments if result.plan else ())}


@pytest.mark.slow
def test_what_they_do_stays_the_same() -> None:
    result = _ported()
    assert set(HOT) <= _functions(result)
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
@pytest.mark.parametrize("where", [invariant_guards, aliasing], ids=["bounds", "pointers"])
def test_guards_that_are_always_true_are_caught(where: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, "blocks_apart", lambda function, one, other, span: linear.number(1, span))
    result = _ported()
    assert result.verification is None or result.verification.status != "pass"
