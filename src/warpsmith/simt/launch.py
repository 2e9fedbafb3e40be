"""The launch of a kernel, and its outcome.

Launch   grid, block, arguments by name, dynamic shared memory, width of a warp, how far it may run
Outcome  why it ended, steps taken, what it must not do, accesses that nothing orders
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.simt.layout import MemoryPart
from warpsmith.simt.memory import AccessConflict, Where
from warpsmith.ssa.types import Type

__all__ = ["Dim", "KernelProblem", "Launch", "Outcome", "ProblemKind", "Textures"]

Dim = tuple[int, int, int]
"""Sizes along x, y, z."""
Textures = Callable[[str, tuple[int, ...], Type], int | None]
"""What a fetch gives, None where it has no answer."""


class Launch(Struct, frozen=True):
    """`arguments`: the bytes of each parameter; `shared`: bytes of dynamic shared memory, `parts`: what of it arguments
    are (__local of OpenCL); `seed` orders the lanes; `only`: the linear numbers of the blocks that are run, `lanes`: of
    the threads of each, None for all. Threads begin in any order, so that what some do before any other begins is the
    start of a run of the whole grid: all that may be seen of grids that are too large. Where they wait for others, that
    is the end (`budget`). `textures`: what a fetch gives, by its name, its operands and its result's type; without it
    fetches are not modeled.
    """

    grid: Dim = (1, 1, 1)
    block: Dim = (32, 1, 1)
    arguments: Mapping[str, bytes] = field(default_factory=dict)
    shared: int = 0
    parts: tuple[MemoryPart, ...] = ()
    warp: int = 32
    seed: int = 0
    max_steps: int = 10_000_000
    only: tuple[int, ...] | None = None
    lanes: tuple[int, ...] | None = None
    textures: Textures | None = None

    @property
    def threads(self) -> int:
        """Threads of one block."""
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        x, y, z = self.grid
        return x * y * z


ProblemKind = Literal["bounds", "alignment", "unmodeled", "other", "uninitialized", "barrier", "exchange", "budget",
                      "trap", "overflow"]  # fmt: skip
"""An access out of bounds or out of step; an instruction that we have no semantics for; a read of what was never
written; a barrier that not all come to, or not the same one; a vote or shuffle whose mask is wrong; too many steps; a
trap; a number that the language says does not overflow, and does: the run goes on, and is `complete`."""


class KernelProblem(Struct, frozen=True):
    """Something that a kernel must not do, in words, with the line and the thread, and `where` in memory."""

    message: str
    span: Span | None
    block: int
    thread: int
    kind: ProblemKind = "other"
    where: Where | None = None


class Outcome(Struct, frozen=True):
    """`steps`: instructions that lanes executed; `problems` are in the order in which they happened. The launch is
    `complete` if every thread ended by itself."""

    complete: bool
    steps: int
    problems: tuple[KernelProblem, ...]
    conflicts: tuple[AccessConflict, ...]
