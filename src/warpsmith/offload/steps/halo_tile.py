"""Halo tile: the threads of a block load together their elements and those around the block."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.steps.offload import runs_at_once
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loops

__all__ = ["HaloTile"]


class HaloTile(Struct, frozen=True):
    """Read neighbors from a tile with a halo in shared memory, in the kernel that a nest becomes.

    Before its threads compute, a block loads all that they will read of an array around their own elements,
    `A[i-1][j]`, `A[i][j+1]`, each element once, neighboring threads neighboring elements, and waits. Of `-1…1` along
    both loops a block of 32 x 8 loads 340 elements in place of five or nine a thread. This removes redundant access to
    the first cache; what a GPU's caches hold anyway is not read from memory less often, and loads, stores to the tile
    and the barrier are instructions more: many stencils are no faster for it. Results stay as they are, bit for bit.

    Legal where nothing in the kernel writes what is loaded, where it is known which elements the threads read (only
    those are loaded, so that nothing outside of the array is), and where their distances are numbers, or counters of
    loops from a number to a number. Distances may differ in each direction; threads outside of the launch load and
    wait as well. `arrays`: which ones (without it all that are read so). The step `map` chooses the block; without it
    the block is the one with the fewest sectors of the tiles. The text of the program does not change; no kernel has a
    halo without this step or `--optimize`.

    Step: loop=f/i

    Before:
        void f(int n, double B[restrict n][n], double A[restrict n][n])
        {
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    B[i][j] = A[i - 1][j] + A[i][j - 1] - 4 * A[i][j] + A[i][j + 1] + A[i + 1][j];
        }

    After:
        void f(int n, double B[restrict n][n], double A[restrict n][n])
        {
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    B[i][j] = A[i - 1][j] + A[i][j - 1] - 4 * A[i][j] + A[i][j + 1] + A[i + 1][j];
        }
    """

    name: ClassVar[str] = "halo-tile"
    loop: str
    arrays: tuple[str, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the kernel that the loop becomes can have the tiles."""
        # the planner is loaded with all that it needs
        from warpsmith.offload.port import plan_function

        place = LoopContext.of(program, self.loop)
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "the iterations of a counted loop become threads", place.loop.header),))
        verdict = runs_at_once(facts.of(place.function).of(place.loop))
        if not isinstance(verdict, Proved):
            return verdict
        after = self.apply(program)
        planned = plan_function(after, facts.after(after), place.function, OffloadOptions())
        for fragment in planned.fragments:
            inside = [loop for stmt in fragment.statements for loop, _ in loops(stmt)]
            if any(loop is place.loop for loop in inside):
                return Proved(fragment.assumptions) if fragment.halos else _is_no_thread(place)
        around = [one for one in planned.refusals if f"{self.loop}/".startswith(f"{one.loop}/")]
        if not around:
            return _is_no_thread(place)
        reason = around[0].reason
        return Unknown((reason,)) if reason.dependence is None else Refuted((reason,))

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        decision = Decision(self.loop, function, "halo", place.loop, arrays=tuple(sorted(set(self.arrays))))
        return decide(program, place, decision)


def _is_no_thread(place: LoopContext) -> Unknown:
    text = "no kernel has this loop's iterations as its threads"
    return Unknown((Reason("STP002", text, place.loop.header, legal_if=("the address of a loop on x, y or z",)),))
