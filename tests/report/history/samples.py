"""Histories for tests: a small one, and figures 1 to 3 and 5 to 7."""

from __future__ import annotations

from functools import cache

import numpy as np
from msgspec.structs import replace

from tests.simt.clocks.traces import machine
from tests.simt.mask.programs import example, program
from warpsmith.machine.simt.parameters import CacheShape, named_machine
from warpsmith.report.history.model import History
from warpsmith.simt.clocks.fast import run_clocks
from warpsmith.simt.clocks.model import ClockLaunch
from warpsmith.simt.mask.resources import image, words_of
from warpsmith.simt.mask.run import Groups

SMALL = "ld r0.x, t0, u(0)\npush_mask L\nmask_nz lane_id\nadd.u32 r1.x, r0.x, u(1)\npop_mask\nL:\nret\n"


@cache
def small() -> History:
    """Two waves of four lanes, one slot in issue: lane 0 is masked off while the others add what was loaded."""
    made, shape = program(SMALL), machine(waves=2, l1=CacheShape(256, 4, 2))
    run = run_clocks(ClockLaunch(made, shape, {("t", 0): words_of([1])}, Groups(4, 2)))
    return History("small <1>", "two waves", made, shape, run)


@cache
def figure(issue: int, scheduler: str = "greedy") -> History:
    """Figures 1 (4:2), 2 (4:1) and 3 (4:4): waves to instructions issued in a clock."""
    made = example("arithmetic")
    shape = replace(named_machine("example"), issue=issue, scheduler=scheduler)
    views = {
        ("t", 0): image(np.random.default_rng(0).integers(0, 256, (16, 16, 4))),
        ("u", 0): words_of(np.zeros(4096, np.uint32)),
    }
    run = run_clocks(ClockLaunch(made, shape, views, Groups(1024)))  # type: ignore[arg-type]
    return History(f"4:{issue}", "", made, shape, run)


@cache
def listing(name: str) -> History:
    """Figures 5 to 7: an example of one wave at width 32."""
    made, shape = example(name), named_machine("example")
    return History(name, "", made, shape, run_clocks(ClockLaunch(made, shape, {}, Groups(32))))
