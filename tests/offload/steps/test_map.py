"""Map: which axes and blocks there are, and that every loop on an axis runs at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import GRID, NEXT, SUM, answer, decided, refused
from warpsmith.base.verdict import Proved
from warpsmith.offload.steps.map import Map


@pytest.mark.parametrize(
    ("axes", "block", "words"),
    [
        ((), (), "axes are x"),
        (("y",), (), "axes are x"),
        (("x", "x"), (), "axes are x"),
        (("x", "y", "z", "w"), (), "axes are x"),
        (("y", "x"), (32,), "block needs 2 numbers"),
        (("x",), (2048,), "at most 1024 threads"),
        (("x",), (0,), "at most 1024 threads"),
        (("z", "y", "x"), (1, 1, 128), "at most"),
        (("y", "x"), (64, 32), "at most 1024 threads"),
    ],
)
def test_wrong_values_are_told(axes: tuple[str, ...], block: tuple[int, ...], words: str, tmp_path: Path) -> None:
    reason = refused(GRID, Map("f/i", axes, block), tmp_path)
    assert reason.rule == "STP003"
    assert words in reason.text


def test_more_axes_than_loops_that_are_all_of_each_other(tmp_path: Path) -> None:
    reason = refused(GRID, Map("f/i", ("z", "y", "x")), tmp_path)
    assert reason.rule == "STP002" and "there are 2" in reason.text
    beside = GRID.replace("for (int j", "{ x[i] = 1; for (int j").replace("= x[j]; }", "= 2; } }")
    assert "there are 1" in refused(beside, Map("f/i", ("y", "x")), tmp_path).text


def test_every_loop_on_an_axis_must_run_at_once(tmp_path: Path) -> None:
    assert refused(NEXT, Map("f/i", ("x",)), tmp_path).dependence is not None
    rows = GRID.replace("a[i][j] = x[j]", "a[i][j] = a[i][j - 1]").replace("j = 0", "j = 1")
    assert isinstance(answer(rows, Map("f/i", ("x",)), tmp_path), Proved)
    inner = refused(rows, Map("f/i", ("y", "x")), tmp_path)
    assert inner.dependence is not None and inner.dependence.carried_by == "f/i/j"


@pytest.mark.parametrize(("block", "fits"), [((64,), True), ((1024,), True), ((16,), False), ((96,), False)])
def test_threads_that_combine_values_are_a_power_of_two(block: tuple[int, ...], fits: bool, tmp_path: Path) -> None:
    assert isinstance(answer(SUM, Map("f/i", ("x",), block), tmp_path), Proved) == fits


def test_axes_and_block_are_noted_as_they_were_given(tmp_path: Path) -> None:
    (decision,) = decided(GRID, tmp_path, Map("f/i", ("y", "x"), (32, 8)))
    assert (decision.kind, decision.axes, decision.block) == ("threads", ("y", "x"), (32, 8))
