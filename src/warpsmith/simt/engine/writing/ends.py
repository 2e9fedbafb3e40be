"""Blocks in which lanes end, and barriers behind which those stand: lanes that end there while others wait went past.

    barrier ──► … ──► last block        a bit for each last block; a barrier has those that stand behind it on every way
    └───────────────────┘               (simt/meeting/barriers.py says when)

Lanes set the bit where they end (blocks.py); the driver looks when a barrier opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.simt.engine.writing.segments import waits_for_block
from warpsmith.simt.meeting.barriers import is_last_behind
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction

__all__ = ["Ends"]

_BITS: Final = 63
"""More last blocks share the last bit: the interpreter looks once more then."""


class Ends(Struct, frozen=True):
    """`bits` of last blocks by their names; `behind`: the bits of those that stand behind each barrier."""

    bits: Mapping[str, int]
    behind: Mapping[Instruction, int]

    @classmethod
    def of(cls, function: Function, graph: Graph) -> Ends:
        """Return what is looked at in a kernel."""
        reached = [block for block in function.blocks if block.name in graph.rank]
        barriers = [(block, i) for block in reached for i in block.instructions if waits_for_block(i)]
        pairs = [
            (last.name, i) for last in reached for block, i in barriers if is_last_behind(function, last, block.name)
        ]
        names = dict.fromkeys(name for name, _ in pairs)
        bits = {name: 1 << min(number, _BITS - 1) for number, name in enumerate(names)}
        behind: dict[Instruction, int] = {}
        for name, i in pairs:
            behind[i] = behind.get(i, 0) | bits[name]
        return cls(bits, behind)
