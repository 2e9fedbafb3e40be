"""Steps on the loops of one nest, which is known by the span of its text whatever steps make of it.

    nest  for (t …) { for (i …) … }     where  (span of the nest, header of a loop in it)

Where a test chooses between two loops of one text, the first is the one that steps go on with.
"""

from __future__ import annotations

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_left
from warpsmith.base.verdict import Proved
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.search.cost import Cost, cost_of
from warpsmith.loops.step import Step, check_step, rewrite_program
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Function, Loop, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops

__all__ = [
    "Where", "apply_step", "find_function", "find_loop", "find_loops", "first_run", "is_within", "loop_address",
    "nest_cost",
]  # fmt: skip

Where = tuple[Span, Span]
"""A nest, and the header of a loop in it."""


def find_loop(prepared: Prepared, function: Symbol, where: Where) -> Loop:
    """Return the loop as it is now."""
    return next(loop for loop in find_loops(prepared.facts, function, where[0]) if loop.header == where[1])


def find_loops(facts: Facts, function: Symbol, nest: Span) -> list[Loop]:
    """Return the loops with text of the nest, the outermost first."""
    return [loop for loop, _ in loops(find_function(facts, function).body) if is_within(loop.span, nest)]


def first_run(facts: Facts, function: Symbol, nest: Span) -> tuple[Stmt, ...]:
    """Return the nest as it is now."""
    found = (loop for loop, _ in loops(find_function(facts, function).body) if loop.span == nest)
    return tuple(found)[:1]


def nest_cost(facts: Facts, function: Symbol, nest: Span) -> Cost:
    """Return what the nest costs as it is now."""
    return cost_of(facts, find_function(facts, function), first_run(facts, function, nest))


def find_function(facts: Facts, symbol: Symbol) -> Function:
    """Return the function as it is now."""
    return next(function for _, function in facts.program.functions() if function.symbol == symbol)


def is_within(inner: Span, outer: Span) -> bool:
    """Whether a text is part of another."""
    return inner.file is outer.file and outer.start <= inner.start and inner.end <= outer.end


def loop_address(facts: Facts, function: Symbol, loop: Loop) -> str:
    """Return how a step names the loop."""
    unit, holder = next((u, f) for u, f in facts.program.functions() if f.symbol == function)
    name = loop_names(holder)[loop]
    shared = sum(f.symbol.name == function.name for _, f in facts.program.functions()) > 1
    return f"{unit.file.path}:{name}" if shared else name


def apply_step(prepared: Prepared, function: Symbol, loop: Loop, step: Step) -> Prepared:
    """Return `prepared` after a step on the loop; as it is where that is not Proved."""
    facts = prepared.facts
    if not time_left():
        return prepared
    try:
        place = LoopContext.of(facts.program, str(getattr(step, "loop", "")))
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return prepared
    if place.loop is not loop or not isinstance(verdict, Proved):
        return prepared
    applied = Applied(step, verdict, function, loop.span)
    after = facts.after(rewrite_program(step, facts.program))
    _set_aside(facts, after, function)
    return msgspec.structs.replace(prepared, facts=after, applied=(*prepared.applied, applied))


def _set_aside(old: Facts, new: Facts, symbol: Symbol) -> None:
    """Keep what nothing is known of as that, where it stands once more for when a test fails."""
    function = find_function(new, symbol)
    copies = fallback_loops(function)
    again = [loop for loop, _ in loops(function.body) if id(loop) in copies and not new.has_judged(loop)]
    if again:
        spans = {loop.span for loop in again}
        written = find_function(old, symbol)
        before = [old.of(written).of(loop) for loop, _ in loops(written.body) if loop.span in spans]
        known = {f.loop.span: f.reasons[0] for f in before if f.category == "unanalyzable"}
        new.set_aside(function, {id(loop): known[loop.span] for loop in again if loop.span in known})
