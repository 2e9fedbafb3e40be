"""Which holds are loops."""

from __future__ import annotations

from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.plan import Hold


def test_a_hold_is_a_loop_where_it_is_nothing_else() -> None:
    p = Program()
    loop, repeat, host = p.loop(p.host()), p.repeat("do", [p.host()]), p.host()
    function = p.function((loop, repeat, host))
    assert Hold(function, (loop,)).loop is loop
    assert Hold(function, (repeat,)).loop is repeat
    assert Hold(function, (host,)).loop is None
    assert Hold(function, (loop, repeat)).loop is None
    assert Hold(function, (p.block(loop),)).loop is None
