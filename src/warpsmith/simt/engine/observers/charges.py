"""Lost lane slots of a kernel that is made of levels (reading/levels.py): charged without a log of who left whom.

    of each level      slots that have been executed in it and are not charged yet
    of an arm          how many lanes are in the level around it and not in the arm: its branch takes them
    of a loop          how many lanes have left it, at each of its exits

Slots are charged when these numbers change, which is seldom, and then are those of the level around: where an arm ends,
where lanes leave a loop, and before control goes back to who called.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.simt.engine.lanes import I64, Emit, Ir
from warpsmith.simt.engine.reading.levels import Level, Levels
from warpsmith.simt.engine.values import SlotMaker
from warpsmith.simt.engine.words import LaunchWords

__all__ = ["Charges"]


class Charges:
    """Writes what charges the lost slots of a warp; `numbers`: of blocks, whose branches are charged."""

    def __init__(self, e: Emit, state: Ir, slots: SlotMaker, levels: Levels, numbers: Mapping[str, int]) -> None:
        self.e, self.state, self.slots, self.levels, self.numbers = e, state, slots, levels, numbers

    def start(self) -> None:
        """Write the start: nothing is executed yet."""
        arms = {one: None for ended in self.levels.ended.values() for one in ended}
        for level in arms:
            self.slots.store(("slots", level), I64(0))

    def execute(self, block: str, count: int) -> None:
        """Write: the lanes of a block execute so many instructions."""
        self._add(self.levels.of[block], I64(count))

    def enter_loop(self, header: str) -> None:
        """Write: a loop begins, which nobody has left."""
        level = self.levels.of[header]
        self.slots.store(("slots", level), I64(0))
        for name in level.exits:
            self.slots.store(("left", level, name), I64(0))

    def enter_arm(self, block: str, target: str, rest: Ir) -> None:
        """Write: lanes go from a block to another, where an arm may begin, and `rest` go other ways."""
        level = self.levels.arm(block, target)
        if level is not None:
            self.slots.store(("slots", level), I64(0))
            self.slots.store(("away", level), self.e.count(rest))

    def leave_loop(self, block: str, lanes: Ir) -> None:
        """Write: some lanes leave the loop of a block."""
        level = self.levels.of[block]
        self._charge(level)
        key = ("left", level, block)
        self.slots.store(key, self.e.b.add(self.slots.load(key, I64), self.e.count(lanes)))

    def pass_block(self, block: str) -> None:
        """Write: a block has been passed, whether lanes came to it or not; arms end with it."""
        e = self.e
        for level in self.levels.ended.get(block, ()):
            with e.b.if_then(e.b.icmp_unsigned("!=", self.slots.load(("slots", level), I64), I64(0))):
                self._charge(level)

    def settle(self, block: str) -> None:
        """Write: all that has been executed up to here is charged."""
        for level in self.levels.of[block].chain():
            self._charge(level)

    def _charge(self, level: Level) -> None:
        """Write: what is not charged yet is charged, and executed in the level around."""
        e = self.e
        slots = self.slots.load(("slots", level), I64)
        lost = e.pointer(e.read(self.state, LaunchWords.LOST))
        takers = [(level.branch, ("away", level))] if level.branch else [(n, ("left", level, n)) for n in level.exits]
        for name, key in takers:
            e.add_to(e.word(lost, self.numbers[name]), e.b.mul(self.slots.load(key, I64), slots))
        self.slots.store(("slots", level), I64(0))
        if level.parent is not None:
            self._add(level.parent, slots)

    def _add(self, level: Level, count: Ir) -> None:
        """Write: so many slots more are executed in a level; where all lanes are nobody loses any."""
        if level.parent is not None:
            key = ("slots", level)
            self.slots.store(key, self.e.b.add(self.slots.load(key, I64), count))
