"""One thread: a loop becomes a kernel whose only thread runs it as it stands."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Decision, Program

__all__ = ["OneThread"]


class OneThread(Struct, frozen=True):
    """Let one GPU thread run a loop as it stands, in a kernel of its own.

    For loops that are not parallel and stand between kernels: on the host, they would have their arrays copied back,
    and to the device again. One thread is slow, so that this is worth it where the loop is short and its arrays are
    large, or where a loop around runs both again and again. This removes redundant access: copies.

    Legal where a device can run all of it: the loop calls no function of the host and does no input or output, returns
    from nowhere, and what it names can be held on the device. No order changes, so that no dependence is in the way.
    Counters are the loop's own, or read by nobody afterwards. Loops inside it make no kernels. Statements between
    kernels that read their arrays need no step: where the host does not need what they compute, the planner lets one
    thread run them.

    Step: loop=f/t/i

    Before:
        void f(int steps, int n, double *restrict a, const double *restrict b)
        {
            for (int t = 0; t < steps; t++) {
                for (int i = 1; i < 16; i++)
                    a[i] = a[i - 1] * a[i] + 1;
                for (int j = 0; j < n; j++)
                    a[j] += b[j];
            }
        }

    After:
        void f(int steps, int n, double *restrict a, const double *restrict b)
        {
            for (int t = 0; t < steps; t++) {
                for (int i = 1; i < 16; i++)
                    a[i] = a[i - 1] * a[i] + 1;
                for (int j = 0; j < n; j++)
                    a[j] += b[j];
            }
        }
    """

    name: ClassVar[str] = "one-thread"
    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether one thread of a device can run the loop: the planner is asked."""
        # the planner is loaded with all that it needs
        from warpsmith.offload.port import plan_function

        place = LoopContext.of(program, self.loop)
        after = self.apply(program)
        planned = plan_function(after, facts.after(after), place.function, OffloadOptions())
        for fragment in planned.fragments:
            if fragment.kind == "single" and fragment.statements[-1] is place.loop:
                return Proved(fragment.assumptions)
        address = facts.of(place.function).of(place.loop).id
        reason = next((one.reason for one in planned.refusals if one.loop == address), None)
        return Unknown((reason or Reason("STP002", "the loop does not become a kernel", place.loop.header),))

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        return decide(program, place, Decision(self.loop, place.function.symbol.name, "one thread", place.loop))
