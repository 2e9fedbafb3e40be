"""Liveness lane by lane."""

from __future__ import annotations

from warpsmith.targets.mask.code import LaneNumber, MaskCode
from warpsmith.targets.mask.registers import assign_registers, without_unused


def test_what_nobody_reads_is_taken_out() -> None:
    code = MaskCode()
    one = code.compute("add.u32", LaneNumber("thread_id"), 1)
    code.compute("add.u32", one, 2)
    code.store("u0", 0, one)
    code.end()
    assert [line.op for line in without_unused(code.lines)] == ["add.u32", "st", "ret"]


def test_a_value_that_counts_only_itself_is_not_used() -> None:
    code = MaskCode()
    count = code.virtual()
    code.move(count, 0)
    code.push("END")
    code.place("HEAD")
    code.move(count, code.compute("add.u32", count, 1))
    code.keep(LaneNumber("lane_id"))
    code.jump("HEAD")
    code.place("END")
    code.end()
    assert [line.op for line in without_unused(code.lines) if line.dest] == []


def test_values_that_are_live_at_once_have_two_registers() -> None:
    code = MaskCode()
    one, other = (code.load("t0", at) for at in (0, 4))
    code.store("u0", 0, code.compute("add.u32", one, other))
    code.end()
    numbers = assign_registers(code.lines)
    assert numbers[one] != numbers[other]
    assert max(numbers.values()) == 1


def test_arms_may_share_a_register_and_what_waiting_lanes_need_is_kept() -> None:
    code = MaskCode()
    kept = code.load("t0", 0)
    with code.arms(LaneNumber("lane_id")) as end_arm:
        first = code.load("t0", 4)
        code.store("u0", 0, first)
        end_arm()
        second = code.load("t0", 8)
        code.store("u0", 0, code.compute("add.u32", second, kept))
    code.end()
    numbers = assign_registers(code.lines)
    # lanes of the first arm do not need what those of the second one do
    assert numbers[first] == numbers[kept] != numbers[second]
