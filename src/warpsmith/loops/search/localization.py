"""Localization of whole programs, before the search: what comes from memory becomes a variable where that helps.

    for (t …) {                            double *u = s->u, *v = s->v;      outermost loops first, so that all kernels
        for (i …) s->v[i] = f(s->u[i]);    for (t …) {                       of a nest speak of the same variables
        for (i …) s->u[i] = s->v[i];           for (i …) v[i] = f(u[i]); …

Invariant: every step was Proved on the program that it is applied to. A nest stays as it is where its loops would not
run on a device with the variables either, and where a share of time is up before that is known.
"""

from __future__ import annotations

from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_left
from warpsmith.loops.analysis.row_allocations import exchanges_rows, has_separate_rows
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.cost import kernel_loops
from warpsmith.loops.search.localizable import (
    find_all_followed,
    is_run_by_threads,
    mixes_rows,
    moves_through_vectors,
    reads_bounds_or_bases,
    row_pointers,
    starts_threads,
)
from warpsmith.loops.search.nest_steps import (
    Where,
    apply_step,
    find_function,
    find_loop,
    find_loops,
    first_run,
    is_within,
    loop_address,
    nest_cost,
)
from warpsmith.loops.search.promotion import promote_nest
from warpsmith.loops.steps.data.flatten import Flatten
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.loops.steps.data.row_starts import RowStarts
from warpsmith.loops.steps.data.vector_rows import VectorRows
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.poly.analyze import Facts
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["localize_nests"]

# of so many functions the bodies are tried
_MOST_BODIES = 8


def localize_nests(prepared: Prepared, function: Symbol, nests: tuple[Span, ...]) -> Prepared:
    """Return `prepared` with what the nests at these spans find in memory in variables, where that helps."""
    for nest in nests:
        found = _nest(prepared, function, nest) if time_left() else None
        if found is not None and _has_bodies(prepared, found) and time_left():
            plain = _nest(prepared, function, nest, bodies=False)
            found = found if plain is None or _gains_by_bodies(plain, found, function, nest) else plain
        start = prepared
        if found is not None and time_left() and _helps(prepared, found, function, nest):
            prepared = found
        prepared = promote_nest(prepared, function, nest)
        if found is not None and prepared is start:
            # what is read through variables is told from what is summed up
            prepared = promote_nest(start, function, nest, localized=found)
    return prepared


def _nest(prepared: Prepared, function: Symbol, nest: Span, *, bodies: bool = True) -> Prepared | None:
    """Return `prepared` with the nest localized, from its outermost loop inwards; None where there is nothing to do.
    `bodies`: those of functions that it calls may be written in."""
    before = prepared
    found = find_loops(prepared.facts, function, nest)
    for header in [loop.header for loop in found if not is_run_by_threads(loop, found[0])]:
        where = nest, header
        prepared = _with_bodies(prepared, function, where) if bodies else prepared
        prepared = _with_rows(prepared, function, where)
        if mixes_rows(find_loop(prepared, function, where)):
            # a row of its own beside rows of the same array would have to be none of them
            prepared = _with_blocks(prepared, function, where)
        prepared = _with_variables(prepared, function, where)
        blocks = _with_blocks(prepared, function, where)
        # a store through a row may have been all that blocked it of other variables
        prepared = prepared if blocks is prepared else _with_variables(blocks, function, where)
    return None if prepared is before else prepared


