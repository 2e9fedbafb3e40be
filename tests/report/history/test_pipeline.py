"""Instructions over clocks: hand-worked rows, bars where they belong, what is not drawn is said."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.history.samples import figure, listing, small
from tests.report.history.test_profile import of_text
from tests.simt.clocks.traces import machine
from warpsmith.report.history.model import History, line_of
from warpsmith.report.history.pipeline import draw_pipeline, issued_rows
from warpsmith.simt.mask.run import Groups


def rows(history: History) -> list[tuple[int, int, int, int, str, str]]:
    """Return wave, line, first and last clock of each row, its unit, and what was waited before."""
    letters = {"memory": "m", "dependency": "d", "ready": "r"}
    return [
        (
            row.issued.wave, line_of(history, row.issued.index)[0], row.issued.start, row.end, row.unit,
            "".join(letters[one.state] * (one.end - one.start) for one in row.waits),
        )
        for row in issued_rows(history)
    ]  # fmt: skip


def test_rows_by_hand() -> None:
    """One ALU, one issue. 0: mul of wave 0 holds the ALU up to 2. 1: wave 1 is asked in vain, and greedy stays with it.
    2: its mul; wave 0 could end. 3: wave 0 ends, as wave 1 waits for its mul. 4: wave 1 ends."""
    history = of_text("mul.u32 r0.x, lane_id, u(3)\nret\n", machine(waves=2), Groups(4, 2))
    assert rows(history) == [
        (0, 1, 0, 2, "ALU 0", ""),
        (1, 1, 2, 4, "ALU 0", "rr"),
        (0, 2, 3, 4, "", "dr"),
        (1, 2, 4, 5, "", "d"),
    ]


def test_every_instruction_has_a_row() -> None:
    for history in (small(), figure(2), listing("up_to_16")):
        assert len(issued_rows(history)) == history.run.totals.instructions


def test_waits_and_bars_fill_the_time_of_a_wave() -> None:
    """Before an instruction its wave waits, and waits are in the clocks just before it is issued."""
    for row in issued_rows(figure(4)):
        ends = [one.end for one in row.waits]
        assert not ends or ends[-1] == row.issued.start
        assert [one.start for one in row.waits[1:]] == ends[:-1]


def test_the_picture() -> None:
    drawing = draw_pipeline(small())
    texts = [one.text for one in drawing.words]
    assert "wave 0, line 1: ld r0.x, t0, u(0)" in texts and "memory" in texts and "ALU 0" in texts
    bars = [one for one in drawing.boxes if one.title.endswith(", masked")]
    assert len(bars) == 4  # add.u32 and pop_mask of two waves
    assert all(
        one.x >= 0 and one.x + one.wide <= drawing.wide and one.y + one.high <= drawing.high for one in drawing.boxes
    )
    assert all(one.x + 5 * len(one.text) <= drawing.wide for one in drawing.words if one.anchor == "start")
    assert len({(one.x, one.y) for one in drawing.words}) == len(drawing.words)
    assert any("memory" in one.title for one in drawing.boxes if one.kind == "stalled")


def test_a_long_run_says_what_is_not_drawn() -> None:
    many = draw_pipeline(listing("up_to_16"))
    assert "6 more instructions are not drawn." in [one.text for one in many.words]
    part = draw_pipeline(replace(listing("up_to_16"), shown=(10, 20)))
    assert not any("not drawn" in one.text for one in part.words)
    assert [one.text for one in part.words if one.text.isdecimal()] == [str(clock) for clock in range(10, 20)]
