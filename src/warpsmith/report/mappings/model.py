"""The ways to map the loops of a nest to threads: what the count of lines, the printed tables and the time model say of
each. `warpsmith explain FILE:LINE --mappings` shows them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.mapping.candidates import ScoredMapping
from warpsmith.tree.program import Axis

__all__ = ["Chooser", "MappedReference", "MappingPlace", "MappingWinner", "MappingsReport", "NestMappings"]

Chooser = Literal["lines", "tables", "time"]
MappingPlace = tuple[tuple[Axis, ...], tuple[int, int, int]]
"""The axes of the loops, outermost first, and the threads of a block along x, y, z."""


class MappedReference(Struct, frozen=True):
    """A reference of a nest as the user wrote it; `score`: its place among the scores of a mapping; `weight`: how often
    a thread reaches it, reads and writes together (of unknown trip counts `NestMappings.assumed` has the default)."""

    text: str
    reads: bool
    writes: bool
    weight: int
    score: int


class MappingWinner(Struct, frozen=True):
    """What one model chooses: the place among the mappings, and how many others it cannot tell from it."""

    chooser: Chooser
    place: int
    ties: int


class NestMappings(Struct, frozen=True):
    """All mappings of a kernel's loops, the best by the count of lines first; `seconds`: of each, predicted, None where
    sizes are not known. `port`: where the kernel of a port lies; `tiled`: its block is that of its tiles."""

    kernel: str
    loop: str
    header: Span
    counters: tuple[str, ...]
    references: tuple[MappedReference, ...]
    mappings: tuple[ScoredMapping, ...]
    seconds: tuple[float | None, ...]
    winners: tuple[MappingWinner, ...]
    port: MappingPlace
    tiled: bool
    assumed: tuple[str, ...] = ()

    def winner(self, chooser: Chooser) -> ScoredMapping | None:
        """Return what a model chooses, None where it says nothing."""
        return next((self.mappings[one.place] for one in self.winners if one.chooser == chooser), None)


class MappingsReport(Struct, frozen=True):
    """The nests of a loop; `refused`: why there are none, "" where there are."""

    file: str
    loop: str
    header: Span
    nests: tuple[NestMappings, ...]
    refused: str = ""
