"""A kernel of a file as text of several machines."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.listing import Listing

__all__ = ["Lowering", "TargetColumn"]


class TargetColumn(Struct, frozen=True):
    """The text of a kernel for one target; `refused` says why there is none. `architecture`: "" where there is one
    only."""

    target: str
    architecture: str
    listing: Listing | None
    refused: Finding | None = None

    @property
    def title(self) -> str:
        """What the column is called."""
        return f"{self.target} {self.architecture}".rstrip()


class Lowering(Struct, frozen=True):
    """A kernel of a file as text of several machines."""

    file: SourceFile
    kernel: Function
    columns: tuple[TargetColumn, ...]
