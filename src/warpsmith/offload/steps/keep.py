"""Keep: a loop stays on the host."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Decision, Program

__all__ = ["Keep"]


class Keep(Struct, frozen=True):
    """Keep a loop on the host, with every loop inside it for which nothing else is decided.

    Always legal: the text does not change, and no kernel is made of the loop. To keep an outer loop and move an inner
    one, follow it by offload or map of the inner one.

    Step: loop=f/i

    Before:
        void f(int n, double *restrict a)
        {
            for (int i = 0; i < n; i++)
                a[i] = 0.5 * a[i];
        }

    After:
        void f(int n, double *restrict a)
        {
            for (int i = 0; i < n; i++)
                a[i] = 0.5 * a[i];
        }
    """

    name: ClassVar[str] = "keep"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say that the loop exists: nothing else is needed."""
        del facts
        LoopContext.of(program, self.loop)
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        return decide(program, place, Decision(self.loop, place.function.symbol.name, "host", place.loop))
