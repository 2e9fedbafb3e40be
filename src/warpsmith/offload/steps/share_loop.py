"""Share loop: several threads go through a loop together."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.steps.shared_tile import judge_kernel
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import WARP, Decision, Program

__all__ = ["ShareLoop"]

_THREADS: Final = {"warp": WARP, "block": 16, "none": 1}


class ShareLoop(Struct, frozen=True):
    """Let several threads go through a loop together that one thread of a kernel would go through alone.

    An iteration of the loop around it has several threads then, in place of one: the first begins with iteration 0, the
    next one with iteration 1, and each goes on as many iterations further as there are threads; behind the loop they
    combine what each has summed up. `by=warp`: they are the lanes of a warp, which combine by shuffles. Of a matrix in
    rows a warp reads neighbors in one row at once, where threads would read 32 rows apart. `by=block`: they are 16
    threads of a block above one another, which combine in shared memory; neighboring threads read neighbors in memory
    as before, as in a column of a matrix for each thread. Either way the device has more threads to hide latency with.
    This avoids latency.

    Legal where the kernel has one loop as threads, on x, and the loop combines values in variables (sums, products,
    extremes, bits), or stores where its iterations are proved to be independent, and changes nothing else that goes on
    to the next iteration. All threads compute what else the thread does, and one of them stores. Threads of a block
    wait for one another, so that all of them must come to the loop. Floating-point sums are combined in another order,
    the same in every run; `--precise-fp` forbids it. Where the length of the loop is known at the launch, it is shared
    from 64 iterations on, and short loops leave a thread to each iteration as before. Without this step warps share
    rows, and blocks columns where there are fewer than 32,768 of these; of rows whose lengths are in memory themselves
    (a sparse matrix) only a step knows that they are long. `by=none`: each thread goes alone. The text of the program
    does not change.

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

    name: ClassVar[str] = "share-loop"
    loop: str
    by: str = "warp"

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether threads of the kernel that has the loop can share it."""
        place = LoopContext.of(program, self.loop)
        if self.by not in _THREADS:
            text = f"a loop is shared by a warp, by threads of a block, or by none; not by '{self.by}'"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=("by=warp",)),))
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "threads share counted loops only", place.loop.header),))
        if self.by == "none":
            return Proved()
        return judge_kernel(self.apply(program), facts, place, self.loop, lambda one: self.loop in one.shared)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        return decide(program, place, Decision(self.loop, function, "shares", place.loop, width=_THREADS[self.by]))
