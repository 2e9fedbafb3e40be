"""Kernels run lane by lane: what they compute, how lanes meet, and what they must not do."""

from __future__ import annotations

import struct
from array import array
from collections import defaultdict
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import BasicBlock, Instruction, Module, Space

REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f32 %f<9>;"
ENTER = """
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
"""


def kernel(body: str, more: str = "") -> Module:
    """Return a kernel `k(out, n)`: %r1 is tid.x, %rd1 is out, %rd3 the address of out[tid.x]."""
    text = f".version 8.0\n.target sm_80\n.address_size 64\n{more}\n.visible .entry k(.param .u64 out, .param .u32 n)\n"
    module, findings = read_ptx(SourceFile("k.ptx", f"{text}{{\n{REGISTERS}\n{ENTER}\n{body}\n}}"))
    assert not findings, [finding.message for finding in findings]
    return module


def run(
    module: Module,
    out: Sequence[int],
    block: Dim = (32, 1, 1),
    observer: Silent | None = None,
    *,
    grid: Dim = (1, 1, 1),
    seed: int = 0,
    warp: int = 32,
    max_steps: int = 200_000,
) -> tuple[Outcome, list[int]]:
    """Run `k` on 32-bit numbers; return the outcome and the numbers behind it."""
    return launched(module, out, Launch(grid, block, warp=warp, seed=seed, max_steps=max_steps), observer)


def launched(
    module: Module, out: Sequence[int], launch: Launch, observer: Silent | None = None
) -> tuple[Outcome, list[int]]:
    """Run `k` on 32-bit numbers in one launch."""
    memory = LaunchMemory()
    buffer = memory.allocate("out", array("I", [x & 0xFFFFFFFF for x in out]).tobytes())
    arguments = {"out": struct.pack("<Q", buffer.address), "n": struct.pack("<i", 0)}
    outcome = interpret(module, "k", replace(launch, arguments=arguments), memory, observer)
    numbers = array("I")
    numbers.frombytes(bytes(buffer.data))
    return outcome, list(numbers)


def said(outcome: Outcome) -> str:
    return "; ".join(problem.message for problem in outcome.problems)


def test_every_lane_has_its_own_index() -> None:
    module = kernel("mad.lo.s32 %r2, %r1, %r1, 5; st.global.u32 [%rd3], %r2; ret;")
    outcome, out = run(module, [0] * 40, (40, 1, 1))
    assert outcome.complete and not outcome.problems and not outcome.conflicts
    assert out == [i * i + 5 for i in range(40)]


def test_two_and_three_dimensions_count_x_first() -> None:
    body = """
        mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ctaid.y;
        mad.lo.s32 %r7, %r3, %r5, %r2; mad.lo.s32 %r8, %r7, %r4, %r1; mov.u32 %r9, %laneid;
        mad.lo.s32 %r10, %r6, 12, %r8; mul.wide.u32 %rd4, %r10, 4; add.s64 %rd5, %rd1, %rd4;
        mad.lo.s32 %r11, %r6, 100, %r9; st.global.u32 [%rd5], %r11; ret;"""
    outcome, out = run(kernel(body), [0] * 24, (2, 3, 2), grid=(1, 2, 1), warp=8)
    assert outcome.complete
    assert out == [100 * block + thread % 8 for block in range(2) for thread in range(12)]


def test_some_blocks_of_a_grid_are_run_and_some_threads_of_these() -> None:
    module = kernel("mov.u32 %r2, %ctaid.x; add.s32 %r3, %r2, 1; st.global.u32 [%rd3], %r3; ret;")
    outcome, out = launched(module, [0] * 40, Launch((1 << 30, 1, 1), (40, 1, 1), only=(777,), lanes=(0, 1, 37)))
    assert outcome.complete
    assert {n: x for n, x in enumerate(out) if x} == {0: 778, 1: 778, 37: 778}


@pytest.mark.parametrize(
    ("waits", "complete"),
    [
        ("bar.sync 0;", False),
        ("bar.sync 0, 32;", False),
        ("vote.sync.any.pred %p1, %p2, 0xffffffff;", False),
        ("vote.sync.any.pred %p1, %p2, 5;", True),
        ("bar.warp.sync 0xffffffff;", False),
        ("", True),
    ],
)
def test_threads_that_are_not_run_have_not_come_yet(waits: str, complete: bool) -> None:
    module = kernel(f"setp.ne.u32 %p2, %r1, 0; {waits} st.global.u32 [%rd3], 1; ret;")
    outcome, out = launched(module, [0] * 32, Launch(lanes=(0, 2)))
    assert outcome.complete is complete
    assert [problem.kind for problem in outcome.problems] == ([] if complete else ["budget"])
    assert sum(out) == (2 if complete else 0)


