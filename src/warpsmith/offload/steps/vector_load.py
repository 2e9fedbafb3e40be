"""Vector load: a thread loads several neighbors in a row of a tile at once."""

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

__all__ = ["VectorLoad"]

_NUMBERS: Final = (1, 2, 4)


class VectorLoad(Struct, frozen=True):
    """Let a thread load several neighbors in a row of a tile at once, in a loop with tiles.

    Of an array whose elements lie next to each other along the rows of its tile, a thread loads `elements` with one
    instruction, up to 16 bytes, and stores them to the tile with one: two doubles, two or four floats. The same sectors
    are touched by fewer requests, each of which a thread has to issue and to compute an address for. This avoids
    latency.

    Legal where the loop has tiles (`shared-tile`, or by itself) and some array lies so; arrays whose tile is read along
    columns (its rows are padded), or whose elements are of another size, are loaded one by one as before. A vector must
    begin at a multiple of its size: that is tested for each, in the array and in the tile, and where it does not hold,
    or where not all of its elements are read, these are loaded one by one. So rows of any length are right, and rows
    of `n` elements with `n` a multiple of `elements` are fast. With `double-buffer`, products of an element and a value
    wait in registers and are loaded one by one. `elements=1`: one. The text of the program does not change; no kernel
    loads so without this step or `--optimize`.

    Step: loop=f/i/j/k elements=2

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

    name: ClassVar[str] = "vector-load"
    loop: str
    elements: int = 2

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether threads of the kernel that has the loop can load so many elements of any array at once."""
        place = LoopContext.of(program, self.loop)
        if self.elements not in _NUMBERS:
            text = f"a thread loads 1, 2 or 4 elements at once; not {self.elements}"
            return Unknown((Reason("STP003", text, place.loop.header, legal_if=("for example elements=2",)),))
        if not isinstance(place.loop, For):
            return Unknown((Reason("STP002", "only a counted loop has tiles", place.loop.header),))
        if self.elements == 1:
            return Proved()
        return judge_tiles(self.apply(program), facts, place, self.loop)

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        function = place.function.symbol.name
        return decide(program, place, Decision(self.loop, function, "vectors", place.loop, width=self.elements))
