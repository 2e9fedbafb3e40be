"""Dominance, post-dominance and cycles against their definitions, by brute force over random graphs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from warpsmith.ssa.graph import EXIT, Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Function, Jump, Return, Terminator
from warpsmith.ssa.types import I1

YES = Constant(I1, 1)
Edges = Mapping[str, tuple[str, ...]]


def _function(edges: Mapping[str, tuple[str, ...]]) -> Function:
    return Function("f", True, (), (), tuple(BasicBlock(name, (), (), _end(after)) for name, after in edges.items()))


def _end(after: tuple[str, ...]) -> Terminator:
    match after:
        case ():
            return Return()
        case (one,):
            return Jump(one)
        case _:
            return Branch(YES, after[0], after[1])


def _reaches(edges: Mapping[str, Iterable[str]], start: str, without: str = EXIT) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name not in seen and name != without:
            seen.add(name)
            pending += edges[name]
    return seen


def _graphs() -> Iterator[tuple[Edges, Graph]]:
    for seed in range(400):
        edges = _random_edges(seed)
        yield edges, Graph.of(_function(edges))


def _random_edges(seed: int) -> dict[str, tuple[str, ...]]:
    chosen = random.Random(seed)
    names = [f"b{n}" for n in range(chosen.randint(1, 9))]
    return {name: tuple(chosen.sample(names, min(len(names), chosen.choice((0, 1, 1, 2, 2, 2))))) for name in names}


def test_dominators_of_random_graphs() -> None:
    for edges, graph in _graphs():
        _dominators_of_random_graphs(edges, graph)


def _dominators_of_random_graphs(edges: Edges, graph: Graph) -> None:
    assert set(graph.order) == _reaches(edges, "b0")
    for above in graph.order:
        left = _reaches(edges, "b0", above)
        for below in graph.order:
            assert graph.dominates(above, below) == (above == below or below not in left)


def test_post_dominators_where_every_block_can_leave() -> None:
    for edges, graph in _graphs():
        _post_dominators_where_every_block_can_leave(edges, graph)


def _post_dominators_where_every_block_can_leave(edges: Edges, graph: Graph) -> None:
    ends = {name for name in graph.order if not edges[name]}
    if not all(_reaches(edges, name) & ends for name in graph.order):
        assert set(graph.post_dominator) == set(graph.order)
        return
    for above in graph.order:
        for below in graph.order:
            leaves = bool(_reaches(edges, below, above) & ends)
            assert graph.post_dominates(above, below) == (above == below or not leaves)


def test_cycles_are_nested_connected_and_lose_their_header() -> None:
    for edges, graph in _graphs():
        _cycles_are_nested_connected_and_lose_their_header(edges, graph)


def _cycles_are_nested_connected_and_lose_their_header(edges: Edges, graph: Graph) -> None:
    for name in graph.order:
        on_a_circle = any(name in _reaches(edges, after) for after in edges[name])
        assert bool(graph.cycles_around(name)) == on_a_circle
    for cycle in _all(graph.cycles):
        inside = {name: [a for a in edges[name] if a in cycle.blocks] for name in cycle.blocks}
        assert all(_reaches(inside, name) == cycle.blocks for name in cycle.blocks)
        entered = {a for name in graph.order if name not in cycle.blocks for a in edges[name] if a in cycle.blocks}
        assert set(cycle.entries) == (entered or {cycle.header})
        for child in cycle.children:
            assert child.blocks <= cycle.blocks - {cycle.header}
            assert child.depth == cycle.depth + 1


def _all(cycles: Iterable[Cycle]) -> Iterable[Cycle]:
    for cycle in cycles:
        yield cycle
        yield from _all(cycle.children)


def test_a_loop_with_two_entries_is_named_so() -> None:
    graph = Graph.of(_function({"a": ("b", "c"), "b": ("c",), "c": ("b", "d"), "d": ()}))
    (cycle,) = graph.cycles
    assert set(cycle.entries) == {"b", "c"}


def test_an_endless_loop_has_post_dominators() -> None:
    graph = Graph.of(_function({"a": ("b", "c"), "b": ("b",), "c": ()}))
    assert graph.post_dominator == {"a": EXIT, "b": EXIT, "c": EXIT}