SUM = """
    .shared .align 4 .b8 tile[256];
    mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3;
    ld.global.u32 %r5, [%rd3]; st.shared.u32 [%r4], %r5;
    bar.sync 0;
    mov.u32 %r6, 32;
$top: setp.ge.u32 %p1, %r1, %r6;
    @%p1 bra $skip;
    shl.b32 %r7, %r6, 2; add.s32 %r8, %r4, %r7; ld.shared.u32 %r9, [%r8]; ld.shared.u32 %r10, [%r4];
    add.s32 %r11, %r10, %r9; st.shared.u32 [%r4], %r11;
$skip: BARRIER
    shr.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0;
    @%p2 bra $top;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
    ld.shared.u32 %r12, [tile]; st.global.u32 [%rd1], %r12;
$end: ret;
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_reduction_in_shared_memory_needs_its_barrier(seed: int) -> None:
    out = list(range(1, 65))
    right, numbers = run(kernel(SUM.replace("BARRIER", "bar.sync 0;")), out, (64, 1, 1), seed=seed)
    assert right.complete and not right.conflicts and not right.problems
    assert numbers[0] == sum(out)
    wrong, _ = run(kernel(SUM.replace("BARRIER", "")), out, (64, 1, 1), seed=seed)
    assert wrong.conflicts and wrong.conflicts[0].buffer == "the shared memory of block 0"


def test_atomics_of_many_blocks_do_not_race_and_stores_do() -> None:
    outcome, out = run(kernel("atom.global.add.u32 %r2, [%rd1], 3; ret;"), [10], (32, 1, 1), grid=(3, 1, 1))
    assert not outcome.conflicts and out == [10 + 3 * 96]
    outcome, _ = run(kernel("st.global.u32 [%rd1], %r1; ret;"), [10], (1, 1, 1), grid=(3, 1, 1))
    assert outcome.conflicts


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r2, %p1, -1;", lambda i: 31),
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r2, 7, 8, %p2;", lambda i: 7),
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r2, 7, 8, %p2;", lambda i: 8),
        ("shfl.sync.down.b32 %r2, %r1, 4, 31, -1;", lambda i: i + 4 if i < 28 else i),
        ("shfl.sync.up.b32 %r2, %r1, 1, 0, -1;", lambda i: i - 1 if i else 0),
        ("shfl.sync.bfly.b32 %r2, %r1, 5, 31, -1;", lambda i: i ^ 5),
        ("shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;", lambda i: 3),
        # segments of 8 lanes: clamp 0x181f as __shfl_sync(…, 8) makes it
        ("shfl.sync.idx.b32 %r2, %r1, 2, 6175, -1;", lambda i: i // 8 * 8 + 2),
        (
            "shfl.sync.down.b32 %r2|%p1, %r1, 3, 6175, -1; selp.u32 %r2, %r2, 99, %p1;",
            lambda i: i + 3 if i % 8 < 5 else 99,
        ),
        ("and.b32 %r3, %r1, 1; match.any.sync.b32 %r2, %r3, -1;", lambda i: 0xAAAAAAAA if i % 2 else 0x55555555),
        ("redux.sync.add.s32 %r2, %r1, -1;", lambda i: 496),
        ("sub.s32 %r3, 3, %r1; redux.sync.min.s32 %r2, %r3, -1; neg.s32 %r2, %r2;", lambda i: 28),
        ("activemask.b32 %r2;", lambda i: 0xFFFFFFFF),
    ],
)
def test_lanes_tell_each_other(body: str, expected) -> None:  # type: ignore[no-untyped-def]
    for seed in range(3):
        outcome, out = run(kernel(f"{body} st.global.u32 [%rd3], %r2; ret;"), [0] * 32, seed=seed)
        assert outcome.complete and not outcome.problems, said(outcome)
        assert out == [expected(i) for i in range(32)]


def test_a_lock_that_lanes_of_one_warp_spin_for_is_taken_by_each() -> None:
    body = """
        mov.u32 %r9, 0;
