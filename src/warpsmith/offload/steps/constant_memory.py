"""Constant memory: small arrays that all threads of a kernel read lie in it."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.mapping.spaces.constants import MOST_BYTES
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.steps.offload import runs_at_once
from warpsmith.poly.analyze import Facts
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loops

__all__ = ["ConstantMemory"]


class ConstantMemory(Struct, frozen=True):
    """Let a kernel have arrays that it only reads in constant memory.

    For small tables of coefficients of which all threads of a warp read the same element at once: the constant cache
    gives it to all of them as fast as a register; that avoids latency. The launcher copies the arrays to constant
    memory before each launch, in the order of launches. Where threads read different elements at once these are read
    one after the other: the plan says so, and global memory may be faster.

    Legal where the loop becomes a kernel that does not write the arrays, and hands no pointer to them on; where their
    sizes are known when they are compiled (declared as `double c[9]`, or as a parameter `double c[static 9]`), and all
    together have at most 65536 bytes.

    Step: loop=f/i arrays=c

    Before:
        static double c[5] = {0.1, 0.2, 0.4, 0.2, 0.1};

        void f(int n, double *restrict out, const double *restrict in)
        {
            for (int i = 2; i < n - 2; i++) {
                double sum = 0;
                for (int k = 0; k < 5; k++)
                    sum += c[k] * in[i + k - 2];
                out[i] = sum;
            }
        }

    After:
        static double c[5] = {0.1, 0.2, 0.4, 0.2, 0.1};

        void f(int n, double *restrict out, const double *restrict in)
        {
            for (int i = 2; i < n - 2; i++) {
                double sum = 0;
                for (int k = 0; k < 5; k++)
                    sum += c[k] * in[i + k - 2];
                out[i] = sum;
            }
        }
    """

    name: ClassVar[str] = "constant-memory"
    loop: str
    arrays: tuple[str, ...]

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the kernel that the loop becomes can have the arrays there: the planner is asked."""
        # the planner is loaded with all that it needs
        from warpsmith.offload.port import plan_function

        place = LoopContext.of(program, self.loop)
        if not self.arrays:
            return Unknown((Reason("STP003", "no arrays are named", place.loop.header, legal_if=("arrays=c",)),))
        after = self.apply(program)
        planned = plan_function(after, facts.after(after), place.function, OffloadOptions())
        for fragment in planned.fragments:
            inside = [loop for stmt in fragment.statements for loop, _ in loops(stmt)]
            if any(loop is place.loop for loop in inside):
                if {one.array for one in fragment.constants} >= set(self.arrays):
                    total = _count_bytes(after, facts.after(after))
                    if total <= MOST_BYTES:
                        return Proved(fragment.assumptions)
                    text = f"all kernels together have {MOST_BYTES} bytes of constant memory, and would need {total}"
                    return Unknown((Reason("STP003", text, place.loop.header),))
                text = "the loop is inside a thread of its kernel: name the loop that becomes the kernel"
                return Unknown((Reason("STP002", text, place.loop.header),))
        known = facts.of(place.function).of(place.loop)
        reason = next((one.reason for one in planned.refusals if one.loop == known.id), None)
        verdict = runs_at_once(known)
        if reason is not None or isinstance(verdict, Proved):
            return Unknown((reason or Reason("STP002", "the loop does not become a kernel", place.loop.header),))
        return verdict

    def apply(self, program: Program) -> Program:
        """Return the program with the decision noted."""
        place = LoopContext.of(program, self.loop)
        arrays = tuple(sorted(set(self.arrays)))
        return decide(
            program, place, Decision(self.loop, place.function.symbol.name, "constant", place.loop, arrays=arrays)
        )


def _count_bytes(program: Program, facts: Facts) -> int:
    """Return how much constant memory the kernels of all functions have."""
    from warpsmith.offload.port import plan_function

    asked = {decision.function for decision in program.decisions if decision.kind == "constant"}
    functions = [function for _, function in program.functions() if function.symbol.name in asked]
    plans = [plan_function(program, facts, function, OffloadOptions()) for function in functions]
    return sum(one.bytes for plan in plans for fragment in plan.fragments for one in fragment.constants)
