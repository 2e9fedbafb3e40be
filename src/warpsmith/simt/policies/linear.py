"""Blocks one behind the other: each is executed once an iteration, by all lanes that come to it, whichever way.

    A ─► B ─► D         A B C D          a mask in place of the branch; lanes that skip B wait for those that do not
    └──► C ──┘

This is what masks in registers do behind a compiler that makes control flow structured (LLVM for AMD GPUs), and it is
maximal reconvergence: lanes never meet earlier (simt/engine/reading/linear.py, whose order this is). A loop with
several entries is not structured. It still has an order: each way around it goes through its header, which counts
iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from warpsmith.simt.engine.reading.linear import Item, NaturalLoop, in_line
from warpsmith.simt.policies.policy import Graphs
from warpsmith.simt.thread import CallFrame, Thread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock

__all__ = ["LinearPolicy"]

_Way = tuple[tuple[int, str], ...]
"""For each loop around a block, and then for itself: its number among its neighbors, and the header (itself: "")."""
Key = tuple[int, ...]


class LinearPolicy(Struct):
    """The lanes that stand first in the order of blocks and iterations go on."""

    graphs: Graphs
    most_waiting: int = 0
    ways: dict[str, Mapping[str, _Way]] = field(default_factory=dict)

    def pick(self, threads: Sequence[Thread]) -> Sequence[Thread]:
        """Return the lanes that are behind all others."""
        ready = [(self._key(thread), thread) for thread in threads if thread.waiting is None]
        first = min((key for key, _ in ready), default=())
        self.most_waiting = max(self.most_waiting, len({key for key, _ in ready}) - 1)
        return [thread for key, thread in ready if key == first]

    def parted(self, block: BasicBlock, depth: int, threads: Sequence[Thread]) -> None:
        """Nothing: where lanes stand says all."""

    def _key(self, thread: Thread) -> Key:
        return tuple(number for frame in thread.frames for number in self._of_frame(frame))

    def _of_frame(self, frame: CallFrame) -> Key:
        name = frame.code.function.name
        if name not in self.ways:
            self.ways[name] = _find_ways(self.graphs[name])
        key: list[int] = []
        for number, header in self.ways[name][frame.block.name]:
            key += (number, frame.rounds.get(header, 0)) if header else (number,)
        return (*key, frame.place)


def _find_ways(graph: Graph) -> Mapping[str, _Way]:
    found: dict[str, _Way] = {}

    def number(items: Sequence[Item], around: _Way) -> None:
        for place, item in enumerate(items):
            if isinstance(item, NaturalLoop):
                number(item.items, (*around, (place, item.header)))
            else:
                found[item] = (*around, (place, ""))

    number(in_line(graph), ())
    return found
