"""Warp loop: the lanes of a warp go through a loop together."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.steps.shared_tile import judge_kernel
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import WARP, Decision, Program

__all__ = ["WarpLoop"]


class WarpLoop(Struct, frozen=True):
    """Let the lanes of a warp go through a loop together that one thread of a kernel would go through alone.

    An iteration of the loop around it has a warp then, in place of a thread: lane 0 begins with iteration 0, lane 1
    with iteration 1, and each goes on 32 iterations further; behind the loop the warp combines what its lanes have
    summed up, by shuffles. Of a matrix in rows, a warp reads neighbors in one row at once, where threads would read 32
    rows apart; and a matrix-vector product has 32 times as many threads. This avoids latency.

    Legal where the kernel has one loop as threads, on x, and the loop stores nothing: it combines values in variables
    (sums, products, extremes, bits) and changes nothing else that goes on to the next iteration. All lanes compute what
    else the thread does, and one of them stores. Floating-point sums are combined in another order, the same in every
    run; `--precise-fp` forbids it. Where the length of the loop is known at the launch, warps share it from 64
    iterations on, and short loops leave a thread to each iteration as before. Without this step that is done where
    neighboring iterations read neighbors in memory and neighboring threads do not; of rows whose lengths are in memory
    themselves (a sparse matrix) only a step knows that they are long. `lanes=1`: each thread goes alone. The text of
    the program does not change.

    Step: loop=f/i/j

    Before:
        void f(int n, double y[restrict n], double A[restrict n][n], double x[restrict n])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    y[i] += A[i][j] * x[j];
        }

    After:
        void f(int n, double y[restrict n], double A[restrict n][n], double x[restrict n])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    y[i] += A[i][j] * x[j];
        }
    """

    name: ClassVar[str] = "warp-loop"
    loop: str
    lanes: int = WARP

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether warps of the kernel that has the loop can share it."""
        place = LoopContext.of(program, self.loop)
        if self.lanes not in (1, WARP):
            text = f"{WARP} lanes share a loop, or 1 goes alone; not {self.lanes}"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=(f"lanes={WARP}",)),))
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "lanes share counted loops only", place.loop.header),))
        if self.lanes == 1:
            return Proved()
        return judge_kernel(self.apply(program), facts, place, self.loop, lambda one: self.loop in one.shared)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        return decide(program, place, Decision(self.loop, function, "warps", place.loop, width=self.lanes))
