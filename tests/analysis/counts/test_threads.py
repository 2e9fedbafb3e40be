"""The threads of a launch that are looked at, and for how many blocks they stand."""

from __future__ import annotations

import numpy as np

from warpsmith.analysis.counts.threads import LaunchedThreads


def test_a_small_grid_is_looked_at_as_a_whole() -> None:
    threads = LaunchedThreads.of((8, 3, 1), (3, 2, 1), 32)
    assert threads.whole and threads.count == 6 and threads.lanes == 32 and threads.warps == 1
    assert threads.filled().reshape(6, 32).sum(axis=1).tolist() == [24] * 6
    x, y, block = (threads.register(name) for name in ("tid.x", "tid.y", "ctaid.y"))
    assert x is not None and y is not None and block is not None
    assert x[:10].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1] and y[:10].tolist() == [0] * 8 + [1, 1]
    assert block[::32].tolist() == [0, 0, 0, 1, 1, 1]
    assert threads.weights(frozenset()).tolist() == [1.0] * 6


def test_of_a_large_grid_the_edges_and_two_blocks_between() -> None:
    threads = LaunchedThreads.of((256, 1, 1), (1000, 2, 1), 32)
    assert threads.blocks == ((0, 1, 998, 999), (0, 1), (0,)) and not threads.whole
    assert threads.sampled("ctaid.x") and not threads.sampled("ctaid.y")
    weights = threads.weights(frozenset())
    assert weights.tolist() == [1, 998, 0, 1] * 2 and weights.sum() == 2000
    assert threads.weights(frozenset({"ctaid.x"})).tolist() == [1, 499, 499, 1] * 2
    extents = threads.extents()
    assert list(extents) == ["ctaid.x"] and extents["ctaid.x"][:: threads.lanes].tolist() == [0, 997, 0, 0] * 2


def test_an_axis_is_cut_where_threads_begin_to_do_otherwise() -> None:
    threads = LaunchedThreads.of((256, 1, 1), (1000, 2, 1), 32).cut({"ctaid.x": (400, 0, 2000), "ctaid.y": (1,)})
    assert threads.blocks == ((0, 1, 399, 400, 998, 999), (0, 1), (0,))
    assert threads.pairs("ctaid.x") == [(1, 2), (3, 4)] and threads.pairs("ctaid.y") == []
    assert threads.axis_weights("ctaid.x", steady=True).tolist() == [1, 399, 0, 599, 0, 1]
    assert threads.axis_weights("ctaid.x", steady=False).sum() == 1000
    assert threads.extents()["ctaid.x"][:: threads.lanes].tolist() == [0, 398, 0, 598, 0, 0] * 2
    # a piece of one block stands for itself
    again = threads.cut({"ctaid.x": (401,)})
    assert again.blocks[0] == (0, 1, 399, 400, 401, 998, 999)
    assert again.axis_weights("ctaid.x", steady=True).tolist() == [1, 399, 0, 1, 598, 0, 1]


def test_lanes_know_their_place_and_no_clock() -> None:
    threads = LaunchedThreads.of((48, 1, 1), (2, 1, 1), 32)
    lane, warp = threads.register("laneid"), threads.register("warpid")
    assert lane is not None and warp is not None
    assert np.array_equal(lane[:64], np.arange(64) % 32) and warp[:64].tolist() == [0] * 32 + [1] * 32
    assert threads.register("clock64") is None
    sizes = [threads.register(name) for name in ("ntid.x", "nctaid.x", "nwarpid")]
    assert [int(size[0]) for size in sizes if size is not None] == [48, 2, 2]
