"""A stack of masks: where lanes part, one set goes on, the others wait until it has come to where all meet again.

    if (c) A; else B; C      at the branch: C for all | B for the others | A for those that take it     ◄ top
                             A is done: its lanes stand at C, where their entry ends; B; then C for all

Lanes meet at the immediate post-dominator of the branch (Fung et al., Dynamic Warp Formation, MICRO 2007, 2.2), or
behind the return where only the end of the function post-dominates it. The order of the arms is all that differs:

    text      the arm that stands first in the text
    true      the arm of the lanes for which the condition holds, as a push of both in one instruction has it
    smaller   the arm of fewer lanes: each set of lanes that waits to go on has at least as many lanes as all that run
              above it, so at most log2(width) of them wait
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from warpsmith.simt.policies.policy import Graphs, LanePlace, bits, by_place
from warpsmith.simt.thread import Thread
from warpsmith.ssa.graph import EXIT
from warpsmith.ssa.nodes import BasicBlock, Branch, Switch

__all__ = ["Order", "StackPolicy"]

Order = Literal["text", "true", "smaller"]


class _Meeting(Struct, frozen=True):
    """A place where lanes meet: a block in the function that is `depth` calls deep; EXIT: behind its return."""

    depth: int
    block: str

    def is_reached(self, thread: Thread) -> bool:
        """Whether a lane stands there."""
        if len(thread.frames) < self.depth:
            return True
        frame = thread.frames[-1]
        return len(thread.frames) == self.depth and frame.block.name == self.block and frame.place == 0


class _Entry(Struct):
    """Lanes that go on together until they meet others; `joins`: those above come back to it before it goes on."""

    mask: int
    meeting: _Meeting | None
    joins: bool = False


class StackPolicy(Struct):
    """The stack of one warp."""

    graphs: Graphs
    order: Order
    entries: list[_Entry] = field(default_factory=list)
    started: bool = False
    most_waiting: int = 0

    def pick(self, threads: Sequence[Thread]) -> Sequence[Thread]:
        """Return the lanes of the top of the stack."""
        if not self.started:
            self.started = True
            self.entries.append(_Entry(bits(threads), None))
        while self.entries:
            top = self.entries[-1]
            mine = [thread for thread in threads if top.mask >> thread.lane.lane & 1]
            if mine and not (top.meeting is not None and top.meeting.is_reached(mine[0])):
                return [] if any(thread.waiting is not None for thread in mine) else mine
            self.entries.pop()
            if self.entries:
                self.entries[-1].joins = False
        return []

    def parted(self, block: BasicBlock, depth: int, threads: Sequence[Thread]) -> None:
        """Push the arms of a branch whose lanes go different ways."""
        arms = by_place(threads)
        if len(arms) < 2:
            return
        meeting = self._meeting(block, depth, threads[0])
        top = self.entries[-1]
        if top.meeting == meeting:
            # an entry beneath already stands for who meets there
            self.entries.pop()
        else:
            top.joins = True
        for place in reversed(self._in_order(arms, block)):
            lanes = arms[place]
            if meeting is None or not meeting.is_reached(lanes[0]):
                self.entries.append(_Entry(bits(lanes), meeting))
        self.most_waiting = max(self.most_waiting, sum(not entry.joins for entry in self.entries) - 1)

    def _meeting(self, block: BasicBlock, depth: int, thread: Thread) -> _Meeting | None:
        name = thread.frames[depth - 1].code.function.name
        behind = self.graphs[name].post_dominator.get(block.name, EXIT)
        return None if behind == EXIT and depth == 1 else _Meeting(depth, behind)

    def _in_order(self, arms: dict[LanePlace, list[Thread]], block: BasicBlock) -> list[LanePlace]:
        match self.order:
            case "smaller":
                return sorted(arms, key=lambda place: len(arms[place]))
            case "true":
                ways = _ways(block)
                return sorted(arms, key=lambda place: ways.index(place.block.name))
            case "text":
                thread = next(iter(arms.values()))[0]
                rank = self.graphs[thread.frames[-1].code.function.name].rank
                return sorted(arms, key=lambda place: rank[place.block.name])


def _ways(block: BasicBlock) -> list[str]:
    match block.terminator:
        case Branch(then=then, other=other):
            return [then, other]
        case Switch(cases=cases, other=other):
            return [*(name for _, name in cases), other]
        case _:
            return []
