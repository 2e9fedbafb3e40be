"""Loops that may wait for others."""

from __future__ import annotations

import pytest

from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.reading.spinning import spinning_loops

LOOPS = [
    ("$top: ld.volatile.global.u32 %r2, [%rd3]; setp.eq.u32 %p1, %r2, 0; @%p1 bra $top; ret;", ["load"]),
    ("$top: atom.global.add.u32 %r2, [%rd3], 0; setp.ne.u32 %p1, %r2, 3; @%p1 bra $top; ret;", ["atomic_add"]),
    # what decides is computed before, or from a number of iterations
    ("ld.global.u32 %r2, [%rd3]; $top: setp.eq.u32 %p1, %r2, 0; @%p1 bra $top; ret;", []),
    ("mov.u32 %r2, 0; $top: ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3+4], %r3; add.u32 %r2, %r2, 1;"
     "setp.lt.u32 %p1, %r2, 9; @%p1 bra $top; ret;", []),
    # by a flag that an arm sets
    ("mov.u32 %r2, 0; $top: mov.u32 %r4, 0; ld.global.u32 %r3, [%rd3]; setp.eq.u32 %p1, %r3, 0; @%p1 bra $on;"
     "mov.u32 %r4, 1; $on: setp.eq.u32 %p2, %r4, 0; @%p2 bra $top; ret;", ["load"]),
    # what a loop before has read is carried on
    ("ld.global.u32 %r2, [%rd3]; $top: setp.eq.u32 %p1, %r2, 0; ld.global.u32 %r2, [%rd3+4]; @%p1 bra $top; ret;",
     ["load"]),
    ("$top: bra $top;", []),
    ("ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3], %r3; ret;", []),
]  # fmt: skip


@pytest.mark.parametrize(("body", "asked"), LOOPS)
def test_loops_that_wait_are_left_by_what_they_read(body: str, asked: list[str]) -> None:
    function = kernel(body).function("k")
    assert function is not None
    found = spinning_loops(function)
    assert [i.op for reads in found.values() for i in reads] == asked


def test_an_inner_loop_that_waits_may_be_left_by_the_outer_one_too() -> None:
    body = """
        mov.u32 %r2, 0;
    $outer:
    $top: ld.volatile.global.u32 %r3, [%rd3]; setp.eq.u32 %p1, %r3, 0; @%p1 bra $top;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra $outer; ret;"""
    function = kernel(body).function("k")
    assert function is not None
    assert len(spinning_loops(function)) >= 1
