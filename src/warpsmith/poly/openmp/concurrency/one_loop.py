"""Whether one thread alone does what the threads of a `parallel for` do.

    #pragma omp parallel for private(t)        one thread: the iterations in their order, all with one t
    for (i …) { t = a[i]; b[i] = t * t; }

Invariant: where nothing stands in the way, the loop without its pragma leaves what a team of one thread leaves, which
OpenMP allows. What a thread's own variables hold is gone behind the loop there, so that nothing may read it; a sum is
combined with the old value there, so that the loop may only add to it.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.verdict import Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, regions_of, threadprivate
from warpsmith.poly.dependences.scalars import classify_scalars
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.legality.privacy import read_after
from warpsmith.poly.openmp.thread_numbers import TIMES
from warpsmith.tree.nodes import For, Function, Node, Pragma, Verbatim
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["loop_in_the_way", "shared_loop"]

_LOOPS: Final = (("parallel", "for"), ("parallel", "for", "simd"))
_CLAUSES: Final = frozenset({
    "private", "firstprivate", "lastprivate", "shared", "default", "reduction", "num_threads", "proc_bind", "if",
    "schedule", "collapse", "safelen", "simdlen", "aligned",
})  # fmt: skip
_LISTS: Final = frozenset({"private", "firstprivate", "lastprivate", "shared", "reduction", "aligned"})
# a call, a step or an assignment in a clause's expression
_EFFECT: Final = re.compile(r"\w\s*\(|\+\+|--|(?<![=!<>])=(?!=)")
_INSIDE: Final = frozenset({"simd", "critical", "atomic", "flush"})


def shared_loop(function: Function, loop: Node) -> ParallelRegion | None:
    """Return the `parallel for` that a loop itself is."""
    found = (region for region in regions_of(function) if region.body is loop)
    return next((r for r in found if r.directive.family == "omp" and r.directive.words in _LOOPS), None)


def loop_in_the_way(facts: Facts, function: Function, region: ParallelRegion) -> Reason | None:
    """Return why one thread may not run such a loop in place of many, or None."""
    directive, loop = region.directive, region.body
    unknown = next((c.name or c.text for c in directive.clauses if c.name not in _CLAUSES), None)
    if unknown is not None or not isinstance(loop, For):
        text = f"what '{unknown}' says is not known" if unknown is not None else "what stands behind it is no loop"
        return Reason("POR008", text, region.pragma.span)
    bound = next((part for part in walk(loop) if isinstance(part, Pragma) and not _stands_alone(part)), None)
    if bound is not None:
        return Reason("POR008", "what belongs to the threads' loop stands in it", bound.span)
    jump = next((part for part in walk(loop) if isinstance(part, Verbatim) and part.control), None)
    if jump is not None:
        return Reason("POR008", "a jump out of a parallel region", jump.span)
    effect = next((c for c in directive.clauses if c.name not in _LISTS and _EFFECT.search(c.argument)), None)
    if effect is not None:
        return Reason("POR008", f"'{effect.text}' may do something", region.pragma.span)
    return (
        _asks_for_threads(facts.program, loop)
        or _outlives(facts, function, region)
        or _is_more_than_a_sum(facts, function, region)
    )


def _stands_alone(pragma: Pragma) -> bool:
    """Whether a pragma in the loop says the same where no threads share the loop."""
    directive = pragma.directive
    if directive is None or directive.family != "omp":
        return True
    return directive.starts_threads or directive.words[:1] in {(word,) for word in _INSIDE}


def _asks_for_threads(program: Program, loop: For) -> Reason | None:
    """Return what in the loop, or in what it may call, depends on which thread runs it."""
    defined = {f.symbol: f for _, f in program.functions()}
    own = threadprivate(program)
    pending: list[Node] = [loop]
    seen: set[Symbol] = set()
    while pending:
        for name in names(pending.pop()):
            symbol = name.symbol
            if symbol.name.startswith("omp_") and symbol.storage == "function" and symbol.name not in TIMES:
                return Reason("POR008", f"{symbol.name} tells how many threads there are, or which", name.span)
            if symbol in own:
                return Reason("POR008", f"each thread has a {symbol.name} of its own (threadprivate)", name.span)
            if symbol in defined and symbol not in seen:
                seen.add(symbol)
                pending.append(defined[symbol].body)
    return None


def _outlives(facts: Facts, function: Function, region: ParallelRegion) -> Reason | None:
    """Return a thread's own variable that is read behind the loop, where it has its old value."""
    loop = region.body
    assert isinstance(loop, For), "checked"
    listed = {*region.directive.list_variables("private", "firstprivate")}
    kept = {*region.directive.list_variables("lastprivate")}
    done = effects(facts.program, loop, function, facts.summaries)
    live = facts.liveness(function).after[loop]
    own = {symbol for symbol in done.writes | {n.symbol for n in names(loop)} if symbol.name in listed}
    # the counters are each thread's own, whether they are listed or not: of which loops, `collapse` says
    shared = (
        part for part in walk(loop) if isinstance(part, For) and (part is loop or region.directive.has("collapse"))
    )
    own |= {part.variable for part in shared if not part.declares and part.variable.name not in kept}
    for symbol in sorted(own, key=lambda s: s.key):
        if symbol.storage not in ("local", "parameter"):
            return Reason("POR008", f"{symbol.name} is private here and known everywhere", region.pragma.span)
        changed = symbol in done.writes or symbol == loop.variable
        if changed and (
            read_after(facts, function, loop, symbol) if isinstance(symbol.type, Array) else symbol in live
        ):
            text = f"{symbol.name} is private to the threads, and read after the loop, where it has its old value"
            return Reason("POR008", text, region.pragma.span, legal_if=(f"another variable in place of {symbol.name}",))
    return None


def _is_more_than_a_sum(facts: Facts, function: Function, region: ParallelRegion) -> Reason | None:
    """Return a variable of a reduction clause with which the loop does something else than to add to it so."""
    loop = region.body
    assert isinstance(loop, For), "checked"
    roles = classify_scalars(facts.program, function, loop, facts.liveness(function), facts.summaries)
    sums = {(found.variable.name, found.op) for found in roles.reductions}
    for clause in region.directive.clauses:
        for listed in clause.variables if clause.name == "reduction" else ():
            if (listed.name, clause.operator) not in sums:
                text = (
                    f"{listed.name} is combined by {clause.operator}, and the loop does not update it in that way alone"
                )
                return Reason("POR008", text, region.pragma.span)
    return None
