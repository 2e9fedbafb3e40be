"""Which nests the search looks at: those that a step may help, as far as that is worth its time.

Work is bounded by counts. A share of time, where there is one, is for what counts do not see: each function may take a
part of what is left of it, so that a long one leaves something for those behind it.

The search, and all steps with it, is loaded where there is such a nest: most programs have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_left, time_share
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.cost import cost_of
from warpsmith.loops.search.localizable import may_be_localized
from warpsmith.loops.search.nests import outermost, references
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.isl.space import shared_effort
from warpsmith.tree.nodes import For, Function, Loop, Node, While
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk

__all__ = ["prepare"]

# of one function: so many loops are looked at, in nests of at most so many references
_MOST_LOOPS = 400
_MOST_REFERENCES = 1500
# of the time that is left for all
_SHARE = 0.4


def prepare(
    prepared: Prepared, wanted: frozenset[int] | None, left: frozenset[Span], only: frozenset[Symbol] | None = None
) -> Prepared:
    """Return `prepared` with every step that helps.

    `wanted`: identities of the loops to look at (None: all), and what is inside them; `left`: nests, by the span of
    their text, that stay as they are; `only`: the functions to look at (None: all).
    """
    known = prepared.facts
    prepared = replace(prepared, facts=known.briefly())
    symbols = [function.symbol for _, function in prepared.program.functions()]
    for symbol in [s for s in symbols if only is None or s in only]:
        function = next(f for _, f in prepared.program.functions() if f.symbol == symbol)
        nests = [loop for loop in outermost(function.body) if _is_wanted(loop, wanted) and not _overlaps(loop, left)]
        nests = [loop for loop in nests if not _is_threaded(function, loop)]
        nests = list(_affordable(loop for loop in nests if not _is_settled(known, function, loop)))
        if nests:
            from warpsmith.loops.search.search import search_nests

            with shared_effort() as effort, time_share(time_left() * _SHARE):
                prepared = search_nests(prepared, symbol, tuple(loop.span for loop in nests))
                late = not time_left()
            if effort.given_up or late:
                prepared = replace(prepared, cut=(*prepared.cut, symbol))
    return prepared


def _is_settled(known: Facts, function: Function, loop: Loop) -> bool:
    """Whether no step has anything to do for a nest; `known`: facts of the program before the search."""
    as_before = any(function is other for _, other in known.program.functions())
    return as_before and not may_be_localized(loop) and cost_of(known, function, (loop,)).perfect


def _is_threaded(function: Function, loop: Loop) -> bool:
    """Whether several host threads run a nest that is not theirs to share as a whole: it stays on the host."""
    bodies = (region.body for region in regions_of(function) if not isinstance(region.body, For | While))
    return any(body.span.contains(loop.span) for body in bodies)


def _affordable(nests: Iterable[Loop]) -> Iterator[Loop]:
    """Yield the nests of a function that are looked at: the bound is a count, the same on every machine."""
    left = _MOST_LOOPS
    for nest in nests:
        left -= sum(1 for _ in loops(nest))
        if left >= 0 and references(nest) <= _MOST_REFERENCES:
            yield nest


def _overlaps(loop: Node, spans: frozenset[Span]) -> bool:
    return any(s.file is loop.span.file and s.start < loop.span.end and loop.span.start < s.end for s in spans)


def _is_wanted(loop: Node, wanted: frozenset[int] | None) -> bool:
    return wanted is None or any(id(part) in wanted for part in walk(loop))
