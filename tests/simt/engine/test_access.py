"""What the compiled machine must not do for a kernel: it stops, says why, and leaves memory as it was."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import SUM, kernel
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

ARRAYS = {"out": (struct.pack("<64I", *range(64)), True)}


def stopped(body: str, launch: Launch, more: str = "") -> tuple[Stop, bytes]:
    """Return why a kernel `k(out, n)` stops, and what its array holds then."""
    module = kernel(body, more)
    memory = LaunchMemory()
    buffer = memory.allocate("out", ARRAYS["out"][0])
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    given = Launch(launch.grid, launch.block, arguments, warp=launch.warp, max_steps=3000)
    ended = run(module, "k", given, memory, Checks())
    return ended.stop, bytes(buffer.data)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("st.global.u32 [%rd3], 7; st.global.u32 [%rd3+252], %r1; ret;", Stop.BOUNDS),
        ("ld.global.u32 %r2, [%rd1+-4]; ret;", Stop.BOUNDS),
        ("mov.u64 %rd5, 4096; ld.global.u32 %r2, [%rd5]; ret;", Stop.BOUNDS),
        ("ld.global.u32 %r2, [%rd3+2]; ret;", Stop.ALIGNMENT),
        (".shared .align 4 .b8 s[16]; ld.shared.u32 %r2, [s]; ret;", Stop.UNINITIALIZED),
        (".shared .align 4 .b8 s[16]; st.shared.u32 [s+16], 1; ret;", Stop.BOUNDS),
        ("$top: bra $top;", Stop.BUDGET),
        ("setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; st.global.u32 [%rd3], 7; ret;", Stop.BARRIER),
        ("vote.sync.ballot.b32 %r2, %p1, 15; ret;", Stop.EXCHANGE),
        ("trap;", Stop.TRAP),
        ("mov.u64 %rd5, table; st.global.u32 [%rd5], %r1; ret;", Stop.CONSTANT),
        ("st.global.u32 [%rd1], %r1; ret;", Stop.RACE),
    ],
)
def test_what_a_kernel_must_not_do_stops_it(body: str, why: Stop) -> None:
    found, data = stopped(body, Launch((1, 1, 1), (32, 1, 1), warp=32), ".const .align 4 .b8 table[8];")
    assert found is why
    assert data == ARRAYS["out"][0]


def test_lanes_that_are_not_active_neither_divide_nor_touch_memory() -> None:
    body = """
        setp.eq.u32 %p1, %r1, 3; @!%p1 bra $end;
        mov.u32 %r2, 100; div.u32 %r3, %r2, %r1; sub.u32 %r4, %r1, 3; shl.b32 %r5, %r4, 20; mul.wide.u32 %rd5, %r5, 64;
        add.s64 %rd6, %rd3, %rd5; st.global.u32 [%rd6], %r3;
    $end: ret;"""
    case = Case(kernel(body), "k", Launch(arguments={"n": bytes(4)}), ARRAYS)
    assert agree(case) == ""


def test_atomics_are_done_lane_by_lane() -> None:
    case = Case(
        kernel("atom.global.add.u32 %r2, [%rd1], 3; ret;"),
        "k",
        Launch((3, 1, 1), (40, 1, 1), {"n": bytes(4)}, warp=16),
        ARRAYS,
    )
    assert agree(case) == ""


@pytest.mark.parametrize("width", [8, 64])
def test_a_reduction_in_shared_memory_does_the_same(width: int) -> None:
    module = kernel(SUM.replace("BARRIER", "bar.sync 0;"))
    launch = Launch((1, 1, 1), (64, 1, 1), {"n": bytes(4)}, warp=width)
    assert agree(Case(module, "k", launch, ARRAYS)) == ""
    torn = Case(kernel(SUM.replace("BARRIER", "")), "k", launch, ARRAYS)
    assert agree(torn).startswith(("a data race", "a read of what"))
