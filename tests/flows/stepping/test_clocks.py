"""A program is stepped through clock by clock as a person does it: commands go in, what is seen comes out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions
from warpsmith.flows.stepping.clocks import step_clocks

MACHINE = "example,width=4,lanes_per_alu=4,waves=2,alus=1,issue=1,pipe=1,l1.size=0,l2.size=0,dram.latency=10"
TEXT = """mul.u32 r0.x, thread_id, u(4)
ld r1.x, t0, r0.x
push_mask JOIN
mask_nz lane_id
add.u32 r2.x, r1.x, u(1)
pop_mask
JOIN:
st u0, r0.x, r2.x
ret
"""


def replies(
    *said: str, text: str = TEXT, machine: str = MACHINE, block: int = 7, most: int = 1000
) -> tuple[list[str], int]:
    """Return the answer to each command, the first is what is said at the start; and the exit code."""
    out: list[str] = []
    heard: list[str] = []
    left: Iterator[str] = iter(said)

    def ask() -> str | None:
        out.append("\n".join(heard))
        heard.clear()
        return next(left, None)

    given = ("t0=iota:u32[8]", "u0=zeros:u32[8]") if text == TEXT else ()
    options = ClockOptions(machine, block, 1, given, most)
    code = step_clocks(SourceFile("k.mask", text), options, heard.append, ask)
    return out, code


def test_the_first_clock_says_who_issues_and_who_waits() -> None:
    found, code = replies()
    assert code == 0
    assert found[0].splitlines() == [
        "clock 0",
        "slot 0  wave 0   active             ####  line 1: mul.u32 r0.x, thread_id, u(4)",
        "slot 1  wave 1   ready, not issued  ###.  line 1: mul.u32 r0.x, thread_id, u(4)",
        "ALU 0   wave 0 up to clock 2",
    ]


def test_locks_are_told_with_the_clock_in_which_they_end() -> None:
    """mul takes two clocks; greedy stays with wave 1 in clock 2; ld in clock 3 asks for one line: 3 + 1 + 10 = 14."""
    found, _ = replies("clock 1", "why 0", "clock 4", "locks 0", "until 5", "why 0", "print r1.x 0", "clock 6", "why 0")
    assert "waits for a result ####  line 2: ld r1.x, t0, r0.x; r0 up to clock 2" in found[1]
    assert "        locked: r0 up to clock 2, by an ALU" in found[1].splitlines()
    assert found[2] == "wave 0 waits for a result: line 2: ld r1.x, t0, r0.x needs r0 up to clock 2"
    assert found[4] == "slot 0, wave 0: r1 up to clock 14, by memory"
    assert found[5].startswith("clock 14\n") and "active             -###  line 5" in found[5]
    assert found[7] == "wave 0 r1.x = 0 1 2 3"
    assert found[9].startswith("wave 0 waits for memory: line 5: add.u32 r2.x, r1.x, u(1) needs r1 up to clock 14")


def test_the_stack_says_where_masks_go_on() -> None:
    found, _ = replies("until 5", "stack 0", "stack 9")
    assert found[2] == "slot 0, wave 0: mask -###\n  #### go on at line 8: st u0, r0.x, r2.x"
    assert found[3] == "there is no slot 9; slots are 0 to 1"


def test_why_a_ready_wave_does_not_issue() -> None:
    found, _ = replies("why 1")
    assert found[1] == (
        "wave 1 is ready for line 1: mul.u32 r0.x, thread_id, u(4), and no ALU is free: ALU 0 by wave 0 up to clock 2"
    )
    two = replies("why 1", machine=f"{MACHINE},alus=2")[0]
    assert two[1].endswith("and others are asked first: greedy, 1 issued in a clock at most")
    assert replies("why 0")[0][1] == "wave 0 issues line 1: mul.u32 r0.x, thread_id, u(4)"
    slow = replies("next", "why 0", text="push_mask A\nA:\nret\n", machine=f"{MACHINE},control=3")[0]
    assert slow[2] == "wave 0 still takes in line 1: push_mask A"


def test_cores_are_named_where_there_are_several() -> None:
    found, _ = replies("why 1.0", "why 2.0", machine=f"{MACHINE},cores=2")
    assert "slot 1.0" in found[0] and "core 1 ALU 0" in found[0]
    assert found[1].startswith("wave 1 issues")
    assert found[2] == "there is no slot 2.0; slots are 0 to 1, 1.0 is slot 0 of core 1 of 2"


def test_registers_are_numbers_or_floats() -> None:
    text = "utof r0.xy, lane_id\nret\n"
    found, _ = replies("next", "print r0.x", "print r0.x 0 f", "print r0 0", "print r7", text=text, block=4)
    assert found[2].startswith("wave 0 r0.x = 0 1065353216 ")
    assert found[3] == "wave 0 r0.x = 0 1 2 3"
    assert found[4].splitlines()[2] == "wave 0 r0.z = 0 in all lanes"
    assert found[5] == "there is no register r7; the program has r0 to r0, each with .x .y .z .w"


def test_a_fault_and_a_loop_without_end_are_told_and_one_can_go_back() -> None:
    found, code = replies("continue", "back", "continue", text="mov r0.x, u(1)\npop_mask\n")
    assert code == 0 and found[1].startswith("the run is stopped in clock 1: line 2: pop_mask pops the mask stack")
    assert found[2].startswith("clock 0\n")
    assert replies("continue", text="A:\njmp A\n", most=30)[0][1].startswith("the run is stopped in clock 30")


def test_a_wrong_program_is_told_before() -> None:
    with pytest.raises((InputError, UsageError)):
        replies(text="foo r0\n")
