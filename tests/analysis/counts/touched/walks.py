"""Kernels of CUDA walked through, as `count.py` does before it asks what blocks touch."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from tests.lower.harness import lowered
from warpsmith.analysis.counts.count import walk_launch
from warpsmith.analysis.counts.threads import LaunchedThreads
from warpsmith.analysis.counts.walk import Walked
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction

__all__ = ["Looked", "look_at"]


class Looked(Struct, frozen=True):
    """A kernel, and a launch of it that has been walked through."""

    owner: tuple[Function, Graph]
    walked: Walked
    threads: LaunchedThreads

    @property
    def loads(self) -> list[Instruction]:
        """The loads, as they were met."""
        return self._met("load")

    @property
    def stores(self) -> list[Instruction]:
        """The stores, as they were met."""
        return self._met("store")

    def _met(self, op: str) -> list[Instruction]:
        places = self.walked.writer.places
        found = [i for i in self.walked.writer.touched if i.op == op]
        return sorted(found, key=lambda i: places[i].number)


def look_at(text: str, folder: Path, block: Dim, grid: Dim, n: int) -> Looked:
    module = lowered(text, folder, "k.cu").module
    function = module.functions[0]
    graph = Graph.of(function)
    walk = walk_launch((module, function, graph), (block, grid, 32), {"n": n})
    assert walk.walked is not None, walk.lacks
    return Looked((function, graph), walk.walked, walk.threads)
