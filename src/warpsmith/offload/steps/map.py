"""Map: the loops of a nest lie on the axes of a grid."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Assumed, Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.loops.search.cost import only_loop
from warpsmith.machine.limits import MAX_BLOCK, MAX_THREADS, block_fits
from warpsmith.offload.decisions import decide
from warpsmith.offload.steps.offload import runs_at_once
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Axis, Decision, Program

__all__ = ["Map"]

_WARP = 32
_AXES: tuple[Axis, Axis, Axis] = ("x", "y", "z")


class Map(Struct, frozen=True):
    """Map the loops of a nest to the axes of a grid, and give the shape of a block.

    Legal where each of the loops is parallel, and each but the innermost holds nothing but the next one. `axes` are
    those of the loops from the outside; neighboring threads differ in x, so that the loop on x should move the
    addresses by one element. `block` counts threads along x, y and z; without it the static profiler chooses. The text
    does not change.

    Step: loop=f/i axes=y,x block=32,8

    Before:
        void f(int n, int m, double a[restrict n][m])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    a[i][j] = 0.5 * a[i][j];
        }

    After:
        void f(int n, int m, double a[restrict n][m])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    a[i][j] = 0.5 * a[i][j];
        }
    """

    name: ClassVar[str] = "map"
    loop: str
    axes: tuple[str, ...]
    block: tuple[int, ...] = ()

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loops may lie on these axes."""
        place = LoopContext.of(program, self.loop)
        wrong = self._wrong()
        if wrong:
            return Unknown((Reason("STP003", wrong, place.loop.header, legal_if=("for example axes=y,x block=32,8",)),))
        known = facts.of(place.function)
        if self.block and known.of(place.loop).category in ("reduction", "scan") and not _combines(self.block):
            text = f"threads that combine values form a block of a power of two, at least {_WARP}"
            return Unknown((Reason("STP003", text, place.loop.header),))
        assumptions: list[Assumed] = []
        heads = [place.loop, *_inner(place.loop)][: len(self.axes)]
        for head in heads:
            verdict = runs_at_once(known.of(head))
            if not isinstance(verdict, Proved):
                return verdict
            assumptions += [a for a in verdict.assumptions if a not in assumptions]
        if len(heads) < len(self.axes):
            text = (
                f"{len(self.axes)} axes need as many loops, each all that the one before does; there are {len(heads)}"
            )
            return Unknown((Reason("STP002", text, heads[-1].header),))
        return Proved(tuple(assumptions))

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        axes = tuple(axis for wanted in self.axes for axis in _AXES if axis == wanted)
        decision = Decision(self.loop, place.function.symbol.name, "threads", place.loop, axes, self.block)
        return decide(program, place, decision)

    def _wrong(self) -> str:
        """Return what is wrong with the values of the parameters."""
        count = len(self.axes)
        if not 1 <= count <= len(_AXES) or sorted(self.axes) != sorted(_AXES[:count]):
            return f"axes are x, or x and y, or x, y and z, in any order; not {','.join(self.axes) or 'none'}"
        if not self.block:
            return ""
        if len(self.block) != count:
            return f"block needs {count} number{'s' if count > 1 else ''}, one for each axis from x on"
        if not block_fits((*self.block, 1, 1)[:3]):
            most = ", ".join(str(size) for size in MAX_BLOCK[:count])
            return f"a block has at most {MAX_THREADS} threads, at most {most} along {', '.join(_AXES[:count])}"
        return ""


def _combines(block: tuple[int, ...]) -> bool:
    """Whether the threads of a block can combine their values in halves."""
    volume = prod(block)
    return volume >= _WARP and volume & (volume - 1) == 0


def _inner(loop: object) -> Iterator[For]:
    """Yield the loops that are, one inside the other, all that `loop` does."""
    while isinstance(loop, For):
        loop = only_loop(loop.body)
        if isinstance(loop, For):
            yield loop
