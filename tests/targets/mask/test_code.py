"""What is written, and what is computed at once."""

from __future__ import annotations

from warpsmith.targets.mask.code import LaneNumber, MaskCode, float_text


def test_immediates_are_computed_and_what_changes_nothing_is_not_written() -> None:
    code = MaskCode()
    thread = LaneNumber("thread_id")
    assert code.compute("mul.u32", 6, 7) == 42
    assert code.compute("add.u32", thread, 0) == code.compute("add.u32", 0, thread) == thread
    assert code.compute("mul.u32", 1, thread) == code.compute("div.u32", thread, 1) == thread
    assert code.lines == []
    assert code.compute("sub.u32", 0, thread) != thread


def test_a_lane_that_is_masked_off_goes_on_where_its_entry_says() -> None:
    code = MaskCode()
    with code.only(LaneNumber("lane_id")), code.arms(LaneNumber("lane_id")) as end_arm:
        end_arm()
    assert [(line.op, line.joins) for line in code.lines if line.joins] == [
        ("mask_nz", "JOIN_1"), ("pop_mask", "JOIN_2"), ("pop_mask", "JOIN_2"), ("pop_mask", "JOIN_1"),
    ]  # fmt: skip


def test_floats_that_are_not_finite_keep_their_bits() -> None:
    assert (float_text(0x3F000000), float_text(0x80000000), float_text(0x7F800000)) == (
        "f(0.5)",
        "f(-0.0)",
        "f(0x7f800000)",
    )
