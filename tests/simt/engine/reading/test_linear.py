"""Blocks in the order in which a warp goes through them."""

from __future__ import annotations

import pytest

from tests.analysis.kernels import random_module
from warpsmith.simt.engine.reading.linear import Item, NaturalLoop, linear, loops
from warpsmith.ssa.graph import Graph


def _names(items: tuple[Item, ...]) -> list[str]:
    return [name for item in items for name in (_names(item.items) if isinstance(item, NaturalLoop) else [item])]


@pytest.mark.parametrize("seed", range(40))
def test_what_control_goes_to_comes_later_but_for_loops(seed: int) -> None:
    (function,) = random_module(seed, structured=seed % 2 == 0).functions
    graph = Graph.of(function)
    if graph.irreducible:
        with pytest.raises(ValueError, match="several entries"):
            linear(graph)
        return
    items = linear(graph)
    order = {name: number for number, name in enumerate(_names(items))}
    assert sorted(order) == sorted(graph.order)
    headers = {loop.header for loop in loops(items)}
    for name in graph.order:
        for after in graph.successors[name]:
            back = after in headers and any(c.header == after for c in graph.cycles_around(name))
            assert back or order[name] < order[after]


def test_a_loop_is_one_item_and_its_header_the_first() -> None:
    for seed in range(0, 40, 2):
        (function,) = random_module(seed, structured=True).functions
        graph = Graph.of(function)
        for loop in loops(linear(graph)):
            assert _names(loop.items)[0] == loop.header
            (cycle,) = (c for c in graph.cycles_around(loop.header) if c.header == loop.header)
            assert set(_names(loop.items)) == cycle.blocks
