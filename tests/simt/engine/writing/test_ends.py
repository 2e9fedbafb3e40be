"""Blocks in which lanes end, and the barriers behind which those stand."""

from __future__ import annotations

from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.writing.ends import Ends
from warpsmith.ssa.graph import Graph


def _ends(body: str) -> list[tuple[int, bool]]:
    """Return for each barrier how many last blocks stand behind it, and whether they are watched."""
    (function,) = kernel(body).functions
    ends = Ends.of(function, Graph.of(function))
    barriers = [i for _, i in function.instructions() if i.op == "barrier"]
    watched = sum(ends.bits.values())
    return [(ends.behind.get(i, 0).bit_count(), not ends.behind.get(i, 0) & ~watched) for i in barriers]


def test_a_block_with_something_in_it_that_every_way_goes_through_is_watched() -> None:
    odd = "setp.eq.u32 %p1, %r1, 1; @!%p1 bra $a; bar.sync 0; bra $a; $a:"
    assert _ends(f"{odd} st.global.u32 [%rd3], %r1; ret;") == [(1, True)]
    assert _ends(f"{odd} ret;") == [(0, True)]


def test_a_return_on_the_way_is_not() -> None:
    early = "setp.eq.u32 %p1, %r1, 1; @%p1 bra $b; bar.sync 0; setp.eq.u32 %p2, %r1, 2; @%p2 bra $b; bar.sync 0;"
    body = f"{early} st.global.u32 [%rd3], %r1; ret; $b: st.global.u32 [%rd3], 5; ret;"
    # behind the second barrier stands the first return; behind the first one, none on every way
    assert _ends(body) == [(0, True), (0, True)]
    assert _ends(body.replace("bar.sync 0; st", "bar.sync 0; add.u32 %r2, %r1, 1; bra $c; $c: st")) == [
        (0, True),
        (1, True),
    ]
