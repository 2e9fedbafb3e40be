"""Memory as the lanes of a wave reach it, many lanes at once.

    global      buffers of the launch, at their addresses      shared   bytes of the block (LDS)
    scratch     bytes of each lane                             flat     any of these, by the upper half of an address

Invariant: nothing is read or written that no buffer owns; the first lane that tries is named. Of lanes that write to
one place the last one stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW, Buffer, Fault, LaunchMemory

__all__ = ["SCRATCH_BASE", "Array", "GcnFault", "GcnMemory", "GcnSpace"]

Array = npt.NDArray[Any]
GcnSpace = Literal["global", "shared", "scratch", "flat"]
SCRATCH_BASE: Final = LOCAL_WINDOW >> 16
"""What the descriptor of scratch memory begins with, so that another one is seen."""
_HALF: Final = np.uint64(32)


class GcnFault(Exception):
    """The program did what it must not, or what is not modeled: the message says what; `lane` is -1 for the wave."""

    def __init__(self, message: str, lane: int = -1) -> None:
        super().__init__(message)
        self.message, self.lane = message, lane


class _Part(Struct, frozen=True, eq=False):
    """Lanes that reach one run of bytes, and where in it each of them does."""

    bytes: Array
    offsets: Array
    lanes: Array
    writable: bool = True


class GcnMemory:
    """What one wave reaches: `shared` bytes of its block, `scratch` bytes for each of its lanes."""

    def __init__(self, memory: LaunchMemory, shared: Array, scratch: int, width: int) -> None:
        self.memory, self.shared = memory, shared
        self.stride = scratch
        self.scratch = np.zeros(scratch * width, np.uint8)

    def load(self, space: GcnSpace, addresses: Array, active: Array, size: int) -> Array:
        """Return `size` bytes for each lane: [lane, byte], zeros for inactive ones."""
        found = np.zeros((len(addresses), size), np.uint8)
        for part in self._parts(space, addresses, active, size):
            found[part.lanes] = part.bytes[part.offsets[part.lanes][:, np.newaxis] + np.arange(size)]
        return found

    def store(self, space: GcnSpace, addresses: Array, active: Array, data: Array) -> None:
        """Write the bytes of each active lane."""
        size = data.shape[1]
        for part in self._parts(space, addresses, active, size):
            if not part.writable:
                raise GcnFault("constant memory is written", int(np.flatnonzero(part.lanes)[0]))
            part.bytes[part.offsets[part.lanes][:, np.newaxis] + np.arange(size)] = data[part.lanes]

    def places(self, space: GcnSpace, addresses: Array, active: Array, size: int) -> Iterator[tuple[int, Array]]:
        """Yield active lanes in ascending order, each with its bytes, for what reads and writes at once."""
        found: dict[int, Array] = {}
        for part in self._parts(space, addresses, active, size):
            for lane in map(int, np.flatnonzero(part.lanes)):
                if not part.writable:
                    raise GcnFault("constant memory is written", lane)
                at = int(part.offsets[lane])
                found[lane] = part.bytes[at : at + size]
        yield from sorted(found.items(), key=lambda one: one[0])

    def load_scalar(self, address: int, size: int) -> int:
        """Return `size` bytes at a global address as a number."""
        try:
            buffer, at = self.memory.find(address, size, ())
        except Fault as error:
            raise GcnFault(str(error)) from None
        return int.from_bytes(buffer.data[at : at + size], "little")

    # --- where lanes reach

    def _parts(self, space: GcnSpace, addresses: Array, active: Array, size: int) -> Iterator[_Part]:
        if space == "shared":
            yield self._shared(addresses, active, size)
        elif space == "scratch":
            yield self._scratch(addresses, active, size)
        elif space == "global":
            yield from self._global(addresses, active, size)
        else:
            yield from self._flat(addresses, active, size)

    def _flat(self, addresses: Array, active: Array, size: int) -> Iterator[_Part]:
        upper, lower = addresses >> _HALF, addresses & np.uint64(0xFFFFFFFF)
        shared, scratch = (active & (upper == np.uint64(window >> 32)) for window in (SHARED_WINDOW, LOCAL_WINDOW))
        if shared.any():
            yield self._shared(lower, shared, size)
        if scratch.any():
            yield self._scratch(lower, scratch, size)
        yield from self._global(addresses, active & ~shared & ~scratch, size)

    def _shared(self, addresses: Array, active: Array, size: int) -> _Part:
        self._check(addresses, active, (size, len(self.shared)), "shared memory of the block")
        return _Part(self.shared, addresses.astype(np.int64), active)

    def _scratch(self, addresses: Array, active: Array, size: int) -> _Part:
        self._check(addresses, active, (size, self.stride), "scratch memory of the lane")
        lanes = np.arange(len(addresses), dtype=np.int64) * self.stride
        return _Part(self.scratch, addresses.astype(np.int64) + lanes, active)

    def _check(self, addresses: Array, active: Array, sizes: tuple[int, int], what: str) -> None:
        size, whole = sizes
        wrong = active & (addresses > np.uint64(max(0, whole - size)))
        if whole < size:
            wrong = active
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            raise GcnFault(f"{size} bytes at byte {int(addresses[lane])} of the {what}, which has {whole}", lane)

    def _global(self, addresses: Array, active: Array, size: int) -> Iterator[_Part]:
        left = active.copy()
        while left.any():
            lane = int(np.flatnonzero(left)[0])
            buffer = self._buffer(int(addresses[lane]), size, lane)
            start, last = np.uint64(buffer.address), np.uint64(buffer.end - size)
            inside = left & (addresses >= start) & (addresses <= last)
            held = np.frombuffer(buffer.data, np.uint8)
            yield _Part(held, (addresses - start).astype(np.int64), inside, buffer.space != "constant")
            left &= ~inside

    def _buffer(self, address: int, size: int, lane: int) -> Buffer:
        try:
            return self.memory.find(address, size, ())[0]
        except Fault as error:
            raise GcnFault(str(error), lane) from None
