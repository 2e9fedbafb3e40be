"""How a kernel is launched on made up arguments, what of that was made up, and the command that does the same.

block   as it is launched, else a likely one       grid   as it is launched, but a few blocks along an axis at most
"""

from __future__ import annotations

import shlex
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import Dim, KernelFacts
from warpsmith.flows.witness.attempt import Attempt, Planned
from warpsmith.flows.witness.made import Made
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.simt.engine.engine import Checks
from warpsmith.ssa.nodes import Query

__all__ = ["LARGEST", "LaunchPlan", "index_of", "launch_plan", "why_not"]

_MOST: Final = 4
"""Blocks along an axis of a grid that is run."""
LARGEST: Final = 5_000
"""Instructions of a kernel that is compiled: nothing can end that meanwhile."""


class LaunchPlan(Struct, frozen=True):
    """A kernel that is run, the `grid` it is launched with, and how."""

    unit: KernelUnit
    file: KernelFile
    facts: KernelFacts
    grid: Dim
    planned: Planned

    @property
    def threads(self) -> int:
        """Return how many threads stand along the longest axis."""
        return max(n * size for n, size in zip(self.grid, self.facts.block, strict=True))

    def assumptions(self, made: Made, found: AbstractSet[str], *, grid: bool) -> tuple[str, ...]:
        """Return what was made up that something hangs on; `found`: what it hangs on; `grid`: there are several
        blocks in it."""
        numbers = (f"{name} is {text}" for name, text in made.numbers.items() if name in found - made.given)
        said = [*self.facts.block_assumed, *numbers]
        if "memory" in found:
            said.append("memory holds random numbers" if made.arrays else "variables of the file are as they begin")
        given = self.facts.shape.grid
        if (grid and given is None) or ("grid" in found and given != self.grid):
            said.append(f"the grid has {_by(self.grid)} blocks")
        return tuple(said)

    def command(self, attempt: Attempt) -> str:
        """Return the command that shows the same."""
        return self.command_for(attempt.made, attempt.started.dynamic)

    def command_for(self, made: Made, shared: int) -> str:
        """Return the command that runs it on these arguments; `shared`: bytes of dynamic shared memory."""
        given = [f"-{text}" if text.startswith("-std") else text for text in self.file.arguments]
        words = ["warpsmith", "simulate", self.file.path, *given, "--kernel", self.facts.function.name]
        words += ["--block", _with_commas(self.facts.block), "--grid", _with_commas(self.grid)]
        if shared:
            words += ["--shared", str(shared)]
        for text in made.texts:
            words += ["--arg", text]
        return shlex.join(words)


def launch_plan(unit: KernelUnit, file: KernelFile, facts: KernelFacts, checks: Checks) -> LaunchPlan:
    """Return how a kernel is run; `checks`: what is looked at meanwhile."""
    grid = _grid(facts)
    shared, width = facts.shape.shared_bytes, facts.device.warp_width
    most = 0 if shared else 1024 * facts.device.shared_per_block_kib
    planned = Planned(unit, facts.function, facts.block, grid, shared, width, most, checks)
    return LaunchPlan(unit, file, facts, grid, planned)


def why_not(unit: KernelUnit, facts: KernelFacts) -> str:
    """Return why a kernel is not run, "" where it may be."""
    function = facts.function
    if sum(1 for _, i in function.instructions()) > LARGEST:
        return f"it has more than {LARGEST:,} instructions"
    if function.parameters and not unit.parameters.get(function.name):
        return "the types of its parameters are not known"
    return ""


def _grid(facts: KernelFacts) -> Dim:
    """Return the grid that is run: as it is launched, but not more than a few blocks along an axis."""
    given = facts.shape.grid
    if given is not None:
        x, y, z = (min(n, _MOST) for n in given)
        return x, y, z
    if facts.shape.is_told:
        # they may not be for more
        return 1, 1, 1
    used = {operand for _, i in facts.function.instructions() for operand in i.operands}
    asked = {
        i.detail.register
        for _, i in facts.function.instructions()
        if isinstance(i.detail, Query) and used.intersection(i.results)
    }
    x, y, z = (2 if f"ctaid.{axis}" in asked else 1 for axis in "xyz")
    return x, y, z


def index_of(number: int, sizes: Dim) -> Dim:
    """Return the index along each axis of a linear number."""
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def _with_commas(sizes: Dim) -> str:
    return ",".join(map(str, sizes))


def _by(sizes: Dim) -> str:
    return "x".join(map(str, sizes))
