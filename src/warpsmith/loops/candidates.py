"""Which steps are worth a check for a nest, the likeliest first.

    i carries, j inside is parallel         interchange
    statements that do not need each other  distribute
    a temporary that iterations share       expand
    a subscript goes through a variable     forward-substitute, eliminate-recurrence
    only iteration i == k is in the way     split at k
    nothing is parallel as written          wavefront, reschedule

Nothing here is a promise: every candidate is checked by its own step, and kept only if the result is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from warpsmith.base.errors import RefusedError
from warpsmith.loops.cost import Cost, is_parallel, only_loop
from warpsmith.loops.distribute import Distribute
from warpsmith.loops.interchange import Interchange
from warpsmith.loops.step import Step
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import For, Function, Node
from warpsmith.tree.walk import children, loops

__all__ = ["candidates"]

_MOST_PERMUTED = 3


def candidates(facts: Facts, function: Function, loop: For, cost: Cost) -> Iterator[Step]:
    """Yield the steps to try on `loop`, which costs `cost` as it stands."""
    known = facts.of(function)
    own = known.of(loop)
    if own.category == "parallel":
        if any(is_parallel(known.of(inner)) for inner, _ in loops(loop.body)):
            yield from _wider(facts, own)
        return
    if own.category == "unanalyzable":
        return
    yield from _interchanges(own)
    for inner in _next_loops(loop.body):
        yield from _completed(facts, Distribute(known.of(inner).id))
    yield from _completed(facts, Distribute(own.id))


def _wider(facts: Facts, own: LoopFacts) -> Iterator[Step]:
    """Yield what may give a parallel loop a second thread dimension."""
    yield from _interchanges(own, keep_first=True)
    yield from _completed(facts, Distribute(own.id))


def _completed(facts: Facts, step: Distribute) -> Iterator[Step]:
    try:
        found = step.completed(facts.program, facts)
    except RefusedError:
        return
    if found is not None:
        yield found


def _interchanges(own: LoopFacts, *, keep_first: bool = False) -> Iterator[Step]:
    """Yield every other order of a perfect nest, those that change least first."""
    nest: list[For] = []
    current = own.loop if isinstance(own.loop, For) else None
    while current is not None and len(nest) < _MOST_PERMUTED:
        nest.append(current)
        current = only_loop(current.body)
    counters = [inner.variable.name for inner in nest]
    for order in permutations(counters):
        moved = list(order) != counters
        if moved and (not keep_first or order[0] == counters[0]):
            yield Interchange(own.id, order)




def _next_loops(node: Node) -> Iterator[For]:
    """Yield the outermost counted loops below `node`."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, For):
            yield current
        else:
            pending += reversed(list(children(current)))
