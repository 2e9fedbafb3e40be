"""Graphs of operations: what is equal is one."""

from __future__ import annotations

from warpsmith.targets.r600.operations import ConstantWord, Export, Operand, PlaceWord, Values, operations_below


def test_equal_operations_are_one_and_others_are_not() -> None:
    v = Values()
    a, b = PlaceWord("x"), ConstantWord(0, 1, "y")
    one = v.operation("ADD", (a, b))
    assert v.operation("ADD", (Operand(a), Operand(b))) is one
    others = [
        v.operation("ADD", (b, a)),
        v.operation("ADD", (a, Operand(b, negate=True))),
        v.operation("ADD", (a, Operand(b, absolute=True))),
        v.operation("ADD", (a, b), clamp=True),
        v.operation("MUL_IEEE", (a, b)),
    ]
    assert len({id(other) for other in (one, *others)}) == 6


def test_fetches_are_one_where_their_places_are() -> None:
    v = Values()
    one = v.fetch(0, 0, (PlaceWord("x"),), whole=False)
    assert v.fetch(0, 0, (PlaceWord("x"),), whole=False) is one and v.fetched(one, "x") is v.fetched(one, "x")
    others = [v.fetch(0, 0, (PlaceWord("y"),), whole=False), v.fetch(0, 0, (PlaceWord("x"),), whole=True)]
    assert len({id(other) for other in (one, *others)}) == 3


def test_what_no_output_needs_is_not_there() -> None:
    v = Values()
    first = v.operation("MOV", (PlaceWord("x"),))
    v.operation("MOV", (PlaceWord("y"),))
    fetch = v.fetch(0, 0, (first,), whole=False)
    last = v.operation("ADD", (v.fetched(fetch, "x"), first))
    graph = operations_below([Export(0, (last, None, None, None))])
    assert (graph.operations, graph.fetches) == ((first, last), (fetch,))
