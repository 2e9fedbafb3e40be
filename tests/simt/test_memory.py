"""Device memory: who owns a byte, what is written, and which accesses nothing orders."""

from __future__ import annotations

import pytest

from warpsmith.simt.layout import MemoryLayout, MemoryPart
from warpsmith.simt.memory import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    AccessKind,
    AccessOrigin,
    Buffer,
    Fault,
    LaunchMemory,
    RecordedAccess,
)

SHARED = MemoryLayout((MemoryPart("s", 0, 8), MemoryPart("t", 16, 24)), 24)


def by(
    thread: int, kind: AccessKind = "store", *, block: int = 0, warp: int | None = None, epoch: int = 0, step: int = 0,
    at: object = None,
) -> RecordedAccess:  # fmt: skip
    return RecordedAccess(
        kind, AccessOrigin(block, thread // 32 if warp is None else warp, thread, epoch, step), at or (thread, kind)
    )


def made(*, known: bool = True) -> tuple[LaunchMemory, Buffer]:
    memory = LaunchMemory()
    return memory, memory.allocate("a", bytes(16), known=known)


def test_buffers_lie_far_apart_and_a_byte_beyond_the_end_belongs_to_nothing() -> None:
    memory, a = made()
    b = memory.allocate("b", bytes(4))
    assert b.address >= a.end + (1 << 20) - 256 and b.address % 256 == 0
    assert memory.find(a.address + 12, 4, ()) == (a, 12)
    for address, where in ((a.end - 3, 13), (a.end, 16), (a.address - 4, -4)):
        with pytest.raises(Fault, match=f"4 bytes at byte {where} of a, which has 16") as fault:
            memory.find(address, 4, ())
        assert (fault.value.kind, fault.value.where) == ("bounds", ("a", where, 4))
    with pytest.raises(Fault, match="where there is no memory") as fault:
        memory.find(0, 1, ())
    assert fault.value.where is None


def test_pieces_stand_at_their_windows_and_gaps_between_variables_are_nobodys() -> None:
    memory = LaunchMemory()
    piece = memory.piece("the shared memory of block 0", "shared", SHARED)
    local = memory.piece("the local memory", "local", MemoryLayout((), 4))
    assert (piece.address, local.address) == (SHARED_WINDOW, LOCAL_WINDOW)
    assert memory.find(SHARED_WINDOW + 20, 4, (piece, local)) == (piece, 20)
    for offset in (6, 8, 12):
        with pytest.raises(Fault, match=r"of (s|t), which has 8"):
            memory.find(SHARED_WINDOW + offset, 4, (piece, local))


def test_numbers_are_little_endian_and_known_once_written() -> None:
    memory, a = made(known=False)
    memory.write(a, 4, 4, 0x01020304, by(0))
    assert a.data[4:8] == b"\x04\x03\x02\x01" and memory.read(a, 4, 4, by(0, "load")) == 0x01020304
    assert not memory.unwritten
    memory.read(a, 6, 4, by(0, "load"))
    assert [where for where, _ in memory.unwritten] == [("a", 6, 4)]
    assert not made()[0].unwritten


def test_constant_memory_is_not_written() -> None:
    memory = LaunchMemory()
    constant = memory.allocate("c", bytes(4), space="constant")
    with pytest.raises(Fault, match="c is constant and is written"):
        memory.write(constant, 0, 4, 1, by(0))


def clash(one: RecordedAccess, other: RecordedAccess, *, apart: int = 0) -> bool:
    memory, a = made()
    for access, offset in ((one, 0), (other, apart)):
        if access.kind == "load":
            memory.read(a, offset, 4, access)
        else:
            memory.write(a, offset, 4, 1, access)
    return bool(memory.conflicts)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (by(0), by(1), True),
        (by(0), by(1, "load"), True),
        (by(0, "load"), by(1), True),
        (by(0, "load"), by(1, "load"), False),
        (by(0, "atomic"), by(1, "atomic"), False),
        (by(0, "atomic"), by(1, "load"), True),
        (by(0, "atomic"), by(1), True),
        (by(0), by(0), False),
        # a barrier of the block, of the warp, of another warp
        (by(0), by(1, epoch=1), False),
        (by(0), by(1, step=1), False),
        (by(0), by(40, step=1), True),
        (by(0), by(40, epoch=1), False),
        # blocks have no barrier
        (by(0), by(0, block=1, epoch=5), True),
        (by(0, "atomic"), by(0, "atomic", block=1), False),
    ],
)
def test_accesses_that_nothing_orders(one: RecordedAccess, other: RecordedAccess, *, expected: bool) -> None:
    assert clash(one, other) == expected


def test_one_byte_in_common_is_enough() -> None:
    assert clash(by(0), by(1), apart=3) and not clash(by(0), by(1), apart=4)


def test_each_pair_of_instructions_is_told_once_and_local_memory_never() -> None:
    memory, a = made()
    for thread in range(8):
        memory.write(a, 0, 4, 1, by(thread, at="store"))
    assert len(memory.conflicts) == 1
    assert (memory.conflicts[0].buffer, memory.conflicts[0].offset) == ("a", 0)
    piece = memory.piece("l", "local", MemoryLayout((), 8))
    for thread in range(2):
        memory.write(piece, 0, 4, 1, by(thread, at="local"))
    assert len(memory.conflicts) == 1


def test_two_threads_of_a_warp_are_remembered_so_that_a_third_meets_another() -> None:
    memory, a = made()
    memory.read(a, 0, 4, by(0, "load"))
    memory.read(a, 0, 4, by(1, "load"))
    # the thread that read first writes: another one has read
    memory.write(a, 0, 4, 1, by(0))
    assert [(c.first.origin.thread, c.second.origin.thread) for c in memory.conflicts] == [(1, 0)]


def test_what_was_before_a_barrier_is_forgotten() -> None:
    memory, a = made()
    memory.write(a, 0, 4, 1, by(0))
    memory.write(a, 0, 4, 1, by(1, epoch=1))
    memory.write(a, 0, 4, 1, by(2, epoch=1))
    assert [(c.first.origin.thread, c.second.origin.thread) for c in memory.conflicts] == [(1, 2)]


def test_without_checks_nothing_is_remembered() -> None:
    memory = LaunchMemory(checks=False)
    a = memory.allocate("a", bytes(8), known=False)
    memory.write(a, 0, 4, 1, by(0))
    memory.write(a, 0, 4, 2, by(1))
    assert memory.read(a, 4, 4, by(1, "load")) == 0
    assert not memory.conflicts and not memory.unwritten
