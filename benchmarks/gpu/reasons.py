"""Why a figure of ours is not the device's, where nvcc's own code (its PTX, simulated) does not tell.

A key is the kernel and the figure, or only one of them.
"""

from __future__ import annotations

__all__ = ["REASONS"]

REASONS = {
    ("heat-cavity", "captures"): "a sum whose terms cancel, combined in another order: it is zero but for rounding",
    ("particles", "captures"): "the total momentum is zero but for rounding, and is combined in another order",
    ("covariance", "output"): "the covariance of two such columns is zero but for rounding",
    ("pipeline", "captures"): "probably rounding: a sum in double over single-precision pixels that come from powf",
    ("recurrence-5", "captures"): "a recurrence of floats, combined in another order: one unit of the last place",
    ("recurrence-6", "captures"): "a recurrence of floats, combined in another order: one unit of the last place",
    ("classic_fft_halves", "captures"): "an element whose terms cancel: it is zero but for the rounding of floats",
    ("bfs_frontier", "memory"): "places in the frontier are given out by atomics, in any order",
    ("compact_ballot", "memory"): "places are given out by atomics, in any order",
    ("run_lengths", "memory"): "places are given out by atomics, in any order",
    ("union_find_hook", "memory"): "a race, which the simulator reports",
    ("pointer_jump", "memory"): "a race, which the simulator reports",
    (
        "",
        "global atomic sectors",
    ): "lanes at one address are served one after the other, and the device counts the sectors of each pass",
}
