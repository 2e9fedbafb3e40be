"""Device memory of a launch: buffers in one 64-bit address space, with what is written, by whom, and since when.

    global    every buffer at its own place, far from the next: an address beyond its end belongs to nothing
    shared    one piece for each block of threads           local     one piece for each thread
    generic   global addresses are their own; shared and local memory lie in windows of the generic space

Invariant: no access touches a byte that no buffer owns; whoever tries gets a Fault that names the nearest buffer.
Races (CUDA C++ Programming Guide, memory model): two accesses of different threads to one byte, one of them a write,
not both atomic, with no barrier between them of their block, of their warp, or of threads of which one was with the
first when it came and with the second when it went (meeting/ordering.py). Threads of different blocks have none but
those of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from warpsmith.simt.layout import MemoryLayout, MemoryPart
from warpsmith.ssa.nodes import Module, Space

__all__ = [
    "KINDS",
    "LOCAL_WINDOW",
    "SHARED_WINDOW",
    "AccessConflict",
    "AccessOrigin",
    "Buffer",
    "Fault",
    "LaunchMemory",
    "RecordedAccess",
    "Trace",
    "TraceWords",
    "Where",
    "allocate_shared",
]  # fmt: skip

SHARED_WINDOW: Final = 0x0100_0000_0000_0000
LOCAL_WINDOW: Final = 0x0200_0000_0000_0000
_FIRST: Final = 0x0000_1000_0000
_GAP: Final = 1 << 20

AccessKind = Literal["load", "store", "atomic"]
_Array = npt.NDArray[Any]


Where = tuple[str, int, int]
"""A place in memory: the buffer's name, the byte in it (it may be outside), how many bytes are meant."""

FaultKind = Literal["bounds", "alignment", "unmodeled", "other"]


