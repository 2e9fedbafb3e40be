"""A program counter for each lane: sets of lanes wait for a number of pieces, and no longer."""

from __future__ import annotations

from tests.simt.policies.compared import run
from tests.simt.policies.graphs import random_kernel
from warpsmith.simt.policies.per_lane import PATIENCE
from warpsmith.ssa.reader import parse_module


def test_no_lane_waits_longer_than_all_others_take_turns() -> None:
    waited = 0
    for seed in range(12):
        done, _ = run("per-lane", parse_module(random_kernel(seed)), 8)
        for pieces in done.pieces.values():
            last = dict.fromkeys(range(8), 0)
            for number, piece in enumerate(pieces, 1):
                for lane in (one for one in range(8) if piece.mask >> one & 1):
                    # each of the seven other lanes may be late as well
                    assert number - last[lane] <= PATIENCE + 8, (seed, number)
                    waited = max(waited, number - last[lane])
                    last[lane] = number
    assert waited > PATIENCE
