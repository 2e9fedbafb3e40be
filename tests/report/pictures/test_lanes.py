"""The lanes of a warp as pictures."""

from __future__ import annotations

from warpsmith.analysis.rules.finding import EvidenceTable
from warpsmith.report.pictures.lanes import LaneMark, LanePicture, lane_picture


def touched(unit: str, *numbers: int) -> LanePicture:
    rows = tuple((str(lane), f"+{lane}", str(number)) for lane, number in enumerate(numbers))
    found = lane_picture(EvidenceTable("t", ("lane", "byte", unit), rows))
    assert found is not None
    return found


def cells(picture: LanePicture) -> list[LaneMark]:
    return [mark for mark in picture.marks if mark.kind == "on"]


def test_a_row_for_each_sector_that_is_touched() -> None:
    found = touched("sector", 4, 4, 9)
    first, second, third = cells(found)
    assert first.y == second.y < third.y and first.x < second.x < third.x
    assert third.text == "lane 2: sector 9" and found.words.endswith("2 sectors touched")
    assert [mark.text for mark in found.marks if mark.kind == "label"] == ["sector 4", "9"]
    assert touched("sector", 7).words.endswith("1 sector touched")


def test_every_bank_has_a_row_and_the_worst_is_told() -> None:
    found = touched("bank", 0, 0, 31)
    assert found.words.endswith("2 banks touched")
    assert found.frame[3] == 32 * 7 + 1 and cells(found)[2].y - cells(found)[0].y == 31 * 7


def test_many_sectors_have_narrow_rows() -> None:
    few, many = touched("sector", *range(16)), touched("sector", *range(17))
    assert cells(few)[0].high == 12 and cells(many)[0].high == 8


def test_lanes_that_take_a_branch_are_filled() -> None:
    found = lane_picture(EvidenceTable("t", ("warp", "mask", "lanes"), (("0", "0x5", "#-#"), ("1", "0x0", "---"))))
    assert found is not None
    assert [mark.kind for mark in found.marks] == ["label", "on", "off", "on", "label", "off", "off", "off"]
    assert found.marks[2].text == "lane 1: no" and found.marks[4].text == "warp 1"


def test_other_tables_have_no_picture() -> None:
    assert lane_picture(EvidenceTable("t", ("lane", "byte"), (("0", "+0"),))) is None
