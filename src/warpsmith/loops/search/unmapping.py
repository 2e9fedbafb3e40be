"""Data directives before the search: they go where host and device always see the same, so that the port's own data
regions can take their place.

Invariant: the step was Proved on the program that it is applied to. Functions with text inside `left` stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.step import check_step, rewrite_program
from warpsmith.poly.mapped.judge import mapped_functions
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops

__all__ = ["unmap_functions"]


def unmap_functions(prepared: Prepared, selected: Sequence[Span] | None) -> Prepared:
    """Return `prepared` without data directives in every function that has one of the `selected` loops (None: any
    loop), where one copy of the data does."""
    for symbol in sorted(mapped_functions(prepared.program), key=lambda s: s.key):
        if symbol in mapped_functions(prepared.program):
            prepared = _apply_unmap(prepared, symbol, selected)
    return prepared


def _apply_unmap(prepared: Prepared, symbol: Symbol, selected: Sequence[Span] | None) -> Prepared:
    # steps are loaded where one may be tried
    from warpsmith.loops.steps.data.unmap import Unmap

    facts = prepared.facts
    unit, function = next((u, f) for u, f in facts.program.functions() if f.symbol == symbol)
    loop = next((loop for loop, _ in loops(function.body)), None)
    if loop is None or (selected is not None and not any(_meets(s, function.span) for s in selected)):
        return prepared
    name = loop_names(function)[loop]
    shared = sum(f.symbol.name == symbol.name for _, f in facts.program.functions()) > 1
    step = Unmap(f"{unit.file.path}:{name}" if shared else name)
    try:
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return prepared
    if not isinstance(verdict, Proved):
        return prepared
    after = facts.after(rewrite_program(step, facts.program))
    applied = Applied(step, verdict, symbol, loop.span)
    return msgspec.structs.replace(prepared, facts=after, applied=(*prepared.applied, applied))


def _meets(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end
