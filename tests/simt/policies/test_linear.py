"""Blocks one behind the other: what the interpreter's lanes are put together to afterwards."""

from __future__ import annotations

from tests.simt.policies.compared import placed, run
from tests.simt.policies.graphs import random_kernel
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.policies.machine import why_not
from warpsmith.simt.tally import Tally, totals
from warpsmith.ssa.reader import parse_module


def test_maximal_is_what_the_tally_puts_together() -> None:
    for seed in range(15):
        module = parse_module(random_kernel(seed))
        if why_not("structurized", module):
            continue
        launch, memory = placed(8)
        tally = Tally()
        interpret(module, "k", launch, memory, tally)
        done, _ = run("maximal", module, 8)
        sums = totals(tally, 8)
        assert (sums.warp_instructions, sums.issued_slots) == (
            done.totals.warp_instructions,
            done.totals.issued_slots,
        )
