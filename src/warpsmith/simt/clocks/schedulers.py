"""Which waves a core asks in a clock, and in which order.

    greedy, smt           issue slot f has the waves of slots f, f + issue …; it stays with one until that one waits for
                          a result or ends, then goes around; issue slots are asked in order: the first win the ALUs
    round-robin, smt      all waves, from the one behind that which issued last
    oldest, smt           all waves, those that began first before the others
    majority, smt         all waves, those at the instruction where most lanes of ready waves are first, then by age
    interleaved           one wave issues in a clock: the first of the same order that can

A wave that could issue and finds no unit is asked in vain; a greedy issue slot stays with it, the others ask the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warpsmith.machine.simt.parameters import ClockMachine

__all__ = ["Chooser"]

Candidate = Callable[[int], bool]
Issue = Callable[[int], bool]


class Chooser:
    """The scheduler of a core with so many slots."""

    def __init__(self, machine: ClockMachine, slots: int) -> None:
        self.machine, self.slots = machine, slots
        self.groups = machine.issue if machine.threading == "smt" else 1
        self.current = list(range(self.groups))
        self.first = 0

    def choose(self, ranks: Sequence[Any], candidate: Candidate, issue: Issue) -> None:
        """Let waves issue: `candidate` says whether a slot's wave waits for nothing, `issue` tries, and says whether it
        issued; `ranks` of the slots: `oldest` and `majority` ask the lowest first."""
        if self.machine.scheduler == "greedy":
            self._greedy(candidate, issue)
            return
        order = [(self.first + n) % self.slots for n in range(self.slots)]
        if self.machine.scheduler in ("oldest", "majority"):
            order = sorted(range(len(ranks)), key=lambda slot: ranks[slot])
        left = self.groups
        for slot in order:
            if left and candidate(slot) and issue(slot):
                left -= 1
                self.first = (slot + 1) % self.slots

    def _greedy(self, candidate: Candidate, issue: Issue) -> None:
        for group in range(self.groups):
            own = list(range(group, self.slots, self.groups))
            if not own:
                continue
            at = own.index(self.current[group])
            for slot in own[at:] + own[:at]:
                if candidate(slot):
                    self.current[group] = slot
                    issue(slot)
                    break
