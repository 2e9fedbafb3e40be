"""Shared tile: the threads of a block load together what several of them read, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.plan import Fragment, OffloadOptions
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loops

__all__ = ["SharedTile", "judge_kernel", "judge_tiles"]

_MOST = 1024
_MOST_PADDING = 32


class SharedTile(Struct, frozen=True):
    """Read arrays from tiles in shared memory, in a loop that each thread of a kernel goes through.

    The loop runs tile by tile, `width` iterations each: all threads of a block load what some of them will read, each
    element once, wait for one another, use the tile, and wait again. Worth while for what threads along an axis of the
    block read alike: of `A[i][k] * B[k][j]` with a loop over k in threads over i and j, both. This removes redundant
    access. Each thread adds up in the order that it had, so that floating-point results stay as they are, bit for bit.

    Legal where nothing in the kernel writes what is loaded, where it is known which elements are read (only those are
    loaded), and where all threads of a block go through the loop together: threads outside of the launch, or with fewer
    iterations than others, wait at the barriers as well. `arrays`: which ones (without it all that threads share);
    `width=0`: none, the loop reads global memory. `padding`: by how many elements each row of a tile is longer than
    what it holds, so that lanes that read along a column meet different banks of shared memory, which avoids latency;
    without it that is one where lanes read so, and none elsewhere. The text of the program does not change; kernels
    have tiles without this step where these make less than half of the sectors.

    Step: loop=f/i/j/k width=16

    Before:
        void f(int n, float C[restrict n][n], float A[restrict n][n], float B[restrict n][n])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < n; k++)
                        C[i][j] += A[i][k] * B[k][j];
        }

    After:
        void f(int n, float C[restrict n][n], float A[restrict n][n], float B[restrict n][n])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < n; k++)
                        C[i][j] += A[i][k] * B[k][j];
        }
    """

    name: ClassVar[str] = "shared-tile"
    loop: str
    width: int = 16
    arrays: tuple[str, ...] = ()
    padding: int = -1

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the kernel that has the loop can have the tiles."""
        place = LoopContext.of(program, self.loop)
        if not 0 <= self.width <= _MOST:
            text = f"a tile is 1 to {_MOST} iterations wide, or 0 for none; not {self.width}"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=("for example width=16",)),))
        if not -1 <= self.padding <= _MOST_PADDING:
            text = f"a row is padded by 0 to {_MOST_PADDING} elements, or by -1: as many as help; not {self.padding}"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=("for example padding=1",)),))
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "only a counted loop is gone through tile by tile", place.loop.header),))
        if self.width == 0:
            return Proved()
        return judge_tiles(self.apply(program), facts, place, self.loop)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        arrays = tuple(sorted(set(self.arrays)))
        decision = Decision(
            self.loop, function, "tiles", place.loop, width=self.width, arrays=arrays, padding=self.padding
        )
        return decide(program, place, decision)


def judge_tiles(after: Program, facts: Facts, place: LoopContext, address: str) -> Verdict:
    """Say whether a loop has tiles in the kernel that the planner makes once a step has noted its decision."""
    return judge_kernel(
        after, facts, place, address, lambda fragment: any(tiles.loop == address for tiles in fragment.tiles)
    )


def judge_kernel(
    after: Program, facts: Facts, place: LoopContext, address: str, is_made: Callable[[Fragment], bool]
) -> Verdict:
    """Say whether the kernel whose threads go through a loop is as a step has asked for, once its decision is noted."""
    # the planner is loaded with all that it needs
    from warpsmith.offload.port import plan_function

    planned = plan_function(after, facts.after(after), place.function, OffloadOptions())
    around = [refusal for refusal in planned.refusals if address.startswith(f"{refusal.loop}/")]
    for refusal in around:
        # a loop inside of the refused one may become a kernel that has the tiles: nobody asked for that
        if refusal.reason.rule in ("STP002", "STP003"):
            return Unknown((refusal.reason,))
    for fragment in planned.fragments:
        inside = [loop for stmt in fragment.statements for loop, _ in loops(stmt)]
        if any(loop is place.loop for loop in inside):
            return Proved(fragment.assumptions) if is_made(fragment) else _is_outermost(place)
    if not around:
        return _is_outermost(place)
    reason = around[0].reason
    return Unknown((reason,)) if reason.dependence is None else Refuted((reason,))


def _is_outermost(place: LoopContext) -> Unknown:
    text = "no kernel has threads that go through this loop: none of the loops around it becomes threads"
    return Unknown((Reason("STP002", text, place.loop.header, legal_if=("a parallel loop around it",)),))
