"""What a run on made up arguments shows of a kernel where its text does not tell: sums, averages, an access that left
its array.

    sectors / requests     17.3 on average, where the text tells of 1 to 32
    witnessed              nothing that was made up decides it
    conditional            numbers that were made up do: they are named
    heuristic              numbers that were made up do, and it was not counted with other ones

A figure that memory decides, which holds random numbers, is none of a kernel's: there is no record of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.base.findings import Certainty
from warpsmith.ssa.nodes import Instruction

__all__ = ["AccessSums", "Escaped", "Simulated", "SimulatedAccess", "SimulatedBranch"]


class AccessSums(Struct, frozen=True):
    """Sums over the requests of warps for one access in one run: the `lanes` that asked; 32-byte `sectors` they
    touched, and `ideal` ones that their bytes would fill (device memory); `conflicts`: passes through the banks beyond
    the first (shared memory)."""

    requests: int
    lanes: int
    sectors: int
    ideal: int
    conflicts: int

    def __add__(self, other: AccessSums) -> AccessSums:
        """Return the sums over the requests of both."""
        return AccessSums(
            self.requests + other.requests,
            self.lanes + other.lanes,
            self.sectors + other.sectors,
            self.ideal + other.ideal,
            self.conflicts + other.conflicts,
        )

    @property
    def ways(self) -> float:
        """Passes through the banks of a request, on average."""
        return 1 + self.conflicts / max(1, self.requests)


class SimulatedAccess(Struct, frozen=True):
    """What was counted of an access, in each run; `replay`: the command that counts it again, for the first."""

    runs: tuple[AccessSums, ...]
    certainty: Certainty
    assumptions: tuple[str, ...]
    replay: str


class SimulatedBranch(Struct, frozen=True):
    """What was counted of a branch, in each run: how often a warp came there, how often its lanes parted, and how many
    lanes were there in all."""

    runs: tuple[tuple[int, int, int], ...]
    certainty: Certainty
    assumptions: tuple[str, ...]
    replay: str


class Escaped(Struct, frozen=True):
    """An access that a run saw outside of `variable`, which has `size` bytes: thread `thread` of `block` at byte
    `offset`."""

    instruction: Instruction
    variable: str
    size: int
    offset: int
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    certainty: Certainty
    assumptions: tuple[str, ...]
    replay: str


class Simulated(Struct, frozen=True):
    """All that runs show of a kernel besides races; `branches` by the names of the blocks that end with them."""

    accesses: Mapping[Instruction, SimulatedAccess] = field(default_factory=dict)
    branches: Mapping[str, SimulatedBranch] = field(default_factory=dict)
    escapes: tuple[Escaped, ...] = ()
