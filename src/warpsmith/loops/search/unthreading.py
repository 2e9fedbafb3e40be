"""Parallel regions before the search: one thread runs them where that is proved, so that their loops can be kernels.

Invariant: every step was Proved on the program that it is applied to. Regions inside `left` stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.step import check_step, rewrite_program
from warpsmith.poly.claimed import ParallelRegion, regions_of
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.openmp.numbered_parts import find_numbered
from warpsmith.poly.openmp.team import region_run, sharing_functions
from warpsmith.tree.nodes import Function, Loop
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops

__all__ = ["adds_to_numbered_parts", "unthread_regions"]


def unthread_regions(prepared: Prepared, selected: Sequence[Span] | None, left: frozenset[Span]) -> Prepared:
    """Return `prepared` with one thread in place of many in every region that has one of the `selected` loops (None:
    any loop), where one thread does the same."""
    for symbol in [function.symbol for _, function in prepared.program.functions() if regions_of(function)]:
        tried: set[Span] = set()
        while (found := _next(prepared.program, _function(prepared, symbol), selected, (left, tried))) is not None:
            loop, span = found
            tried.add(span)
            prepared = _apply_unthread(prepared, symbol, loop, span)
    return prepared


def adds_to_numbered_parts(prepared: Prepared) -> bool:
    """Whether one thread has come in place of threads that add to parts of an array by their numbers: which part holds
    what is then the same only where the original runs on one thread as well."""
    spans = [a.span for a in prepared.applied if a.step.name == "unthread"]
    functions = [function for _, function in prepared.original.program.functions()] if spans else []
    regions = (region for function in functions for region in regions_of(function) if find_numbered(region.body))
    return any(_meets(region.body.span, span) for region in regions for span in spans)


def _next(
    program: Program, function: Function, selected: Sequence[Span] | None, not_these: tuple[frozenset[Span], set[Span]]
) -> tuple[Loop, Span] | None:
    """Return the first loop of the next region to try, and the region's text; a loop is asked for also where it stands
    in a function that shares work among the region's threads."""
    left, tried = not_these
    for region in regions_of(function):
        span = statement_spans(region_run(function, region))
        if span in tried or any(span.contains(other) or other.contains(span) for other in left):
            continue
        sharing = sharing_functions(program, region.body)
        loop = _first_loop(function, region)
        asked = [span, *(one.span for one in sharing)]
        if loop is not None and (selected is None or any(_meets(s, text) for s in selected for text in asked)):
            return loop, span
    return None


def _first_loop(function: Function, region: ParallelRegion) -> Loop | None:
    """Return the first loop of `region`, unless one step over a region around this one would serve it."""
    # steps are loaded where one may be tried
    from warpsmith.loops.steps.order.unthread import region_around

    loop = next((loop for loop, _ in loops(region.body)), None)
    return loop if loop is not None and region_around(function, loop) is region else None


def _apply_unthread(prepared: Prepared, symbol: Symbol, loop: Loop, span: Span) -> Prepared:
    from warpsmith.loops.steps.order.unthread import Unthread

    facts = prepared.facts
    unit, function = next((u, f) for u, f in facts.program.functions() if f.symbol == symbol)
    name = loop_names(function)[loop]
    shared = sum(f.symbol.name == symbol.name for _, f in facts.program.functions()) > 1
    step = Unthread(f"{unit.file.path}:{name}" if shared else name)
    try:
        place = LoopContext.of(facts.program, step.loop)
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return prepared
    if place.loop is not loop or not isinstance(verdict, Proved):
        return prepared
    after = facts.after(rewrite_program(step, facts.program))
    return msgspec.structs.replace(
        prepared, facts=after, applied=(*prepared.applied, Applied(step, verdict, symbol, span))
    )


def _function(prepared: Prepared, symbol: Symbol) -> Function:
    return next(function for _, function in prepared.program.functions() if function.symbol == symbol)


def _meets(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end