class Fault(Exception):
    """The kernel did what it must not: the message says what, in words of buffers and elements."""

    def __init__(self, message: str, kind: FaultKind = "other", where: Where | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.where = where


class AccessOrigin(Struct, frozen=True):
    """Who accesses: block, warp and thread by their linear numbers, and how many barriers of the block, of the warp and
    of the grid the thread has passed; where some of a block meet, at which `tick` of its own it is, and up to which
    ticks it is `known` to be behind others."""

    block: int
    warp: int
    thread: int
    epoch: int
    warp_epoch: int
    grid_epoch: int = 0
    tick: int = 0
    known: Mapping[int, int] = {}

    def __hash__(self) -> int:
        # what is `known` is a mapping, and follows from the rest
        return hash((self.block, self.thread, self.epoch, self.warp_epoch, self.grid_epoch, self.tick))


class RecordedAccess(Struct, frozen=True):
    """One access to one byte, as it is remembered; `instruction` is for whoever reports it."""

    kind: AccessKind
    origin: AccessOrigin
    instruction: object


class AccessConflict(Struct, frozen=True):
    """Two accesses that nothing orders: `buffer` and the byte in it."""

    buffer: str
    offset: int
    first: RecordedAccess
    second: RecordedAccess


class Buffer(Struct):
    """A run of bytes at `address`; `known` has a 1 for each byte that holds something; `parts`: where its variables
    are, if there are several: what lies between belongs to nobody."""

    name: str
    space: Space
    address: int
    data: bytearray
    known: bytearray
    parts: tuple[MemoryPart, ...] = ()
    last: dict[int, dict[tuple[int, int, AccessKind], list[RecordedAccess]]] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """The address behind its last byte."""
        return self.address + len(self.data)

    def forget(self, parts: Iterable[MemoryPart]) -> None:
        """Hold nothing in some parts, which there may not have been so far."""
        for part in parts:
            more = part.end - len(self.data)
            if more > 0:
                self.data += bytes(more)
                self.known += bytes(more)
            if part not in self.parts:
                self.parts += (part,)
            self.data[part.start : part.end] = self.known[part.start : part.end] = bytes(part.end - part.start)

    def remove(self, parts: Collection[MemoryPart]) -> None:
        """Have some parts no longer: what lies there belongs to nobody."""
        self.parts = tuple(part for part in self.parts if part not in parts)


KINDS: Final[tuple[AccessKind, ...]] = ("load", "store", "atomic")
"""A record of a trace has the number of its kind."""


class TraceWords(IntEnum):
    """Words of a trace: how many records and sectors are written down, for how many there is room, whether some did not
    fit, and where they are."""

    RECORDS = 0
    SECTORS = 1
    RECORD_ROOM = 2
    SECTOR_ROOM = 3
    CUT = 4
    RECORD_PLACE = 5
    SECTOR_PLACE = 6


class Trace:
    """The requests of a launch to global memory, written down one after the other; memory is taken as it is used.

    `records` [records, 2]   block << 32 | barriers that the block has passed,  warp << 16 | kind << 8 | sectors
    `sectors`                addresses / 32 of one record after the other, each once, in the order of the lanes
    `words`                  TraceWords
    """

    def __init__(self, records: int, sectors: int) -> None:
        self.records, self.sectors = np.empty((records, 2), "<i8"), np.empty(sectors, "<i8")
        self.words = np.zeros(len(TraceWords), "<i8")
        self.words[TraceWords.RECORD_ROOM], self.words[TraceWords.SECTOR_ROOM] = records, sectors
        self.words[TraceWords.RECORD_PLACE] = self.records.ctypes.data
        self.words[TraceWords.SECTOR_PLACE] = self.sectors.ctypes.data

    def empty(self) -> None:
        """Forget what is written down."""
        for word in (TraceWords.RECORDS, TraceWords.SECTORS, TraceWords.CUT):
            self.words[word] = 0

    @property
    def cut(self) -> bool:
        """Whether a request had no room."""
        return bool(self.words[TraceWords.CUT])

    def written(self) -> tuple[_Array, _Array]:
        """Return the records and the sectors that are there."""
        return self.records[: self.words[TraceWords.RECORDS]], self.sectors[: self.words[TraceWords.SECTORS]]


class LaunchMemory:
    """All buffers of one launch. `checks`: look for races and for reads of what was never written. `trace`: where the
    compiled machine writes requests to them down; then one thread runs."""

    def __init__(self, *, checks: bool = True) -> None:
        self.checks = checks
        self.trace: Trace | None = None
        self.buffers: list[Buffer] = []
        self.conflicts: list[AccessConflict] = []
        self.differing: set[tuple[object, object]] = set()
        """Pairs of instructions that conflict where it matters: other than stores of what is there already."""
        self.unwritten: list[tuple[Where, RecordedAccess]] = []
        self.some_meet = False
        """Whether barriers of some threads order accesses, so that each thread's own have to be kept."""
        self._next = _FIRST

    def allocate(self, name: str, data: bytes, *, known: bool = True, space: Space = "global") -> Buffer:
        """Return a new global or constant buffer that holds `data`; not `known`: reading it first is blamed."""
        made = Buffer(name, space, self._next, bytearray(data), bytearray(bytes([known]) * len(data)))
        self._next += (len(data) + _GAP) // 256 * 256 + 256
        self.buffers.append(made)
        return made

    def snapshot(self) -> Callable[[], None]:
        """Return a function that puts everything back as it is now, before a run: nothing has been seen yet."""
        count, following = len(self.buffers), self._next
        held = [(buffer, bytes(buffer.data), bytes(buffer.known)) for buffer in self.buffers]

        def restore() -> None:
            del self.buffers[count:]
            self._next = following
            for buffer, data, known in held:
                buffer.data[:], buffer.known[:] = data, known
                buffer.last.clear()
            self.conflicts.clear()
            self.differing.clear()
            self.unwritten.clear()

        return restore

    def piece(self, name: str, space: Space, layout: MemoryLayout) -> Buffer:
        """Return the shared memory of a block or the local memory of a thread: it stands at its window."""
        address = SHARED_WINDOW if space == "shared" else LOCAL_WINDOW
        return Buffer(name, space, address, bytearray(layout.size), bytearray(layout.size), layout.parts)

    def find(self, address: int, size: int, pieces: tuple[Buffer, ...]) -> tuple[Buffer, int]:
        """Return the buffer and the offset of `size` bytes at a generic address; raises Fault."""
        for buffer in (*pieces, *self.buffers):
            if buffer.address <= address and address + size <= buffer.end:
                offset = address - buffer.address
                if not buffer.parts or any(p.start <= offset and offset + size <= p.end for p in buffer.parts):
                    return buffer, offset
        raise self._outside(address, size, pieces)

    def _outside(self, address: int, size: int, pieces: tuple[Buffer, ...]) -> Fault:
        everything = [*pieces, *self.buffers]
        near = min(everything, key=lambda b: max(b.address - address, address - b.end, 0), default=None)
        if near is None or max(near.address - address, address - near.end) > _GAP:
            return Fault(f"{size} bytes at {address:#x}, where there is no memory", "bounds")
        offset = address - near.address
        part = MemoryLayout(near.parts, 0).near(offset)
        if part is not None:
            message = f"{size} bytes at byte {offset - part.start} of {part.name}, which has {part.end - part.start}"
            return Fault(message, "bounds", (near.name, offset, size))
        message = f"{size} bytes at byte {offset} of {near.name}, which has {len(near.data)}"
        return Fault(message, "bounds", (near.name, offset, size))

    def read(self, buffer: Buffer, offset: int, size: int, access: RecordedAccess) -> int:
        """Return `size` bytes as a number."""
        if self.checks:
            if not all(buffer.known[offset : offset + size]):
                self.unwritten.append(((buffer.name, offset, size), access))
            self._remember(buffer, offset, size, access)
        return int.from_bytes(buffer.data[offset : offset + size], "little")

    def write(self, buffer: Buffer, offset: int, size: int, number: int, access: RecordedAccess) -> None:
        """Put `number` into `size` bytes; raises Fault where the memory is constant."""
        if buffer.space == "constant":
            raise Fault(f"{buffer.name} is constant and is written")
        data = number.to_bytes(size, "little")
        if self.checks:
            same = all(buffer.known[offset : offset + size]) and buffer.data[offset : offset + size] == data
            self._remember(buffer, offset, size, access, changes=not same)
        buffer.data[offset : offset + size] = data
        buffer.known[offset : offset + size] = bytes([1]) * size

    def _remember(
        self, buffer: Buffer, offset: int, size: int, access: RecordedAccess, *, changes: bool = True
    ) -> None:
        """Compare an access with those before it, and keep it: of each warp and kind two threads are enough, since
        whoever comes next differs from one of them, and only those since the last barrier; where some meet, the last
        one of each thread."""
        if buffer.space == "local":
            return
        for byte in range(offset, offset + size):
            known = buffer.last.setdefault(byte, {})
            for others in known.values():
                for other in others:
                    if _is_unordered(other, access):
                        self.conflict(AccessConflict(buffer.name, byte, other, access))
                        if changes or other.kind != "store":
                            self.differing.add((other.instruction, access.instruction))
            origin = access.origin
            mine = known.setdefault((origin.block, origin.warp, access.kind), [])
            since = (origin.epoch, origin.warp_epoch)
            mine[:] = [other for other in mine if (other.origin.epoch, other.origin.warp_epoch) == since]
            if self.some_meet:
                mine[:] = [*(other for other in mine if other.origin.thread != origin.thread), access]
            elif len(mine) < 2 and all(other.origin.thread != origin.thread for other in mine):
                mine.append(access)

    def conflict(self, found: AccessConflict) -> None:
        """Keep two accesses that nothing orders, once for each pair of instructions."""
        pair = (found.first.instruction, found.second.instruction)
        if not any((c.first.instruction, c.second.instruction) == pair for c in self.conflicts):
            self.conflicts.append(found)


def allocate_shared(module: Module, memory: LaunchMemory) -> dict[str, int]:
    """Make the variables of a module that all threads share; return where each is."""
    found: dict[str, int] = {}
    own = (symbol for function in module.functions if function.blocks for symbol in function.symbols)
    for symbol in (*module.symbols, *own):
        if symbol.space in ("global", "constant"):
            data = b"".join(number.to_bytes(symbol.type.bytes, "little") for number in symbol.initial)
            filled = data + bytes(symbol.bytes - len(data))
            found[symbol.name] = memory.allocate(symbol.name, filled, space=symbol.space).address
    return found


def _is_unordered(one: RecordedAccess, other: RecordedAccess) -> bool:
    """Whether the two conflict: one writes, not both are atomic, and no barrier stands between them."""
    if one.kind == other.kind and one.kind != "store":
        return False
    a, b = one.origin, other.origin
    if a.block != b.block:
        return a.grid_epoch == b.grid_epoch
    apart = a.warp != b.warp or a.warp_epoch == b.warp_epoch
    return a.thread != b.thread and a.epoch == b.epoch and apart and b.known.get(a.thread, -1) < a.tick
