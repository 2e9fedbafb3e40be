"""Ways from one place to another that pass no barrier, and places that two threads can be at in one interval.

  branch                 a thread that goes left and one that goes right are at A and B only if
 ╱      ╲                they part at the branch: all that agree on it go one way
A        B
"""

from __future__ import annotations

from itertools import dropwhile

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.ssa.nodes import Instruction

__all__ = ["Ways"]


class Ways:
    """The ways of a function between barriers of the block; the forms hold for a block."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._below: dict[str, frozenset[str]] = {}
        self._waits = {n: any(full_barrier(i) for i in block.instructions) for n, block in forms.blocks.items()}
        self._places: dict[Instruction, tuple[int, int]] = {}

    def leads(self, first: AccessSite, second: AccessSite) -> bool:
        """Whether control may come from one place to the other, or to the same again, without a barrier."""
        _, behind = self._around(first)
        before, _ = self._around(second)
        instructions = self.forms.blocks[first.block].instructions
        if first.block == second.block and instructions.index(second.instruction) > instructions.index(
            first.instruction
        ):
            between = dropwhile(lambda i: i is not first.instruction, instructions)
            for i in between:
                if i is second.instruction:
                    return True
                if full_barrier(i):
                    break
        return not behind and not before and second.block in self._reached(first.block)

    def may_both(self, first: AccessSite, second: AccessSite) -> bool:
        """Whether two threads may be at two places in one interval: one leads to the other, or threads part at a branch
        that leads to both."""
        if first.instruction is second.instruction or self.leads(first, second) or self.leads(second, first):
            return True
        if self._around(first)[0] or self._around(second)[0]:
            return False
        for name in self.forms.answer.branches:
            below = self._reached(name)
            if first.block in below and second.block in below:
                return True
        return False

    def _around(self, place: AccessSite) -> tuple[bool, bool]:
        """Return whether its block has a barrier before a place, and one behind it."""
        if place.instruction not in self._places:
            found = list(self.forms.blocks[place.block].instructions)
            at = found.index(place.instruction)
            self._places[place.instruction] = (
                sum(full_barrier(i) for i in found[:at]), sum(full_barrier(i) for i in found[at:]),
            )  # fmt: skip
        before, behind = self._places[place.instruction]
        return before > 0, behind > 0

    def _reached(self, block: str) -> frozenset[str]:
        """Return the blocks whose beginning control may come to from the end of one, without a barrier."""
        if block not in self._below:
            pending, seen = list(self.forms.graph.successors[block]), set[str]()
            while pending:
                name = pending.pop()
                if name not in seen:
                    seen.add(name)
                    pending += () if self._waits[name] else self.forms.graph.successors[name]
            self._below[block] = frozenset(seen)
        return self._below[block]
