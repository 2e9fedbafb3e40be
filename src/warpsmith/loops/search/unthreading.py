"""Parallel regions before the search: one thread runs them where that is proved, so that their loops can be kernels.
So it does with a `parallel for` that can be no kernel itself, as it goes through pointers to pointers to pointers.

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
from warpsmith.loops.search.localizable import moves_through_tables
from warpsmith.loops.step import check_step, rewrite_program
from warpsmith.poly.claimed import ParallelRegion, regions_of
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.openmp.concurrency.one_loop import shared_loop
from warpsmith.poly.openmp.numbered_parts import find_numbered
from warpsmith.poly.openmp.team import region_run, sharing_functions
from warpsmith.tree.nodes import For, Function, Loop
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops

__all__ = ["adds_to_numbered_parts", "unthread_loops", "unthread_regions"]


def unthread_regions(prepared: Prepared, selected: Sequence[Span] | None, left: frozenset[Span]) -> Prepared:
    """Return `prepared` with one thread in place of many in every region that has one of the `selected` loops (None:
    any loop), where one thread does the same."""
    for symbol in [function.symbol for _, function in prepared.program.functions() if regions_of(function)]:
        tried: set[Span] = set()
        while (found := _next(prepared.program, _function(prepared, symbol), selected, (left, tried))) is not None:
            place, span = found
            tried.add(span)
            prepared = _apply_unthread(prepared, symbol, place, span)
    return prepared


def unthread_loops(prepared: Prepared, selected: Sequence[Span] | None, left: frozenset[Span]) -> Prepared:
    """Return `prepared` with one thread in place of many for every `parallel for` around loops which itself no kernel
    can be: it goes through tables of row pointers, and the loops in it through the rows of one."""
    for symbol in [function.symbol for _, function in prepared.program.functions() if regions_of(function)]:
        tried: set[Span] = set()
        while (found := _next_loop(_function(prepared, symbol), selected, (left, tried))) is not None:
            function, region = found
            span = statement_spans(region_run(function, region))
            tried.add(span)
            if isinstance(region.body, For):
                prepared = _apply_unthread(prepared, symbol, (function, region.body), span)
    return prepared


def _next_loop(
    function: Function, selected: Sequence[Span] | None, not_these: tuple[frozenset[Span], set[Span]]
) -> tuple[Function, ParallelRegion] | None:
    left, tried = not_these
    for region in regions_of(function):
        span = statement_spans(region_run(function, region))
        loop = region.body
        if not isinstance(loop, For) or span in tried or shared_loop(function, loop) is not region:
            continue
        if any(span.contains(other) or other.contains(span) for other in left):
            continue
        if (selected is None or any(_meets(s, span) for s in selected)) and moves_through_tables(loop):
            return function, region
    return None


def adds_to_numbered_parts(prepared: Prepared) -> bool:
    """Whether one thread has come in place of threads that add to parts of an array by their numbers: which part holds
    what is then the same only where the original runs on one thread as well."""
    spans = [a.span for a in prepared.applied if a.step.name == "unthread"]
    functions = [function for _, function in prepared.original.program.functions()] if spans else []
    regions = (region for function in functions for region in regions_of(function) if find_numbered(region.body))
    return any(_meets(region.body.span, span) for region in regions for span in spans)


def _next(
    program: Program, function: Function, selected: Sequence[Span] | None, not_these: tuple[frozenset[Span], set[Span]]
) -> tuple[tuple[Function, Loop], Span] | None:
    """Return a loop, with its function, by which a step names the next region to try, and the region's text; a loop is
    asked for also where it stands in a function that shares work among the region's threads."""
    left, tried = not_these
    for region in regions_of(function):
        span = statement_spans(region_run(function, region))
        if span in tried or any(span.contains(other) or other.contains(span) for other in left):
            continue
        sharing = sharing_functions(program, region.body)
        found = _first_loop(program, function, region)
        asked = [span, *(one.span for one in sharing)]
        if found is not None and (selected is None or any(_meets(s, text) for s in selected for text in asked)):
            return found, span
    return None


def _first_loop(program: Program, function: Function, region: ParallelRegion) -> tuple[Function, Loop] | None:
    """Return the first loop of `region`, or else of the functions that share work among its threads, with its function;
    None where one step over a region around this one would serve it."""
    # steps are loaded where one may be tried
    from warpsmith.loops.steps.order.unthread import region_around

    loop = next((loop for loop, _ in loops(region.body)), None)
    if loop is not None:
        return (function, loop) if region_around(function, loop) is region else None
    if region.directive.words != ("parallel",):
        return None
    inside = ((one, loop) for one in sharing_functions(program, region.body) for loop, _ in loops(one.body))
    return next(inside, None)


def _apply_unthread(prepared: Prepared, symbol: Symbol, place: tuple[Function, Loop], span: Span) -> Prepared:
    """Return `prepared` with one thread in the region of function `symbol` whose text stands at `span`; the step names
    it by the loop at `place`."""
    from warpsmith.loops.steps.order.unthread import Unthread

    facts, (function, loop) = prepared.facts, place
    unit = next(u for u, f in facts.program.functions() if f is function)
    name = loop_names(function)[loop]
    shared = sum(f.symbol.name == function.symbol.name for _, f in facts.program.functions()) > 1
    step = Unthread(f"{unit.file.path}:{name}" if shared else name)
    try:
        found = LoopContext.of(facts.program, step.loop).loop
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return prepared
    if found is not loop or not isinstance(verdict, Proved):
        return prepared
    after = facts.after(rewrite_program(step, facts.program))
    return msgspec.structs.replace(
        prepared, facts=after, applied=(*prepared.applied, Applied(step, verdict, symbol, span))
    )


def _function(prepared: Prepared, symbol: Symbol) -> Function:
    return next(function for _, function in prepared.program.functions() if function.symbol == symbol)


def _meets(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end
