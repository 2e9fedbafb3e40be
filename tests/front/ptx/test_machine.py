"""Memory, barriers, exchanges of PTX and the ops that they are."""

from __future__ import annotations

import pytest

from tests.front.ptx.lines import ops
from warpsmith.front.ptx.machine import elements, memory_operand

LINES = {
    "ld.global.u32 %r1, [%rd1+8]": "load [global +8 align 4]",
    "ld.shared.f32 %f1, [tile+4]": "load [shared +4 align 4]",
    "ld.global.nc.u32 %r1, [%rd1]": "load [global +0 align 4 cached read only]",
    "ld.volatile.global.u32 %r1, [%rd1]": "load [global +0 align 4 volatile]",
    "ld.global.v2.u32 {%r1, %r2}, [%rd1]": "load [global +0 align 8]",
    "ld.u32 %r1, [%rd1]": "load [generic +0 align 4]",
    "st.global.u32 [%rd1+-4], 5": "store [global -4 align 4]",
    "atom.global.add.u32 %r1, [%rd1], 5": "atomic_add [global +0 align 4]",
    "red.shared.max.s32 [tile], 5": "atomic_smax [shared +0 align 4]",
    "atom.global.cas.b32 %r1, [%rd1], 5, 6": "atomic_compare", "bar.sync 0": "barrier [waits]",
    "barrier.sync 1, 64": "barrier [waits]", "bar.arrive 1, 64": "barrier [arrives]",
    "bar.warp.sync -1": "warp_barrier 4294967295:i32", "membar.gl": "fence [device]", "membar.cta": "fence [block]",
    "fence.acq_rel.sys": "fence [system]", "vote.sync.ballot.b32 %r1, %p1, -1": "vote [ballot]",
    "shfl.sync.down.b32 %r1, %r2, 1, 31, -1": "shuffle [down]",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1": "shuffle [bfly]",
    "match.any.sync.b32 %r1, %r2, -1": "match [any]", "redux.sync.add.s32 %r1, %r2, -1": "reduce [add]",
    "activemask.b32 %r1": "active", "cvta.to.global.u64 %rd1, %rd2": "from_generic ['global']",
    "mov.b64 %rd1, {%r1, %r2}": "or",
}  # fmt: skip


@pytest.mark.parametrize("text", LINES)
def test_which_op(text: str) -> None:
    start = "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.x;"
    start += " setp.eq.s32 %p1, %r1, 3;"
    lines, told = ops(f"{start} {text};")
    assert told == []
    assert any(line.startswith(LINES[text]) for line in lines), lines


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[%rd1]", ("%rd1", 0)),
        ("[%rd1+16]", ("%rd1", 16)),
        ("[tile+-4]", ("tile", -4)),
        ("[ a + 8 ]", ("a", 8)),
        ("[64]", ("64", 0)),
    ],
)
def test_addresses(text: str, place: tuple[str, int]) -> None:
    assert memory_operand(text) == place


def test_vectors() -> None:
    assert elements("{%r1, %r2}") == ["%r1", "%r2"] and elements("%r1") == ["%r1"]


def test_what_is_no_address_is_blamed() -> None:
    _, told = ops("ld.global.u32 %r1, %rd1;")
    assert len(told) == 1 and "is not an address" in told[0]
