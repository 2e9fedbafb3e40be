"""Memory as lanes reach it: each kind, what is outside of it, and lanes that write one place."""

from __future__ import annotations

import numpy as np
import pytest

from warpsmith.simt.gcn.memory import GcnFault, GcnMemory
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW, LaunchMemory


def _memory() -> tuple[GcnMemory, LaunchMemory]:
    whole = LaunchMemory(checks=False)
    whole.allocate("a", bytes(range(16)))
    whole.allocate("c", bytes(8), space="constant")
    return GcnMemory(whole, np.zeros(32, np.uint8), 8, 4), whole


def _all(*addresses: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array(addresses, np.uint64), np.ones(len(addresses), bool)


def test_one_access_reaches_several_buffers_and_kinds() -> None:
    memory, whole = _memory()
    a, c = (buffer.address for buffer in whole.buffers)
    memory.shared[4] = 77
    memory.scratch[3 * 8] = 99
    places, active = _all(a + 5, c, SHARED_WINDOW | 4, LOCAL_WINDOW)
    assert list(memory.load("flat", places, active, 1)[:, 0]) == [5, 0, 77, 99]


def test_each_lane_has_its_own_scratch() -> None:
    memory, _ = _memory()
    places, active = _all(0, 0, 0, 0)
    memory.store("scratch", places, active, np.arange(16, dtype=np.uint8).reshape(4, 4))
    assert list(memory.load("scratch", places, active, 4)[2]) == [8, 9, 10, 11]


def test_the_last_lane_that_writes_stays() -> None:
    memory, whole = _memory()
    a = whole.buffers[0].address
    places, active = _all(a, a, a, a)
    active[3] = False
    memory.store("global", places, active, np.array([[1], [2], [3], [4]], np.uint8))
    assert whole.buffers[0].data[0] == 3


def test_changes_go_lane_by_lane() -> None:
    memory, whole = _memory()
    a = whole.buffers[0].address
    places, active = _all(a + 8, a, a + 8, a)
    seen = []
    for lane, held in memory.places("global", places, active, 1):
        seen.append((lane, int(held[0])))
        held[0] += 1
    assert seen == [(0, 8), (1, 0), (2, 9), (3, 1)]


@pytest.mark.parametrize(
    ("space", "place", "said"),
    [
        ("global", 16, "of a, which has 16"),
        ("global", 13, "byte 13 of a"),
        ("shared", 30, "shared memory of the block, which has 32"),
        ("scratch", 6, "scratch memory of the lane, which has 8"),
        ("flat", 1 << 40, "no memory"),
    ],
)
def test_what_is_outside_is_told_with_its_lane(space: str, place: int, said: str) -> None:
    memory, whole = _memory()
    base = whole.buffers[0].address if space == "global" else 0
    places, active = _all(base, base, base + place, base + place)
    if space == "flat":
        active[:2] = False
    with pytest.raises(GcnFault, match=said) as caught:
        memory.load(space, places, active, 4)  # type: ignore[arg-type]
    assert caught.value.lane == 2


def test_constant_memory_is_not_written() -> None:
    memory, whole = _memory()
    places, active = _all(whole.buffers[1].address)
    with pytest.raises(GcnFault, match="constant"):
        memory.store("global", places, active, np.zeros((1, 4), np.uint8))
    with pytest.raises(GcnFault, match="constant"):
        list(memory.places("global", places, active, 4))


def test_scalars_are_read() -> None:
    memory, whole = _memory()
    assert memory.load_scalar(whole.buffers[0].address, 8) == 0x0706050403020100
    with pytest.raises(GcnFault, match="no memory"):
        memory.load_scalar(8, 4)
