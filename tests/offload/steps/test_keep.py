"""Keep: any loop may stay on the host, and what was decided before is decided anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import GRID, NEXT, answer, decided
from warpsmith.base.errors import WarpsmithError
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.offload import Offload

WHILE = "void f(double *a) { int i = 0; while (a[i] > 0) i++; a[i] = 1; }"


@pytest.mark.parametrize(("text", "loop"), [(GRID, "f/i"), (GRID, "f/i/j"), (NEXT, "f/i"), (WHILE, "f/while")])
def test_any_loop_may_stay(text: str, loop: str, tmp_path: Path) -> None:
    assert answer(text, Keep(loop), tmp_path) == Proved()
    (decision,) = decided(text, tmp_path, Keep(loop))
    assert (decision.loop, decision.kind) == (loop, "host")


def test_a_loop_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(WarpsmithError, match="f/k"):
        answer(GRID, Keep("f/k"), tmp_path)


def test_the_last_decision_about_a_loop_counts(tmp_path: Path) -> None:
    kinds = [(d.loop, d.kind) for d in decided(GRID, tmp_path, Offload("f/i"), Keep("f/i"))]
    assert kinds == [("f/i", "host")]
    both = [(d.loop, d.kind) for d in decided(GRID, tmp_path, Keep("f/i"), Offload("f/i/j"))]
    assert both == [("f/i", "host"), ("f/i/j", "device")]
