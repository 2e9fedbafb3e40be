"""Which data regions are loops."""

from __future__ import annotations

from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.plan import DataRegion


def test_a_data_region_is_a_loop_where_it_is_nothing_else() -> None:
    p = Program()
    loop, repeat, host = p.loop(p.host()), p.repeat("do", [p.host()]), p.host()
    function = p.function((loop, repeat, host))
    assert DataRegion(function, (loop,)).loop is loop
    assert DataRegion(function, (repeat,)).loop is repeat
    assert DataRegion(function, (host,)).loop is None
    assert DataRegion(function, (loop, repeat)).loop is None
    assert DataRegion(function, (p.block(loop),)).loop is None
