"""Bugs that are put into the counts are seen: by runs, by going through loops one by one, by looking at all blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.analysis.accesses import memory_module
from tests.analysis.counts.counted import differences, walk_of
from tests.analysis.counts.test_loops import LOOP
from tests.analysis.counts.test_walk import (
    BOTH,
    lower_than_a_run,
    test_lanes_go_both_ways_where_memory_decides,
    test_what_either_way_gives_decides_nothing_behind_them,
)
from tests.analysis.runs import launched
from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts import columns, loops, requests, tallies, threads, touching, walk
from warpsmith.analysis.counts.columns import Column
from warpsmith.analysis.counts.walk import NotCountedError

Patch = Callable[[pytest.MonkeyPatch], None]
RUNS = 60


def _runs_differ() -> bool:
    for seed in range(RUNS):
        did = launched(seed, memory_module(seed))
        try:
            if did.outcome.complete and differences(seed, did):
                return True
        except (NotCountedError, ValueError, IndexError):
            return True
    return False


def _loops_differ() -> bool:
    for end, step, stride in ((100, 1, 4), (101, 3, 4), (77, 2, 12)):
        text = LOOP.format(start=0, test="ge.s32", end=end, step=step, stride=stride)
        # each lane beside the last: as many sectors as the place in the first one says
        text = text.replace("add.u64 %rd8, %rd1", "add.u64 %rd8, %rd3")
        once, slowly = (walk_of(kernel(text), ((32, 1, 1), (1, 1, 1), 32), {}) for _ in range(2))
        slowly.irregular = set(slowly.graph.order)
        try:
            pairs = zip(once.run().tallies.requests.values(), slowly.run().tallies.requests.values(), strict=True)
            if any((one[:4] != other[:4]).any() for one, other in pairs):
                return True
        except NotCountedError:
            return True
    return False


EDGE = """
    mov.u32 %r2, %ctaid.x; setp.gt.u32 %p1, %r2, {limit}; @%p1 bra $end;
    st.global.u32 [%rd3], %r1;
$end: ret;"""


def _blocks_differ() -> bool:
    """Whether blocks are taken to be alike that are not, or grids lose some."""
    for limit in (0, 40, 3000):
        walked = walk_of(kernel(EDGE.format(limit=limit)), ((256, 1, 1), (2000, 1, 1), 32), {})
        found = walked.run()
        ((_, counts),) = found.tallies.requests.items()
        total = float(counts[0] @ walked.threads.weights(found.unsteady))
        if not found.unsteady and total != 8 * min(2000, limit + 1):
            return True
    return False


def _both_are_lower() -> bool:
    """Whether lanes that go both ways are counted lower than a run, or decide by what they cannot know."""
    try:
        test_lanes_go_both_ways_where_memory_decides()
        test_what_either_way_gives_decides_nothing_behind_them()
        if any(lower_than_a_run(seed) for seed in range(BOTH)):
            return True
    except AssertionError:
        return True
    return False


def _floor(a: Column, b: Column) -> Column:
    return np.where(b == 0, ~np.zeros_like(b), a // np.where(b == 0, b.dtype.type(1), b))


def _set(owner: Any, name: str, made: object) -> Patch:
    return lambda patch: patch.setattr(owner, name, made)


def _set_op(name: str, made: object) -> Patch:
    return lambda patch: patch.setattr(columns, "_FAST", {**columns._FAST, name: made})


_first_above, _period = loops._first_above, touching.AccessCounter._period
_ways = walk.WarpWalk._ways
_take = tallies.Tallies.take
_weights = threads.LaunchedThreads.axis_weights
_register, _count = threads.LaunchedThreads.register, requests.count_sectors
BUGS: dict[str, tuple[Patch, Callable[[], bool]]] = {
    "a loop ends an iteration late": (
        _set(loops, "_first_above", lambda d, c: _first_above(d, c) + 1), _loops_differ),
    "requests of a loop always cost the same": (_set(touching.AccessCounter, "_period", lambda *_: 1), _loops_differ),
    "a stretch is divided without its rest": (
        _set(tallies.Tallies, "take", lambda self, other, times: _take(self, other, times - 1)),
        _loops_differ),
    "a step is forgotten": (_set(loops, "_wrapped", lambda step, bits: np.ones_like(step)), _loops_differ),
    "lanes take what others compute": (
        _set(walk.WarpWalk, "merge", lambda self, value, number, mask: self.numbers.update({value: number})),
        _runs_differ),
    "quotients are rounded down": (_set_op("sdiv", lambda i, *c: _floor(*c)), lambda: _op_differs("sdiv")),
    "comparisons without a sign have one": (
        _set_op("ult", lambda i, *c: np.less(*c)), lambda: _op_differs("ult")),
    "shifts keep what is beyond the width": (
        _set_op("lshr", lambda i, a, n: a >> n.astype(a.dtype)), lambda: _op_differs("lshr")),
    "an access lies in one sector": (
        _set(touching, "count_sectors", lambda a, t, size, unit=32: _count(a, t, 1, unit)), _runs_differ),
    "lanes of 8 bytes go to the banks at once": (
        _set(touching, "count_ways", lambda a, t, size: requests._phase(a, t, size)), _runs_differ),
    "threads have their number along y for that along x": (
        _set(threads.LaunchedThreads, "register",
             lambda self, name: _register(self, "tid.y" if name == "tid.x" else name)), _runs_differ),
    "blocks are alike without a look": (_set(walk.WarpWalk, "_is_alike", lambda *_: True), _blocks_differ),
    "lanes go one way alone": (
        _set(walk.WarpWalk, "_ways", lambda self, block, mask: list(_ways(self, block, mask))[:1]), _both_are_lower),
    "what comes of both ways is known": (_set(walk, "_between", lambda *_: set()), _both_are_lower),
    "the last block is forgotten": (
        _set(threads.LaunchedThreads, "axis_weights", lambda *given, steady: _without_last(*given, steady=steady)),
        _blocks_differ),
}  # fmt: skip


def _without_last(of: threads.LaunchedThreads, axis: str, *, steady: bool) -> Column:
    weights = _weights(of, axis, steady=steady)
    return np.append(weights[:-1], 0.0) if of.sampled(axis) else weights


def _op_differs(op: str) -> bool:
    from tests.analysis.counts.test_columns import test_whole_numbers

    try:
        test_whole_numbers(op)
    except AssertionError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put, differs = BUGS[bug]
    if differs is not _runs_differ:
        assert not differs()
    put(monkeypatch)
    assert differs()
