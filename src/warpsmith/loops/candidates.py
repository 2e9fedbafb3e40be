"""Which steps are worth a check for a nest, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.loops.cost import Cost
from warpsmith.loops.step import Step
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For, Function

__all__ = ["candidates"]


def candidates(facts: Facts, function: Function, loop: For, cost: Cost) -> Iterator[Step]:
    """Yield the steps to try on `loop`, which costs `cost` as it stands."""
    del facts, function, loop, cost
    yield from ()
