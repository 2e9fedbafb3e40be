"""Which lanes are active in each step, as a picture."""

from __future__ import annotations

from warpsmith.report.simulation.masks import mask_picture
from warpsmith.report.simulation.model import Column, TimelineGroup, WarpStep


def group(*masks: int, columns: int = 1, text: str = "x;", line: int = 5) -> TimelineGroup:
    steps = tuple(WarpStep(number, 1, line, text) for number in range(len(masks)))
    return TimelineGroup(steps, tuple(Column(((0, number),), masks) for number in range(columns)))


def test_lanes_side_by_side_are_one_rectangle() -> None:
    (column,) = mask_picture(group(0b1111, 0b0101, 0b0110, 0), 4).columns
    assert [[words for _, _, words in row.runs] for row in column.rows] == [
        ["lanes 0 to 3"], ["lane 0", "lane 2"], ["lanes 1 to 2"], []
    ]  # fmt: skip
    assert [row.kind for row in column.rows] == ["on", "part", "part", "part"]
    (x, wide, _), (other, _, _) = column.rows[1].runs
    assert (x, wide, other - x) == (column.x, 8, 18)


def test_the_number_of_lanes_is_told_where_it_changes() -> None:
    (column,) = mask_picture(group(3, 3, 1), 4).columns
    assert [row.count for row in column.rows] == ["2/4", "", "1/4"]


def test_warps_that_do_the_same_are_one_column() -> None:
    alike = TimelineGroup((WarpStep(0, 1, 5, "x;"),), (Column(((0, 1), (2, 3), (2, 4)), (1,)), Column(((0, 2),), (2,))))
    first, second = mask_picture(alike, 4).columns
    assert (first.name, second.name) == ("block 0 warp 1 and 2 like it", "block 0 warp 2")
    assert second.x > first.x + first.wide


def test_lines_have_their_number_and_long_ones_are_cut() -> None:
    picture = mask_picture(group(1, text="y" * 50, line=0), 4)
    ((_, number, text),) = picture.steps
    assert (number, text) == ("?", "y" * 37 + "…")


def test_what_is_too_much_is_not_drawn_and_that_is_said() -> None:
    assert mask_picture(group(1), 4).not_drawn == ""
    many = mask_picture(group(*[1] * 1502, columns=10), 4)
    assert many.not_drawn == "Not drawn: 2 more steps and 2 more kinds of warps."
    assert (len(many.columns), len(many.steps), len(many.columns[0].rows)) == (8, 1500, 1500)
