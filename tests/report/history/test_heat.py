"""Clocks by thread as a heat map."""

from __future__ import annotations

import numpy as np

from tests.simt.mask.programs import EXAMPLES
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions, simulate_clocks
from warpsmith.report.history.heat import draw_heat, lost_words
from warpsmith.report.history.model import History, shares
from warpsmith.report.history.png import history_png
from warpsmith.report.history.svg import history_svg


def history(machine: str = "example", block: int = 64) -> History:
    file = SourceFile.read(str(EXAMPLES / "counted.mask"))
    counts = ("t0=each:u32[256]=i%7", "u0=zeros:u32[256]")
    return simulate_clocks(file, ClockOptions(machine, block, arguments=counts)).history


def test_clocks_of_threads_are_those_of_lanes() -> None:
    made = history()
    sums, lanes = made.run.thread_clocks.sum(axis=0), shares(made)
    assert sums.tolist() == [lanes["active"], lanes["masked"], lanes["stalled"], lanes["ready"]]
    # a thread with more iterations is active for longer, and no thread of a wave is there longer than another
    active, there = made.run.thread_clocks[:, 0], made.run.thread_clocks.sum(axis=1)
    assert all(np.diff(active[start : start + 7]).min() > 0 for start in range(0, 56, 7))
    assert len(set(there[:32])) == 1


def test_a_lane_that_is_not_there_is_no_thread() -> None:
    assert history(block=40).run.thread_clocks.shape == (40, 4)
    formed = history("example,formation=homes", 40)
    assert formed.run.thread_clocks.shape == (40, 4) and not formed.run.thread_clocks[:, 1].any()
    # threads leave when they are done, and are not there for as long as others
    assert len(set(formed.run.thread_clocks.sum(axis=1)[:32])) > 3


def test_a_cell_a_thread_and_dark_is_little() -> None:
    made = history()
    drawing = draw_heat(made, 16)
    cells = [box for box in drawing.boxes if box.title.startswith("thread ")]
    assert len(cells) == 2 * 64
    lost = [int(box.kind.removeprefix("heat")) for box in cells[64:]]
    values = made.run.thread_clocks[:, 1:].sum(axis=1)
    assert (lost[int(values.argmin())], lost[int(values.argmax())]) == (0, 15)
    assert [step for _, step in sorted(zip(values, lost, strict=True))] == sorted(lost)
    first, below = cells[64], cells[64 + 16]
    assert (below.x, below.y) == (first.x, first.y + first.high)
    words = [one.text for one in drawing.words]
    assert f"{values.min():,}" in words and f"{values.max():,}" in words and lost_words(made.run.thread_clocks) in words
    assert history_svg(drawing).count("<rect") > 128 and history_png(drawing).startswith(b"\x89PNG")


def test_threads_of_one_color_side_by_side_are_one_box_where_there_are_many() -> None:
    file = SourceFile("same.mask", "mov r0.x, u(1)\nret\n")
    made = simulate_clocks(file, ClockOptions("example", 8192)).history
    drawing = draw_heat(made, 128)
    assert 2 * 64 <= len(drawing.boxes) < 2 * 8192
    area = sum(box.wide * box.high for box in drawing.boxes if box.high != 14)
    assert area == 2 * 8192 * 3 * 3
