"""Barriers of some threads, barriers that threads go past, and barriers of the grid."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel, run, said
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import GRID_BARRIER
from warpsmith.ssa.reader import parse_module

SOME = "mov.u32 %r2, 32; setp.lt.u32 %p1, %r1, LIMIT;"
PAST = [
    ("@%p1 bar.sync 0; st.global.u32 [%rd3], %r2; ret;", True),
    ("@!%p1 bra $a; bar.sync 0; st.global.u32 [%rd3], %r2; $a: add.u32 %r3, %r2, 1; st.u32 [%rd3], %r3; ret;", True),
    # as many rounds as the warp has
    (
        "shr.u32 %r3, %r1, 5; $top: bar.sync 0; sub.u32 %r3, %r3, 1; setp.ge.s32 %p2, %r3, 0; @%p2 bra $top;"
        "st.global.u32 [%rd3], %r2; ret;",
        True,
    ),
    ("@!%p1 ret; bar.sync 0; st.global.u32 [%rd3], %r2; ret;", False),
    ("@!%p1 bra $a; bar.sync 0; st.global.u32 [%rd3], %r2; $a: ret;", False),
    ("bar.sync 0; @%p1 ret; bar.sync 0; st.global.u32 [%rd3], %r2; ret;", False),
]  # fmt: skip


@pytest.mark.parametrize(("body", "past"), PAST)
@pytest.mark.parametrize("limit", [32, 64])
def test_who_goes_past_a_barrier_is_said_by_both_machines(body: str, past: bool, limit: int) -> None:
    module = kernel(f"{SOME.replace('LIMIT', str(limit))} {body}")
    outcome, _ = run(module, [0] * 96, (96, 1, 1))
    assert outcome.complete
    assert ("go past a barrier at which others wait" in said(outcome)) is past
    launch = Launch((1, 1, 1), (96, 1, 1), {"n": bytes(4)})
    why = agree(Case(module, "k", launch, {"out": (bytes(4 * 96), True)}))
    assert ("barrier" in why) is past, why


def test_lanes_of_one_warp_go_past_a_barrier_of_the_others() -> None:
    odd = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; @!%p1 bra $a; bar.sync 0;"
    outcome, _ = run(kernel(f"{odd} $a: st.global.u32 [%rd3], %r2; ret;"), [0] * 32)
    assert "go past a barrier" in said(outcome)


def test_who_only_arrives_at_a_barrier_goes_on() -> None:
    # each half says that its numbers are there, and then waits for those of the other
    body = """
        .shared .align 4 .b8 s[256];
        mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1;
        xor.b32 %r5, %r3, 128; add.u32 %r6, %r2, %r5;
        setp.lt.u32 %p1, %r1, 32; @%p1 bra $low;
        bar.arrive 1, 64; bar.sync 2, 64; bra $read;
    $low: bar.arrive 2, 64; bar.sync 1, 64;
    $read: ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd3], %r7; ret;"""
    for seed in range(4):
        outcome, out = run(kernel(body), [0] * 64, (64, 1, 1), seed=seed)
        assert outcome.complete, said(outcome)
        assert out == [i ^ 32 for i in range(64)]


def test_a_barrier_at_which_too_few_arrive_is_never_opened() -> None:
    body = "setp.lt.u32 %p1, %r1, 16; @%p1 bra $low; bar.sync 1, 64; ret; $low: bar.arrive 1, 64; ret;"
    outcome, _ = run(kernel(body), [0] * 32)
    assert not outcome.complete and "wait for ever" in said(outcome)


GRID = """
kernel @k(out 8 align 8 i64)
start:
  %out:i64 = param [out+0]
  %b:i32 = query [ctaid.x]
  %n:i32 = query [nctaid.x]
  %at:i64 = smulwide %b 4:i32
  %mine:i64 = add %out %at
  STAY
rest:
  store [global +0 align 4] %mine %b
  BARRIER
  %next:i32 = add %b 1:i32
  %other:i32 = urem %next %n
  %far:i64 = smulwide %other 4:i32
  %theirs:i64 = add %out %far
  %found:i32 = load [global +0 align 4] %theirs
  BARRIER
  store [global +0 align 4] %mine %found
  return
gone:
  return
end
""".replace("BARRIER", f"unmodeled ['{GRID_BARRIER}']")
ALL = "jump rest"
NOT_ALL = "%last:i1 = eq %b 3:i32\n  branch %last gone rest"


def _grid(text: str, blocks: int, only: tuple[int, ...] | None = None) -> tuple[Outcome, list[int]]:
    memory = LaunchMemory()
    out = memory.allocate("out", bytes(4 * blocks))
    launch = Launch((blocks, 1, 1), (1, 1, 1), {"out": struct.pack("<q", out.address)}, only=only)
    outcome = interpret(parse_module(text), "k", launch, memory)
    return outcome, list(struct.unpack(f"<{blocks}I", bytes(out.data)))


@pytest.mark.parametrize("blocks", [3, 20])
def test_all_blocks_wait_for_each_other_at_a_barrier_of_the_grid(blocks: int) -> None:
    right, found = _grid(GRID.replace("STAY", ALL), blocks)
    assert right.complete and not right.problems and not right.conflicts
    assert found == [(number + 1) % blocks for number in range(blocks)]
    wrong, _ = _grid(GRID.replace("STAY", ALL).replace(f"  unmodeled ['{GRID_BARRIER}']\n", ""), blocks)
    assert wrong.conflicts


def test_a_barrier_of_the_grid_needs_all_blocks() -> None:
    outcome, _ = _grid(GRID.replace("STAY", NOT_ALL), 12)
    assert not outcome.complete and "wait for ever" in said(outcome)
    # of a part of the grid it is not known what the others do
    part, _ = _grid(GRID.replace("STAY", ALL), 12, only=(0, 1))
    assert not part.complete and [problem.kind for problem in part.problems] == ["budget"]


@pytest.mark.slow
def test_blocks_that_wait_for_later_ones_end() -> None:
    body = """
        mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; sub.u32 %r4, %r3, 1; mul.wide.u32 %rd4, %r2, 4;
        add.s64 %rd5, %rd1, %rd4; setp.eq.u32 %p1, %r2, %r4; @%p1 bra $set;
    $spin: ld.volatile.global.u32 %r5, [%rd5+4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra $spin;
    $set: mov.u32 %r6, 1; st.volatile.global.u32 [%rd5], %r6; ret;"""
    for seed in range(3):
        outcome, out = run(kernel(body), [0] * 12, (1, 1, 1), grid=(12, 1, 1), seed=seed, max_steps=3_000_000)
        assert outcome.complete, said(outcome)
        assert out == [1] * 12