$spin:  atom.global.cas.b32 %r2, [%rd1], 0, 1;
        setp.ne.u32 %p1, %r2, 0;
        @%p1 bra $spin;
        atom.global.add.u32 %r3, [%rd1+4], 1;
        atom.global.exch.b32 %r4, [%rd1], 0;
        ret;"""
    outcome, out = run(kernel(body), [0, 0], (8, 1, 1))
    assert outcome.complete and out == [0, 8]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("st.global.u32 [%rd3+4], %r1; ret;", "4 bytes at byte 128 of out, which has 128"),
        ("ld.global.u32 %r2, [%rd1+-4]; ret;", "byte -4 of out"),
        ("mov.u64 %rd5, 4096; ld.global.u32 %r2, [%rd5]; ret;", "where there is no memory"),
        ("ld.global.u32 %r2, [%rd3+2]; ret;", "not a multiple of 4"),
        (".shared .align 4 .b8 s[16]; ld.shared.u32 %r2, [s]; ret;", "before anything was written"),
        ("$top: bra $top;", "did not end within"),
        (
            "setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; setp.ge.u32 %p2, %r1, 16; @%p2 bar.sync 1, 64; ret;",
            "wait for ever",
        ),
        ("setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; @!%p1 bar.sync 0; ret;", "meet at different barriers"),
        ("vote.sync.ballot.b32 %r2, %p1, 15; ret;", "is not in the mask"),
        (
            "setp.eq.u32 %p1, %r1, 0; @%p1 ret; shfl.sync.idx.b32 %r2, %r1, 1, 31, -1; ret;",
            "names lanes that have ended",
        ),
        ("trap;", "traps"),
        ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; ret;", "is not modeled"),
        ("mov.u64 %rd5, table; st.global.u32 [%rd5], %r1; ret;", "is constant and is written"),
    ],
)
def test_what_a_kernel_must_not_do_is_said(body: str, message: str) -> None:
    module = kernel(body, ".const .align 4 .b8 table[8];")
    outcome, _ = run(module, [0] * 32, max_steps=3000)
    assert message in said(outcome), said(outcome)


def test_a_call_is_a_frame_with_its_own_values() -> None:
    power = """
    .func (.param .b32 r) power(.param .b32 x, .param .b32 n) {
        .reg .b32 %a<9>; .reg .pred %q<2>;
        ld.param.u32 %a1, [x]; ld.param.u32 %a2, [n]; mov.u32 %a3, 1;
    $again: setp.eq.u32 %q1, %a2, 0;
        @%q1 bra $done;
        mul.lo.s32 %a3, %a3, %a1; sub.s32 %a2, %a2, 1; bra $again;
    $done: st.param.b32 [r], %a3; ret;
    }"""
    body = """{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 p1; st.param.b32 [p1], 3; .param .b32 q;
        call.uni (q), power, (p0, p1); ld.param.b32 %r2, [q]; } st.global.u32 [%rd3], %r2; ret;"""
    outcome, out = run(kernel(body, power), [0] * 32)
    assert outcome.complete and out == [i**3 for i in range(32)]


class _Branches(Silent):
    """Collects, for each branch and moment, which ways the lanes of a warp took."""

    def __init__(self) -> None:
        self.ways: dict[tuple[str, object], set[str]] = defaultdict(set)
        self.touched: list[tuple[Space, int]] = []

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        self.ways[block.name, moment].add(taken)

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        self.touched.append((where[0], where[2]))


def test_moments_tell_iterations_apart() -> None:
    body = """
        mov.u32 %r2, 0; add.s32 %r5, %r1, 1;
$outer: mov.u32 %r3, 0;
$inner: add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r5;
        @%p1 bra $inner;
        add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 3;
        @%p2 bra $outer;
        st.global.u32 [%rd3], %r2; ret;"""
    watched = _Branches()
    run(kernel(body), [0] * 4, (4, 1, 1), watched)
    inner = {moment: ways for (block, moment), ways in watched.ways.items() if block == "$inner"}
    outer = [ways for (block, _), ways in watched.ways.items() if block == "next"]
    # three rounds of the outer loop, in each of which the inner one runs 1, 2, 3 and 4 times
    assert len(inner) == 12 and sum(len(ways) == 2 for ways in inner.values()) == 9
    assert len(outer) == 3 and all(len(ways) == 1 for ways in outer)
    assert watched.touched == [("global", 4)] * 4


def test_a_run_ends_when_enough_was_seen() -> None:
    module, memory = kernel("st.global.u32 [%rd1], %r1; ret;"), LaunchMemory()
    out = memory.allocate("out", bytes(4))
    launch = Launch((2, 1, 1), (64, 1, 1), {"out": out.address.to_bytes(8, "little"), "n": bytes(4)})
    asked: list[int] = []

    def enough(steps: int) -> bool:
        asked.append(steps)
        return bool(memory.conflicts)

    outcome = interpret(module, "k", launch, memory, enough=enough)
    assert outcome.conflicts and not outcome.complete and not outcome.problems
    assert asked == sorted(asked) and outcome.steps <= asked[-1] + 1, "one step of the other block after that"
    whole = interpret(module, "k", launch, LaunchMemory(checks=False), enough=lambda steps: False)
    assert whole.problems, "without its argument it has nowhere to write"
