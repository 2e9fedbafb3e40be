"""Minimum cuts of named graphs, and of random ones against all cuts that there are."""

from __future__ import annotations

import itertools
import random

import pytest

from warpsmith.offload.transfers.min_cut import MinCut

Edge = tuple[str, str, int | None]


def side(*edges: Edge) -> str | None:
    graph = MinCut()
    for edge in edges:
        graph.add(*edge)
    found = graph.source_side()
    return None if found is None else " ".join(sorted(map(str, found)))


def test_the_cheaper_of_two_edges_is_cut() -> None:
    assert side(("source", "a", 3), ("a", "sink", 2)) == "a source"
    assert side(("source", "a", 2), ("a", "sink", 3)) == "source"


def test_of_two_smallest_cuts_the_one_nearer_to_the_source_is_taken() -> None:
    assert side(("source", "a", 2), ("a", "b", 2), ("b", "sink", 2)) == "source"


def test_edges_are_directed_and_may_stand_side_by_side() -> None:
    assert side(("source", "a", 1), ("b", "a", 9), ("b", "sink", 9)) == "a source"
    assert side(("source", "a", 1), ("source", "a", 2), ("a", "sink", 2)) == "a source"


def test_an_edge_without_capacity_is_never_cut() -> None:
    assert side(("source", "a", None), ("a", "b", 5), ("b", "sink", None)) == "a source"
    assert side(("source", "a", None), ("a", "sink", None), ("source", "sink", 1)) is None


def test_a_sink_that_nothing_leads_to_costs_nothing() -> None:
    assert side(("source", "a", None), ("b", "sink", None)) == "a source"
    assert side() == "source"


def test_flow_is_sent_back_where_another_way_needs_the_edge() -> None:
    """The shortest way first: s a d t; then s b d … must give way to s a c t."""
    edges = [("source", "a", 1), ("a", "d", 1), ("d", "sink", 1), ("source", "b", 1), ("b", "d", 1), ("a", "c", 1)]
    assert side(*edges, ("c", "sink", 1)) == "source"


def cost(edges: list[Edge], side: frozenset[str]) -> int | None:
    cut = [capacity for start, end, capacity in edges if start in side and end not in side]
    return None if None in cut else sum(c for c in cut if c is not None)


@pytest.mark.parametrize("seed", range(20))
def test_no_other_cut_of_a_random_graph_is_cheaper(seed: int) -> None:
    rng = random.Random(seed)
    inner = ["a", "b", "c", "d"]
    nodes = ["source", *inner, "sink"]
    pairs = [(one, other) for one in nodes for other in nodes if one != other and rng.random() < 0.4]
    edges: list[Edge] = [(*pair, None if rng.random() < 0.15 else rng.randrange(5)) for pair in pairs]
    graph = MinCut()
    for edge in edges:
        graph.add(*edge)
    chosen = [frozenset({"source", *some}) for n in range(5) for some in itertools.combinations(inner, n)]
    costs = {one: price for one in chosen if (price := cost(edges, one)) is not None}
    found = graph.source_side()
    if found is None:
        assert not costs
    else:
        mine = frozenset(map(str, found))
        assert cost(edges, mine) == min(costs.values())
        # and it is a part of every other one that costs as little
        assert all(mine <= one | (mine - set(nodes)) for one, price in costs.items() if price == min(costs.values()))
