"""Walks over directed graphs, given as the successors of each node: post-order, dominators, strongly connected parts.

Dominators as Cooper, Harvey and Kennedy do (A Simple, Fast Dominance Algorithm, 2001): in reverse post-order, the
dominator of a node is where the known dominators of its predecessors meet, until nothing changes. Parts as Tarjan does
(Depth-First Search and Linear Graph Algorithms, 1972). Nothing recurses: code can be thousands of blocks deep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

__all__ = ["dominators", "parts", "postorder"]

Successors = Mapping[str, Sequence[str]]


def postorder(after: Successors, start: str) -> list[str]:
    """Return what can be reached from `start`, each node behind those that it leads to (but for circles).

    >>> postorder({"a": ("b", "c"), "b": ("c",), "c": ("a",)}, "a")
    ['c', 'b', 'a']
    """
    found: list[str] = []
    seen = {start}
    stack = [(start, iter(after[start]))]
    while stack:
        name, left = stack[-1]
        for one in left:
            if one not in seen:
                seen.add(one)
                stack.append((one, iter(after[one])))
                break
        else:
            found.append(name)
            stack.pop()
    return found


def dominators(after: Successors, start: str) -> dict[str, str]:
    """Return the immediate dominator of each node that can be reached from `start`, which has none."""
    order = postorder(after, start)
    number = {name: place for place, name in enumerate(order)}
    before: dict[str, list[str]] = {name: [] for name in order}
    for name in reversed(order):
        for one in after[name]:
            before[one].append(name)
    found = {start: start}
    changed = True
    while changed:
        changed = False
        for name in reversed(order[:-1]):
            known = [one for one in before[name] if one in found]
            above = known[0]
            for one in known[1:]:
                above = _meeting(found, number, above, one)
            changed = changed or found.get(name) != above
            found[name] = above
    del found[start]
    return found


def _meeting(above: Mapping[str, str], number: Mapping[str, int], one: str, other: str) -> str:
    """Return the nearest node that dominates two."""
    while one != other:
        while number[one] < number[other]:
            one = above[one]
        while number[other] < number[one]:
            other = above[other]
    return one


def parts(after: Successors, among: Collection[str]) -> Iterator[list[str]]:
    """Yield the strongly connected parts of a graph as far as it is `among` some nodes, what a part leads to before it.

    >>> list(parts({"a": ("b",), "b": ("c",), "c": ("b",)}, ("a", "b", "c")))
    [['c', 'b'], ['a']]
    """
    lowest = dict.fromkeys(among, _NEW)
    number: dict[str, int] = {}
    waiting: list[str] = []
    for start in among:
        stack = [start] if lowest[start] == _NEW else []
        while stack:
            name = stack[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                waiting.append(name)
            new = next((one for one in after[name] if lowest.get(one) == _NEW), None)
            if new is not None:
                stack.append(new)
                continue
            stack.pop()
            lowest[name] = min(lowest[name], *(lowest.get(one, _DONE) for one in after[name]), _DONE)
            if lowest[name] == number[name]:
                part = [waiting.pop()]
                while part[-1] != name:
                    part.append(waiting.pop())
                lowest.update(dict.fromkeys(part, _DONE))
                yield part


_NEW, _DONE = -1, 1 << 60
"""Stand for the lowest number of a node that nobody has come to, and of one whose part is known."""
