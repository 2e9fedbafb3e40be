"""Where threads that part meet again, on random graphs, against what it means: two ways there that share no block.

By Menger's theorem there are two such ways from the successors of a branch to a block if and only if no single block
lies on all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from warpsmith.analysis import joins
from warpsmith.analysis.guards import bits, parted
from warpsmith.analysis.joins import between, meeting, parting
from warpsmith.ssa.graph import EXIT, Graph
from warpsmith.ssa.nodes import (
    Block,
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Phi,
    Return,
    Switch,
    Terminator,
    Value,
)
from warpsmith.ssa.types import I1, I32

YES, NUMBER = Constant(I1, 1), Constant(I32, 0)


def function(seed: int) -> Function:
    """Return random code: circles anywhere, or few of them; some blocks have phis, some do something."""
    chance = random.Random(seed)
    names = [f"b{number}" for number in range(chance.randint(1, 14))]
    wild = chance.random() < 0.4
    blocks = []
    for number, name in enumerate(names):
        later = names[number + 1 :] + (chance.sample(names, 1) if chance.random() < 0.3 else [])
        pool = names if wild else later
        after = tuple(dict.fromkeys(chance.sample(pool, min(len(pool), chance.choice((0, 1, 1, 2, 2, 2, 2, 3))))))
        phis = (Phi(Value(I32), ()),) if chance.random() < 0.7 else ()
        body = (Instruction("fence", (), ()),) if chance.random() < 0.3 else ()
        blocks.append(Block(name, phis, body, _end(after)))
    return Function("f", True, (), (), tuple(blocks))


def _end(after: tuple[str, ...]) -> Terminator:
    match after:
        case ():
            return Return()
        case (one,):
            return Jump(one)
        case (one, two):
            return Branch(YES, one, two)
        case _:
            return Switch(NUMBER, tuple(enumerate(after[1:])), after[0])


def _branches(count: int) -> Iterator[tuple[Graph, str, set[str]]]:
    """Yield graphs, a branch of each, and the blocks with phis."""
    for seed in range(count):
        made = function(seed)
        graph = Graph.of(made)
        phis = {block.name for block in made.blocks if block.phis}
        yield from ((graph, name, phis) for name in graph.order if len(graph.successors[name]) > 1)


def _reach(after: Mapping[str, tuple[str, ...]], starts: set[str], ends: set[str], without: str = EXIT) -> set[str]:
    """Return what can be reached from `starts`, those included; ways end at `ends`."""
    found: set[str] = set()
    pending = [name for name in starts if name != without]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [] if name in ends else [one for one in after[name] if one != without]
    return found


def joined(graph: Graph, branch: str) -> set[str]:
    """Return the blocks at which threads meet that went different ways from a branch."""
    ends = {branch, meeting(graph, branch)}
    ways = set(graph.successors[branch])
    found = _reach(graph.successors, ways, ends)
    lost = {one: found - _reach(graph.successors, ways, ends, without=one) for one in found}
    behind = {name for one, names in lost.items() for name in names - {one}}
    alone = {name for name in ways if name not in _reach(graph.successors, ways - {name}, ends)}
    return found - behind - alone


def compared(count: int) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield a branch in words, the joins with phis that it has, and those that are said."""
    for graph, branch, phis in _branches(count):
        yield f"{branch} of {graph.successors}", joined(graph, branch) & phis, set(parting(graph, branch).joins) & phis


def test_no_join_is_missed_and_few_are_said_that_are_none() -> None:
    real = more = 0
    for branch, true, said in compared(250):
        assert true <= said, branch
        real, more = real + len(true), more + len(said - true)
    assert real > 400
    assert more < 0.03 * real


def test_a_label_that_is_not_handed_on_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "_loop", lambda graph, name: name)
    assert any(not true <= said for _, true, said in compared(400))


def test_threads_are_apart_where_a_way_leads_before_they_meet() -> None:
    for graph, branch, _ in _branches(120):
        end = meeting(graph, branch)
        found = {name for name, branches in parted(graph, [branch]).items() if branches}
        # a block that only ends the thread has no work that they could do apart
        assert found - graph.leaving == between(graph, branch, end) - graph.leaving, (graph.successors, branch)


def test_branches_that_part_are_told_by_their_rank() -> None:
    seen = 0
    for seed in range(80):
        graph = Graph.of(function(seed))
        branches = [name for name in graph.order if len(graph.successors[name]) > 1]
        each = {name: parted(graph, [name]) for name in branches}
        for block, together in parted(graph, branches).items():
            assert {graph.order[rank] for rank in bits(together)} == {b for b in branches if each[b][block]}
            seen += bool(together)
    assert seen > 120
