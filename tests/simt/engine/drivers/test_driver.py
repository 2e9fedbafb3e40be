"""Blocks and warps in turn, and the barriers between."""

from __future__ import annotations

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.simt.launch import Launch

ROUNDS = """
    .shared .align 4 .b8 s[256];
    mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; xor.b32 %r5, %r3, 128; add.u32 %r6, %r2, %r5;
    mov.u32 %r9, %ctaid.x; add.u32 %r7, %r1, %r9; mov.u32 %r8, 0;
$top: st.shared.u32 [%r4], %r7; bar.sync 0; ld.shared.u32 %r10, [%r6]; bar.sync 0;
    mad.lo.u32 %r7, %r10, 3, %r8; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 4;
    @%p1 bra $top;
    mov.u32 %r11, %ctaid.y; mad.lo.u32 %r12, %r11, 3, %r9; shl.b32 %r12, %r12, 8; cvt.u64.u32 %rd5, %r12;
    add.s64 %rd6, %rd3, %rd5; st.global.u32 [%rd6], %r7; ret;"""


def test_warps_exchange_in_rounds_in_every_block() -> None:
    for width in (8, 32):
        launch = Launch((3, 2, 1), (64, 1, 1), {"n": bytes(4)}, warp=width)
        assert agree(Case(kernel(ROUNDS), "k", launch, {"out": (bytes(6 * 256), False)})) == ""


def test_warps_that_wait_at_different_barriers_are_left_to_the_interpreter() -> None:
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra $a; bar.sync 0; ret; $a: bar.sync 0; ret;"
    launch = Launch((1, 1, 1), (64, 1, 1), {"n": bytes(4)})
    assert "barrier" in agree(Case(kernel(body), "k", launch, {"out": (bytes(256), True)}))


def test_threads_that_return_from_a_loop_are_not_waited_for() -> None:
    body = """
        mov.u32 %r2, 0;
    $top: setp.eq.u32 %p1, %r1, %r2; @%p1 ret;
        bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5;
        @%p1 bra $top;
        st.global.u32 [%rd3], %r2; ret;"""
    launch = Launch((1, 1, 1), (64, 1, 1), {"n": bytes(4)})
    assert agree(Case(kernel(body), "k", launch, {"out": (bytes(256), True)})) == ""