def _with_rows(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with the elements of vectors in an array behind pointers to them."""
    loop = find_loop(prepared, function, where)
    if not moves_through_vectors(loop):
        return prepared
    return apply_step(prepared, function, loop, VectorRows(loop_address(prepared.facts, function, loop)))


def _with_variables(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with what a loop reads from memory, and does not change, in variables."""
    loop = find_loop(prepared, function, where)
    if not reads_bounds_or_bases(loop, find_loops(prepared.facts, function, where[0])[0]):
        return prepared
    address = loop_address(prepared.facts, function, loop)
    return apply_step(prepared, function, loop, Localize(address, guards=prepared.facts.options.guards))


def _with_blocks(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with the rows behind pointers to pointers as blocks."""
    loop = find_loop(prepared, function, where)
    rows = row_pointers(loop)
    if not rows or starts_threads(loop):
        return prepared
    address = loop_address(prepared.facts, function, loop)
    steps: list[Flatten | RowStarts] = [Flatten(address), RowStarts(address)]
    known = prepared.facts.summaries
    if any(has_separate_rows(known, row) or exchanges_rows(known, row) for row in rows):
        # evenly spaced rows are then a matter of luck
        steps.reverse()
    made = (apply_step(prepared, function, loop, step) for step in steps)
    return next((found for found in made if found is not prepared), prepared)


def _with_bodies(prepared: Prepared, function: Symbol, where: Where) -> Prepared:
    """Return `prepared` with the bodies of the functions that the loop calls with a way to pointers in memory: a kernel
    cannot follow these, and what the functions read there is known where it is seen."""
    tried: set[str] = set()
    while True:
        loop = find_loop(prepared, function, where)
        names_of = sorted(find_all_followed(loop) - tried)
        if not names_of or len(tried) > _MOST_BODIES:
            return prepared
        tried.add(names_of[0])
        prepared = apply_step(
            prepared, function, loop, Inline(loop_address(prepared.facts, function, loop), names_of[0])
        )


def _helps(old: Prepared, new: Prepared, function: Symbol, nest: Span) -> bool:
    """Whether something of the nest runs on a device now, and its loops are understood as well as they were."""
    if not _pays_for_bodies(old, new, function, nest):
        return False
    first, second = nest_cost(old.facts, function, nest), nest_cost(new.facts, function, nest)
    if second.kernels and not first < second:
        return True
    return second.kernels >= first.kernels and _opaque(new.facts, function, nest) < _opaque(old.facts, function, nest)


def _has_bodies(old: Prepared, new: Prepared) -> bool:
    """Whether the bodies of functions were written in."""
    return any(isinstance(a.step, Inline) for a in new.applied[len(old.applied) :])


def _gains_by_bodies(plain: Prepared, found: Prepared, function: Symbol, nest: Span) -> bool:
    """Whether some loop is a kernel only where the bodies of functions are written in: one has such a body in it, or is
    none without, neither in the nest nor in the function that it comes from."""
    without, within = (
        kernel_loops(one.facts, find_function(one.facts, function), first_run(one.facts, function, nest))
        for one in (plain, found)
    )
    if any(
        is_within(loop.span, nest) and not all(is_within(part.span, nest) for part in walk(loop)) for loop in within
    ):
        return True
    known = {loop.span for loop in without}
    return any(loop.span not in known and not _is_kernel_at_home(plain.facts, loop.span) for loop in within)


def _pays_for_bodies(old: Prepared, new: Prepared, function: Symbol, nest: Span) -> bool:
    """Whether nothing was inlined, or not for loops alone that are kernels in the function that they come from."""
    if not _has_bodies(old, new):
        return True
    kernels = kernel_loops(new.facts, find_function(new.facts, function), first_run(new.facts, function, nest))
    return any(is_within(loop.span, nest) or not _is_kernel_at_home(old.facts, loop.span) for loop in kernels)


def _is_kernel_at_home(facts: Facts, loop: Span) -> bool:
    """Whether a loop with this text would be a kernel of the function that its text stands in."""
    for _, function in facts.program.functions():
        if is_within(loop, function.span):
            return any(found.span == loop for found in kernel_loops(facts, function, (function.body,)))
    return False


def _opaque(facts: Facts, function: Symbol, nest: Span) -> int:
    """Return the number of loops of the nest about which nothing is known."""
    known = facts.of(find_function(facts, function))
    first = {loop.span: loop for loop in reversed(find_loops(facts, function, nest))}
    return sum(known.of(loop).category == "unanalyzable" for loop in first.values())
