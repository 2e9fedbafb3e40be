"""Votes, shuffles, matches and reductions, of whole warps and of what is left of them."""

from __future__ import annotations

import random
import struct

import pytest

from tests.sampling import one_in
from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.simt.launch import Launch

BODIES = [
    "setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r2, %p1, -1;",
    "shfl.sync.down.b32 %r2|%p1, %r1, 3, 6175, -1; selp.u32 %r2, %r2, 99, %p1;",
    "and.b32 %r3, %r1, 1; match.any.sync.b32 %r2, %r3, -1;",
    "sub.s32 %r3, 3, %r1; redux.sync.min.s32 %r2, %r3, -1;",
    "activemask.b32 %r2;",
]


@pytest.mark.parametrize("body", BODIES)
def test_lanes_tell_each_other(body: str) -> None:
    launch = Launch((1, 1, 1), (40, 1, 1), {"n": bytes(4)})
    case = Case(kernel(f"{body} st.global.u32 [%rd3], %r2; ret;"), "k", launch, {"out": (bytes(160), True)})
    assert agree(case) == ""


def test_lanes_that_are_not_all_there_are_left_to_the_interpreter() -> None:
    body = "setp.lt.u32 %p1, %r1, 5; @!%p1 bra $e; vote.sync.any.pred %p2, %p1, 31; $e: ret;"
    case = Case(kernel(body), "k", Launch(arguments={"n": bytes(4)}), {"out": (struct.pack("<i", 0), True)})
    assert agree(case) == ""
    wrong = Case(kernel(body.replace("31;", "63;")), "k", Launch(arguments={"n": bytes(4)}), {"out": (bytes(4), True)})
    assert "exchange" in agree(wrong)


_OPS = (
    "setp.lt.u32 %p1, %r4, 40; vote.sync.ballot.b32 %r3, %p1, %r9;",
    "setp.lt.u32 %p1, %r4, 60; vote.sync.all.pred %p2, %p1, %r9; selp.u32 %r3, 7, 8, %p2;",
    "setp.lt.u32 %p1, %r4, 9; vote.sync.any.pred %p2, %p1, %r9; selp.u32 %r3, 7, 8, %p2;",
    "setp.lt.u32 %p1, %r4, 30; vote.sync.uni.pred %p2, %p1, %r9; selp.u32 %r3, 7, 8, %p2;",
    "shfl.sync.down.b32 %r3|%p1, %r4, 3, 31, %r9; selp.u32 %r3, %r3, 99, %p1;",
    "shfl.sync.idx.b32 %r3, %r4, %r4, 31, %r9;",
    "shfl.sync.bfly.b32 %r3, %r4, 1, 6175, %r9;",
    "and.b32 %r3, %r4, 1; match.any.sync.b32 %r3, %r3, %r9;",
    "shr.u32 %r3, %r4, 2; match.all.sync.b32 %r3|%p1, %r3, %r9; selp.u32 %r3, %r3, 77, %p1;",
    "redux.sync.add.s32 %r3, %r4, %r9;",
    "redux.sync.max.u32 %r3, %r4, %r9;",
    "bar.warp.sync %r9;",
)


def tile_case(seed: int) -> Case:
    """Return a kernel whose lanes exchange in several groups of a warp: tiles, or lanes that have a number alike."""
    chosen = random.Random(seed)
    size, groups = chosen.choice((1, 2, 4, 8, 16, 32)), chosen.choice((2, 3, 5))
    mask = chosen.choice(
        (
            f"and.b32 %r8, %r7, {-size}; mov.u32 %r9, {(1 << size) - 1}; shl.b32 %r9, %r9, %r8;",
            f"rem.u32 %r8, %r7, {groups}; match.any.sync.b32 %r9, %r8, -1;",
        )
    )
    away = "and.b32 %r10, %r8, 1; setp.eq.u32 %p3, %r10, 1; @%p3 bra $e;" if "match" in mask else ""
    ops = "".join(f"{chosen.choice(_OPS)} mad.lo.u32 %r2, %r2, 31, %r3;" for _ in range(chosen.randint(2, 6)))
    body = "mov.u32 %r7, %laneid; mov.u32 %r2, 1; mov.u32 %r3, 5; mad.lo.u32 %r4, %r1, 37, 11; and.b32 %r4, %r4, 63;"
    body += f"{mask} {away if chosen.random() < 0.6 else ''} {ops} $e: st.global.u32 [%rd3], %r2; ret;"
    width, threads = chosen.choice((8, 16, 20, 32)), chosen.choice((27, 40, 64))
    launch = Launch((1, 1, 1), (threads, 1, 1), {"n": bytes(4)}, warp=width)
    return Case(kernel(body), "k", launch, {"out": (bytes(4 * threads), True)})


@pytest.mark.parametrize("seed", one_in(6, range(60)))
def test_groups_of_a_warp_exchange_by_themselves(seed: int) -> None:
    assert agree(tile_case(seed)) == ""


@pytest.mark.parametrize("mask", ["3", "5"])
def test_groups_that_overlap_are_left_to_the_interpreter(mask: str) -> None:
    body = f"""mov.u32 %r9, 1; shl.b32 %r9, %r9, %r1; or.b32 %r9, %r9, {mask};
        vote.sync.any.pred %p2, %p1, %r9; ret;"""
    case = Case(kernel(body), "k", Launch(block=(4, 1, 1), arguments={"n": bytes(4)}), {"out": (bytes(16), True)})
    assert "exchange" in agree(case)
