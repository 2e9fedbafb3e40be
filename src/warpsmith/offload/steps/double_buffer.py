"""Double buffer: a tile is filled while threads compute with another one."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.steps.shared_tile import judge_tiles
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision, Program

__all__ = ["DoubleBuffer"]


class DoubleBuffer(Struct, frozen=True):
    """Fill the next tile while the threads of a block compute with the current one, in a loop with tiles.

    Shared memory has two tiles for each read, which take turns: a thread asks for its elements of the next tile,
    computes with the current one, and puts what has arrived into its place. So it does not stand still until memory
    answers, and all threads wait for one another once a tile, not twice. From compute capability 8.0 on the elements
    are copied to shared memory beside the computation (`__pipeline_memcpy_async`); before, and for products of an
    element and a value and elements of 1 or 2 bytes, a thread keeps them in registers on the way. This hides latency.
    What a block loads stays what it is, and results stay as they are, bit for bit.

    Legal where the loop has tiles (`shared-tile`, or by itself) and twice as many bytes of them fit into a block's
    shared memory. Fewer blocks may then be resident: where warps are plenty, they hide latency without this step. The
    text of the program does not change; no kernel has two tiles for a read without this step or `--optimize`. That
    counts barriers, instructions and shared memory; of the latency of elements that are copied beside a warp it counts
    what is longer than all that the warp does meanwhile, of those that wait in registers the whole.

    Step: loop=f/i/j/k

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

    name: ClassVar[str] = "double-buffer"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop has tiles in the kernel that the planner makes, and shared memory takes them twice."""
        place = LoopContext.of(program, self.loop)
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "only a counted loop has tiles", place.loop.header),))
        return judge_tiles(self.apply(program), facts, place, self.loop)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        return decide(program, place, Decision(self.loop, place.function.symbol.name, "buffers", place.loop))
