"""Register tile: each thread has several iterations of the loops that are threads, and reads once what they share."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.steps.shared_tile import judge_tiles
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision, Program

__all__ = ["RegisterTile"]

_MOST: Final = 64


class RegisterTile(Struct, frozen=True):
    """Give each thread several rows and columns of iterations, in a kernel that reads from tiles in shared memory.

    A thread has `rows` iterations next to each other of the loop on y, and `columns` of that on x, each a block's width
    behind the last one, so that neighboring threads still touch neighboring elements. What several of them read from
    a tile alike is read once, into a variable; every iteration has variables of its own, which the compiler keeps in
    registers. Thread coarsening with unroll-and-jam: of 8 x 4 iterations of a matrix product each multiply-add takes
    12 / 32 reads in place of 2. This removes redundant access, and hides latency: a thread has as many additions at
    hand that do not wait for each other. Each iteration adds up in the order that it had, so that floating-point
    results stay as they are, bit for bit.

    Legal where the loop has tiles (`shared-tile`, or by itself), where the loops that are threads count up by one, and
    where the loop runs from and to the same place for all iterations of a thread. Rows and columns are powers of two;
    `rows=1 columns=1`: one iteration a thread. The text of the program does not change; kernels have several iterations
    a thread without this step where a thread then reads less of the tiles, and enough blocks are left.

    Step: loop=f/i/j/k rows=8 columns=4

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

    name: ClassVar[str] = "register-tile"
    loop: str
    rows: int = 8
    columns: int = 4

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the threads of the kernel that has the loop can have so many iterations."""
        place = LoopContext.of(program, self.loop)
        if not all(_is_power(size) for size in (self.rows, self.columns)) or self.rows * self.columns > _MOST:
            text = f"rows and columns are powers of two, {_MOST} iterations a thread at most; not "
            text += f"{self.rows} x {self.columns}"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=("for example rows=8 columns=4",)),))
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "only a counted loop has tiles", place.loop.header),))
        if self.rows * self.columns == 1:
            return Proved()
        return judge_tiles(self.apply(program), facts, place, self.loop)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        decision = Decision(self.loop, function, "elements", place.loop, elements=(self.rows, self.columns))
        return decide(program, place, decision)


def _is_power(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0
