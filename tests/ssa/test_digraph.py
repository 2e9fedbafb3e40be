"""Walks over graphs, against what the definitions say."""

from __future__ import annotations

import random

import pytest

from warpsmith.ssa.digraph import dominators, parts, postorder

Graph = dict[str, tuple[str, ...]]


def graph(seed: int) -> Graph:
    chosen = random.Random(seed)
    names = [f"n{k}" for k in range(chosen.randint(1, 9))]
    return {name: tuple(chosen.choices(names, k=chosen.randint(0, 3))) for name in names}


def reached(after: Graph, start: str, without: str = "") -> set[str]:
    found, pending = set[str](), [start] if start != without else []
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [one for one in after[name] if one != without]
    return found


@pytest.mark.parametrize("seed", range(60))
def test_what_the_definitions_say(seed: int) -> None:
    after = graph(seed)
    start = "n0"
    order = postorder(after, start)
    assert set(order) == reached(after, start) and len(order) == len(set(order)) and order[-1] == start
    above = dominators(after, start)
    assert set(above) == set(order) - {start}
    for name, over in above.items():
        strict = {d for d in order if d != name and name not in reached(after, start, without=d)}
        assert over in strict and all(d == over or over not in reached(after, start, without=d) for d in strict)
    found = list(parts(after, tuple(after)))
    assert sorted(name for part in found for name in part) == sorted(after)
    for number, part in enumerate(found):
        same = {n for n in after if part[0] in reached(after, n) and n in reached(after, part[0])}
        assert set(part) == same
        assert not any(later[0] in reached(after, part[0]) for later in found[number + 1 :])


def test_parts_stay_among_some_nodes() -> None:
    after: Graph = {"a": ("b",), "b": ("c",), "c": ("a",)}
    assert sorted(map(sorted, parts(after, ("a", "b")))) == [["a"], ["b"]]
    assert list(parts(after, ())) == []
    deep: Graph = {f"n{k}": (f"n{(k + 1) % 5001}",) for k in range(5001)}
    assert [len(part) for part in parts(deep, tuple(deep))] == [5001] and len(postorder(deep, "n0")) == 5001
