"""Votes, shuffles, matches and reductions, of whole warps and of what is left of them."""

from __future__ import annotations

import struct

import pytest

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
