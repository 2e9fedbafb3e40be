"""Accesses on the way: what they cost, which bytes they touch, how they move."""

from __future__ import annotations

import numpy as np

from tests.analysis.counts.counted import walked
from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts.slopes import WINDOWS
from warpsmith.analysis.counts.touching import Sweeps, bytes_of
from warpsmith.ssa.nodes import Instruction, Memory, Value
from warpsmith.ssa.types import I32, I64

SHAPE = ((64, 1, 1), (4000, 1, 1), 32)
BLOCKS = """mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, {step}, %r1; mul.wide.u32 %rd7, %r2, 4;
    add.u64 %rd8, %rd1, %rd7; st.global.u32 [%rd8], %r1; ret;"""


def test_bytes_that_a_lane_asks_for() -> None:
    address, word, wide = Value(I64), Value(I32), Value(I64)
    assert bytes_of(Instruction("load", (address,), (word, Value(I32)), Memory("global"))) == 8
    assert bytes_of(Instruction("store", (address, wide, word), (), Memory("global"))) == 12
    assert bytes_of(Instruction("atomic_add", (address, word), (Value(I32),), Memory("global"))) == 4


def test_blocks_move_their_accesses_and_sectors_tell_which_are_alike() -> None:
    for step, alike in ((64, True), (8, True), (3, False)):
        found = walked(kernel(BLOCKS.format(step=step)), SHAPE, {})
        assert (not found.unsteady) == alike
        ((_, touched),) = found.writer.touched.items()
        assert {part.steps for part in touched} == {(4 * step, 0, 0)} and not found.lacks
        assert sum(int((part.found.high - part.found.low).sum()) for part in touched) == 4 * 64 * 4


def test_generic_addresses_lead_where_their_window_is() -> None:
    text = """.shared .align 16 .b8 s[512];
        mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; mul.wide.u32 %rd7, %r1, 8; add.u64 %rd8, %rd6, %rd7;
        st.u32 [%rd8], %r1; ret;"""
    found = walked(kernel(text), ((32, 1, 1), (1, 1, 1), 32), {})
    ((_, counts),) = found.tallies.requests.items()
    # two ways in the banks, and no sector
    assert counts[:, 0].tolist() == [1, 32, 0, 2, 0] and WINDOWS["shared"] < WINDOWS["local"]


def test_sweeps_add_visits_of_one_form() -> None:
    sweeps = Sweeps(0, [0.0, 0.0], [0.0, 0.0], [0.0], [])
    sweeps.add([1.0, 8.0], [1.0, 2.0], [64])
    sweeps.add([3.0, 8.0], [3.0, 2.0], [32])
    assert (sweeps.visits, sweeps.sectors, sweeps.lines) == (2, [4.0, 16.0], [4.0, 4.0])
    assert sweeps.times == [96.0]
    assert np.mean(sweeps.sectors) == 10
