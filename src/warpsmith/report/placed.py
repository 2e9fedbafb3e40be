"""Where a policy puts the arrays of a nest, and where a port has them, as data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.dpomap import PlacedArray, Platform

__all__ = ["ArrayRow", "NestPlacement", "PolicyReport", "PortedPlace"]

PortedPlace = Literal["host", "global", "register", "private", "shared tile"]
"""private: an array of each thread's own, which is in registers where a compiler knows its subscripts."""


class ArrayRow(Struct, frozen=True):
    """An array: its first reference and what its pattern is called (`classes`), where the policy puts it, where the
    port has it, how many `more` references to it there are, which the policy does not ask about, and `why` it is not
    where the policy wants it ("": it is)."""

    reference: str
    classes: tuple[str, ...]
    placed: PlacedArray
    ported: PortedPlace
    more: int = 0
    why: str = ""

    @property
    def removes_redundant_access(self) -> bool:
        """Whether the port reads an element once where the loop reads it again and again: of the three things that a
        step can do about memory (avoid latency by another layout, hide it, remove accesses) what a place does."""
        return self.placed.array.is_reused and self.ported in ("register", "shared tile")


class NestPlacement(Struct, frozen=True):
    """The arrays of a nest: the kernel that it became ("": none), its loop, and the counters of the access matrices."""

    kernel: str
    loop: str
    span: Span
    counters: tuple[str, ...]
    rows: tuple[ArrayRow, ...]


class PolicyReport(Struct, frozen=True):
    """What a policy has decided, for a GPU of a vendor, with so many bytes of shared memory a block, and by which
    steps."""

    policy: str
    platform: Platform
    device: str
    capacity: int
    nests: tuple[NestPlacement, ...]
    steps: tuple[str, ...]
