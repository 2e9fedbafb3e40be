"""What a policy decides: which lanes of a warp execute the next piece of a block together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from warpsmith.simt.thread import Thread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Instruction

__all__ = ["Graphs", "LanePlace", "Policy", "bits", "by_place", "place_of"]

Graphs = Mapping[str, Graph]
"""The control-flow graph of each function, by its name."""


class LanePlace(Struct, frozen=True):
    """Where a lane stands: the calls that it is in, outermost first, its block, and the instruction there."""

    calls: tuple[Instruction, ...]
    block: BasicBlock
    instruction: int


class Policy(Protocol):
    """The state of one warp. A piece: instructions of one block, to its end, to a call, or to where lanes wait."""

    most_waiting: int
    """How many sets of lanes waited at most to go on at a place of their own, without those that wait to be joined."""

    def pick(self, threads: Sequence[Thread]) -> Sequence[Thread]:
        """Return those of the threads, none of which has ended, that execute the next piece together: all stand at one
        place, and none waits for others. Empty where the warp cannot go on by itself."""
        ...

    def parted(self, block: BasicBlock, depth: int, threads: Sequence[Thread]) -> None:
        """Take note of where threads have gone at the end of a block, that have not ended; `depth`: how many functions
        they were in."""
        ...


def place_of(thread: Thread) -> LanePlace:
    """Return where a lane stands."""
    calls = tuple(frame.call for frame in thread.frames if frame.call is not None)
    frame = thread.frames[-1]
    return LanePlace(calls, frame.block, frame.place)


def by_place(threads: Iterable[Thread]) -> dict[LanePlace, list[Thread]]:
    """Return the threads of each place, in the order of their lanes."""
    found: defaultdict[LanePlace, list[Thread]] = defaultdict(list)
    for thread in threads:
        found[place_of(thread)].append(thread)
    return dict(found)


def bits(threads: Iterable[Thread]) -> int:
    """Return lanes as a mask."""
    return sum(1 << thread.lane.lane for thread in threads)
