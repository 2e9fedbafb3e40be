"""Loops that only run where a test fails."""

from __future__ import annotations

import msgspec.structs

from tests.offload.transfers.abstract_programs import Program
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.tree.nodes import For, If, replace


def test_a_second_copy_of_the_users_text_is_one() -> None:
    p = Program()
    loop, own, inner = p.loop(p.host()), p.loop(p.host()), p.loop(p.host())
    twin = replace(loop, step=1)
    assert isinstance(twin, For) and twin is not loop and twin.span == loop.span
    made = replace(p.when([loop]), other=p.block(twin, own))
    function = p.function((made,))
    assert fallback_loops(function) == {id(twin)}
    # in the user's own branch both are the user's
    assert isinstance(made, If)
    assert fallback_loops(p.function((msgspec.structs.replace(made, intact=True),))) == frozenset()
    assert fallback_loops(p.function((replace(p.when([loop]), then=p.block(loop)),))) == frozenset()
    other = replace(p.when([own]), other=p.block(inner))
    assert fallback_loops(p.function((other,))) == frozenset()
    empty = replace(p.when([p.host()]), other=p.block(loop))
    assert fallback_loops(p.function((empty,))) == frozenset()
