"""The lanes of each warp in lock step, as they meet at the earliest (simt/policies/linear.py).

Before each instruction of a warp somebody is told where it stands; all that this depends on is the launch, so a run can
be repeated up to any of these steps. Kept of each warp: where its lanes parted, and where each lane was last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from warpsmith.simt.interpreter import Step, ThreadBlock
from warpsmith.simt.meeting.exchange import meet_in_lock_step
from warpsmith.simt.meeting.waiting import waits_for_others
from warpsmith.simt.policies.linear import LinearPolicy
from warpsmith.simt.policies.policy import Graphs
from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import Branch, Instruction, Phi, Switch, Terminator

__all__ = ["Parting", "StepPosition", "StepTurns", "Warp"]

_TOGETHER = 64
"""How many pieces of blocks a warp executes before the next one goes on."""
_PARTINGS = 4096
"""So many partings of a warp are kept."""

Place = Instruction | Terminator


class Parting(Struct, frozen=True):
    """Lanes of a warp went different ways at a branch: the block that each went to."""

    branch: Branch | Switch
    ways: Mapping[int, str]


class Warp(Struct):
    """A warp of a block: its threads by lane; `last`: what each lane executed last."""

    block: int
    number: int
    threads: Mapping[int, Thread]
    policy: LinearPolicy
    last: dict[int, Place] = field(default_factory=dict)
    partings: deque[Parting] = field(default_factory=lambda: deque(maxlen=_PARTINGS))


class StepPosition(Struct, frozen=True):
    """Lanes of a warp are about to execute `place`; `number`: how many instructions warps have executed before."""

    number: int
    warp: Warp
    lanes: tuple[int, ...]
    place: Place


class StepTurns:
    """Lets warps of a block go on one after the other; `at` is told before each instruction, `named` of phis that lanes
    have passed."""

    def __init__(
        self, graphs: Graphs, width: int, at: Callable[[StepPosition], None], named: Callable[[Thread, Phi], None]
    ) -> None:
        self._graphs, self._width, self._at, self._named = graphs, width, at, named
        self.warps: dict[tuple[int, int], Warp] = {}
        self.number = 0

    def turn(self, block: ThreadBlock, step: Step) -> bool:
        """Let the warps of a block go on; return whether any could."""
        moved = False
        for threads in block.warps:
            key = block.number, threads[0].lane.warp
            if key not in self.warps:
                by_lane = {thread.lane.lane: thread for thread in threads}
                self.warps[key] = Warp(*key, by_lane, LinearPolicy(self._graphs))
            warp = self.warps[key]
            for _ in range(_TOGETHER):
                lanes = warp.policy.pick([thread for thread in threads if not thread.ended])
                if not lanes:
                    break
                moved = True
                if not self._execute(warp, lanes, step):
                    return True
        return moved

    def _execute(self, warp: Warp, lanes: Sequence[Thread], step: Step) -> bool:
        """Execute what lanes do up to the end of their block, or to where they wait; return whether the run goes on."""
        frame = lanes[0].frames[-1]
        block, place, ends = frame.block, frame.place, False
        while not ends:
            one = block.instructions[place] if place < len(block.instructions) else block.terminator
            self._at(StepPosition(self.number, warp, tuple(thread.lane.lane for thread in lanes), one))
            self.number += 1
            warp.last.update(dict.fromkeys((thread.lane.lane for thread in lanes), one))
            if not all(step(thread) for thread in lanes):
                return False
            place += 1
            waits = isinstance(one, Instruction) and waits_for_others(one)
            ends = not isinstance(one, Instruction) or one.op == "call"
            ends = ends or (waits and not meet_in_lock_step(lanes, self._width))
        if place > len(block.instructions):
            self._part(warp, block.terminator, [thread for thread in lanes if not thread.ended])
        return True

    def _part(self, warp: Warp, end: Terminator, lanes: Sequence[Thread]) -> None:
        """Take note of where lanes have gone."""
        for thread in lanes:
            for phi in thread.frames[-1].block.phis:
                self._named(thread, phi)
        ways = {thread.lane.lane: thread.frames[-1].block.name for thread in lanes}
        if isinstance(end, Branch | Switch) and len(set(ways.values())) > 1:
            warp.partings.append(Parting(end, ways))
