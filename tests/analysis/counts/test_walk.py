"""What is counted without a run is what a run shows."""

from __future__ import annotations

import pytest

from tests.analysis.accesses import memory_module
from tests.analysis.counts.counted import differences, sums, walk_of, walked
from tests.analysis.counts.nests import nest_module
from tests.analysis.runs import GRID, SHAPES, launched
from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts import threads
from warpsmith.analysis.counts.tallies import SECTORS
from warpsmith.analysis.counts.walk import NotCountedError

FEW, MANY = 120, 1200
SHAPE = ((32, 1, 1), (2, 1, 1), 32)


def _check(seed: int) -> None:
    did = launched(seed, memory_module(seed))
    if did.outcome.complete:
        assert differences(seed, did) == []


@pytest.mark.parametrize("seed", range(FEW))
def test_counts_are_those_of_a_run(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_counts_of_any_kernel_are_those_of_a_run(seed: int) -> None:
    _check(seed)


def _stand_for_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the blocks that are looked at stand for the others; then they must give what all of them do."""
    module = nest_module(seed)
    shape = (((8, 4, 1), (9, 6, 1), 32), ((32, 1, 1), (12, 1, 1), 32))[seed % 2]
    arguments = {"n": (5, 17, 40, 300)[seed % 4], "m": (3, 12, 25)[seed // 3 % 3]}
    monkeypatch.setattr(threads, "_MOST", 0)
    few = walk_of(module, shape, arguments)
    monkeypatch.undo()
    whole = walk_of(module, shape, arguments)
    few.left = whole.left = 800
    try:
        found, wanted = few.run(), whole.run()
    except NotCountedError:
        return False
    if found.unsteady:
        return False
    weights = few.threads.weights(found.unsteady)
    assert sums(found, weights) == sums(wanted, whole.threads.weights(frozenset()))
    return True


def test_blocks_between_are_like_those_at_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(_stand_for_all(seed, monkeypatch) for seed in range(10)) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10, 310, 30))
def test_blocks_between_are_always_like_those_at_the_ends(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(_stand_for_all(seed, monkeypatch) for seed in range(start, start + 30)) >= 5


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra $end; st.global.u32 [%rd1], %r1; $end: ret;",
         "what is loaded"),
        ("ld.param.u32 %r2, [n]; setp.eq.u32 %p1, %r2, 0; @%p1 bra $end; st.global.u32 [%rd1], %r1; $end: ret;",
         "the argument n"),
        ("setp.eq.u64 %p1, %rd1, 0; @%p1 bra $end; st.global.u32 [%rd1], %r1; $end: ret;", "the argument out"),
        ("mov.u32 %r2, %clock; setp.eq.u32 %p1, %r2, 0; @%p1 bra $end; st.global.u32 [%rd1], %r1; $end: ret;",
         "%clock"),
    ],
)  # fmt: skip
def test_a_branch_on_what_is_not_known_has_no_count(body: str, why: str) -> None:
    with pytest.raises(NotCountedError) as caught:
        walked(kernel(body), SHAPE, {})
    assert why in caught.value.why


def test_an_index_from_memory_lacks_its_sectors_alone() -> None:
    body = """ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd7, %r2, 4; add.u64 %rd8, %rd1, %rd7;
        st.global.u32 [%rd8], %r1; ret;"""
    found = walked(kernel(body), SHAPE, {})
    load, store = found.tallies.requests.items()
    assert load[1][:3, 0].tolist() == [1, 32, 1] and load[0] not in found.lacks
    assert store[1][:2, 0].tolist() == [1, 32] and "what is loaded" in found.lacks[store[0]]


def test_an_endless_loop_is_given_up() -> None:
    with pytest.raises(NotCountedError, match="all iterations"):
        walk = walk_of(kernel("$more: add.u32 %r2, %r2, 1; bra $more; ret;"), SHAPE, {})
        walk.left = 100
        walk.run()


def test_lanes_that_left_a_loop_keep_their_numbers() -> None:
    body = """mov.u32 %r2, 0;
    $head:
        shl.b32 %r4, %r2, 5; add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra $head;
        cvt.u64.u32 %rd7, %r4; add.u64 %rd8, %rd1, %rd7; st.global.u32 [%rd8], %r1; ret;"""
    ((_, counts),) = walked(kernel(body), ((32, 1, 1), (1, 1, 1), 32), {}).tallies.requests.items()
    assert counts[:3, 0].tolist() == [1, 32, 32]


EITHER = """
    ld.global.u32 %r2, [%rd3]; mov.u32 %r4, 0; setp.gt.u32 %p1, %r2, 5; @%p1 bra $then;
    st.global.u32 [%rd3], %r1; bra.uni $end;
$then: st.global.u32 [%rd3], %r2; mov.u32 %r4, 1;
$end: {after} ret;"""


def _both(after: str) -> list[list[int]]:
    """Return requests and lanes of each store where lanes go both ways."""
    walk = walk_of(kernel(EITHER.format(after=after)), ((64, 1, 1), (2, 1, 1), 32), {})
    walk.both = True
    rows = walk.run().tallies.requests
    return [rows[i].sum(axis=1).tolist()[:2] for i in rows if i.op == "store"]


def test_lanes_go_both_ways_where_memory_decides() -> None:
    with pytest.raises(NotCountedError, match="what is loaded"):
        walk_of(kernel(EITHER.format(after="")), SHAPE, {}).run()
    assert _both("") == [[4, 128], [4, 128]]


def test_what_either_way_gives_decides_nothing_behind_them() -> None:
    again = "setp.eq.u32 %p2, %r4, 1; @%p2 bra $out; st.global.u32 [%rd3], %r1; $out:"
    # were the flag taken to be 1 or 0, no lane or every one would come to the third store
    assert _both(again) == [[4, 128]] * 3
    walk = walk_of(kernel(EITHER.format(after=again)), SHAPE, {})
    walk.both = True
    assert len(walk.run().forks) == 1


def test_no_end_of_a_loop_is_a_fork() -> None:
    loop = (
        "mov.u32 %r2, 0; $l: add.u32 %r2, %r2, 1; ld.global.u32 %r4, [%rd3]; setp.lt.u32 %p1, %r4, 9; @%p1 bra $l; ret;"
    )
    walk = walk_of(kernel(loop), SHAPE, {})
    walk.both = True
    with pytest.raises(NotCountedError, match="what is loaded"):
        walk.run()


def lower_than_a_run(seed: int) -> list[str] | None:
    """Return what is counted lower than a run shows where the arguments n and m are not known, so that lanes go both
    ways at most branches; None where nothing is counted."""
    did = launched(seed, memory_module(seed))
    block, warp = SHAPES[seed % len(SHAPES)]
    walk = walk_of(did.module, (block, GRID, warp), {"p": did.base} | ({} if seed % 2 else {"n": did.n}))
    walk.both = True
    try:
        found = walk.run()
    except NotCountedError:
        return None
    if not did.outcome.complete or not found.forks:
        return None
    wrong = []
    for name, there in did.there.items():
        visits, lanes = found.tallies.visits.get(name), found.tallies.lanes.get(name)
        seen = (len(there), sum(map(len, there.values())))
        if seen[0] and (visits is None or lanes is None or visits.sum() < seen[0] or lanes.sum() < seen[1]):
            wrong.append(f"{name}: {seen}")
    for i, requests in did.requests.items():
        row = [0] * 4 if i not in found.tallies.requests else found.tallies.requests[i].sum(axis=1).tolist()
        if i not in found.lacks and row[SECTORS] < sum(request.sectors for request in requests):
            wrong.append(f"{i.op}: {row}")
    return wrong


BOTH = 100


@pytest.mark.slow
def test_no_count_of_both_ways_is_lower_than_a_run() -> None:
    found = [lower_than_a_run(seed) for seed in range(BOTH)]
    assert sum(one is not None for one in found) >= 12
    assert not [one for one in found if one]
