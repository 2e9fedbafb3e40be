"""A program counter for each lane: a lock is given back, lanes wait at barriers for those that come later."""

from __future__ import annotations

import struct

from tests.simt.engine.agree import Case
from tests.simt.engine.agree_policy import agree_under, policy_checks
from tests.simt.engine.policy_kernels import SPIN, text_case
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.engine import run
from warpsmith.simt.launch import Launch


def test_a_spin_lock_ends() -> None:
    case = text_case(SPIN, 32, 32, words=2)
    memory, launch = case.placed(checks=False)
    made = run(case.module, "k", launch, memory, policy_checks("per-lane"))
    assert made.why == "" and struct.unpack("<2I", bytes(memory.buffers[0].data)) == (0, 32)
    assert agree_under("per-lane", text_case(SPIN, 8, 8, words=2)) == ""


# lanes leave the loop one after the other, and have waited too long before the last does
LATE = """
    .shared .align 4 .b8 s[256];
    mov.u32 %r2, 0; mov.u32 %r4, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r4, %r3;
$top: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra $top;
    st.shared.u32 [%r4], %r2; WAIT
    ld.shared.u32 %r5, [s+20]; st.global.u32 [%rd3], %r5; ret;"""


def test_lanes_that_come_late_are_waited_for() -> None:
    for wait in ("bar.sync 0;", "bar.warp.sync -1;"):
        launch = Launch((2, 1, 1), (32, 1, 1), {"n": bytes(4)}, warp=32)
        case = Case(kernel(LATE.replace("WAIT", wait)), "k", launch, {"out": (bytes(128), True)})
        assert agree_under("per-lane", case) == ""
        memory, launch = case.placed(checks=False)
        counts = run(case.module, "k", launch, memory, policy_checks("per-lane")).counts
        # more sets of lanes come to the barrier than go on behind it
        block = max(counts.blocks, key=lambda block: len(block.instructions) * bool(counts.blocks[block].visits))
        assert counts.most_waiting > 0 and counts.blocks[block].visits >= 2


def test_lanes_that_wait_at_two_barriers_are_left_to_the_interpreter() -> None:
    body = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra $a; bar.sync 0; ret; $a: bar.sync 0; ret;"
    case = Case(kernel(body), "k", Launch(arguments={"n": bytes(4)}), {"out": (bytes(256), True)})
    assert "barrier" in agree_under("per-lane", case)
