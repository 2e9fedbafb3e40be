"""Counters of a run, as the hardware would count: for each access the requests of warps, for each branch how often the
lanes of a warp went different ways.

A request is one instruction, one moment (iteration of every loop around, calls) and one warp: the lanes that are there
together if they meet as early as they can. Its lanes and addresses are kept; what they cost is arithmetic
(machine/requests.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from warpsmith.machine.requests import bank_ways, local_sectors, sectors, words
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import BasicBlock, Instruction, Space

__all__ = ["BlockCount", "BranchCount", "Counters", "MemoryCount", "WarpRequest"]


class WarpRequest(Struct, frozen=True):
    """What the lanes of one warp asked for together: lane → address in `space`, `bytes` each."""

    place: Instruction
    block: int
    warp: int
    space: Space
    bytes: int
    addresses: Mapping[int, int]

    @property
    def sectors(self) -> int:
        """32-byte sectors touched; none in shared memory."""
        if self.space == "shared":
            return 0
        return (local_sectors if self.space == "local" else sectors)(self.addresses, self.bytes)

    @property
    def ways(self) -> int:
        """Passes through the banks of shared memory, or words that constant memory fetches; else 1."""
        if self.space == "shared":
            return bank_ways(self.addresses, self.bytes)
        return words(self.addresses, self.bytes) if self.space == "constant" else 1


class MemoryCount(Struct, frozen=True):
    """Sums over the requests of one access; `conflicts`: passes beyond the first."""

    requests: int
    lanes: int
    sectors: int
    conflicts: int


class BranchCount(Struct):
    """Visits of a branch by a warp, those in which its lanes went different ways, and the lanes that were there."""

    visits: int = 0
    divergences: int = 0
    lanes: int = 0


class BlockCount(Struct, frozen=True):
    """Of a basic block: how often a warp came, lanes that were there, visits after which they went different ways, and
    the slots that lanes of the warp lost while it was executed."""

    visits: int
    lanes: int
    divergences: int
    lost: int


_Key = tuple[int, int, object, object]


class Counters(Struct, Silent):
    """An observer that keeps every request and every way taken."""

    _asked: dict[_Key, list[tuple[Space, int, dict[int, int]]]] = field(default_factory=lambda: defaultdict(list))
    _ways: dict[_Key, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        """Keep the address of one lane."""
        space, address, size = where
        asked = self._asked[lane.block, lane.warp, place, moment]
        for _, _, addresses in asked:
            if lane.lane not in addresses:
                addresses[lane.lane] = address
                return
        # the lane is here for a second time in one moment: a loop with several entries
        asked.append((space, size, {lane.lane: address}))

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Keep the way of one lane."""
        self._ways[lane.block, lane.warp, block, moment][lane.lane] = taken

    def requests(self) -> Iterator[WarpRequest]:
        """Yield every request."""
        for (block, warp, place, _), asked in self._asked.items():
            assert isinstance(place, Instruction)
            for space, size, addresses in asked:
                yield WarpRequest(place, block, warp, space, size, addresses)

    def memory(self) -> dict[Instruction, MemoryCount]:
        """Return the sums for each access, in the order in which they were first made."""
        found: dict[Instruction, MemoryCount] = {}
        for request in self.requests():
            old = found.get(request.place, MemoryCount(0, 0, 0, 0))
            found[request.place] = MemoryCount(
                old.requests + 1,
                old.lanes + len(request.addresses),
                old.sectors + request.sectors,
                old.conflicts + request.ways - 1,
            )
        return found

    def branches(self) -> dict[BasicBlock, BranchCount]:
        """Return the counts for each block that ends with a branch or a jump, in the order of the first visit."""
        found: dict[BasicBlock, BranchCount] = {}
        for (_, _, block, _), ways in self._ways.items():
            assert isinstance(block, BasicBlock)
            count = found.setdefault(block, BranchCount())
            count.visits += 1
            count.lanes += len(ways)
            count.divergences += len(set(ways.values())) > 1
        return found
