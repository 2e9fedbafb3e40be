"""Offload: a loop becomes a kernel."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Decision, Program

__all__ = ["Offload", "runs_at_once"]


class Offload(Struct, frozen=True):
    """Make a loop a kernel: its iterations become threads.

    Legal where the loop is parallel, or an associative update is all that its iterations share. The loops around it
    stay on the host. The text does not change; the planner chooses axes and block (the step map says which), and adds
    the copies.

    Step: loop=f/t/i

    Before:
        void f(int n, int steps, double *restrict a)
        {
            for (int t = 0; t < steps; t++)
                for (int i = 0; i < n; i++)
                    a[i] = 0.5 * a[i];
        }

    After:
        void f(int n, int steps, double *restrict a)
        {
            for (int t = 0; t < steps; t++)
                for (int i = 0; i < n; i++)
                    a[i] = 0.5 * a[i];
        }
    """

    name: ClassVar[str] = "offload"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop's iterations may run at once."""
        place = LoopContext.of(program, self.loop)
        return runs_at_once(facts.of(place.function).of(place.loop))

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        decision = Decision(self.loop, place.function.symbol.name, "device", place.loop)
        return decide(program, place, decision)


def runs_at_once(facts: LoopFacts) -> Verdict:
    """Say whether the iterations of a loop may run at once: as they are, or as parts of an associative update."""
    if not isinstance(facts.loop, For):
        reason = Reason("STP002", f"only a counted loop can become threads: {facts.loop.reason}", facts.loop.header)
        return Unknown((reason,))
    if facts.category in ("reduction", "scan"):
        return facts.combined or facts.verdict
    return facts.verdict
