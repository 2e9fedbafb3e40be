"""Which step, if any, makes a loop parallel that is not: every one that might is tried, none is guessed.

    for (i) { a[i] = a[i - 1]; b[i] = c[i]; }      distribute: the second of two loops is parallel
    for (i) a[i] = a[i - 1];                       no step: what was tried is named

Invariant: a step is named only where its check was Proved on the program and the rewritten loops were judged.
Limits: one step at a time; sequences are what the search (search.py) looks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown
from warpsmith.loops.remedies.model import ApplySteps, StepTrial
from warpsmith.loops.scratch import scratch_names
from warpsmith.loops.search.candidates import candidates, countings, reorderings
from warpsmith.loops.search.cost import cost_of, is_parallel
from warpsmith.loops.step import Step, check_step, rewrite_program, step_text
from warpsmith.loops.steps.data.hoist_allocation import HoistAllocation
from warpsmith.loops.steps.order.reschedule import Reschedule
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.tree.nodes import For, While
from warpsmith.tree.types import Symbol

__all__ = ["allocation_refusals", "count_refusal", "step_trial"]

Key = tuple[Span, str]


def step_trial(facts: Facts, loop: For) -> StepTrial:
    """Return what the steps that might help do for a loop of the program that is not parallel."""
    known = facts.loop(loop)
    brief = facts.briefly()
    before = _parallel(brief.of(known.function), loop.span)
    tried: dict[str, None] = {}
    for step in _steps(brief, known, loop):
        tried[step.name] = None
        after = _after(brief, step)
        if after is None:
            continue
        made = [f for f in _inside(_function(after, known.function.symbol), loop.span) if is_parallel(f)]
        if not {_key(f) for f in made} - before:
            continue
        own = [f for f in _inside(_function(after, known.function.symbol), loop.span) if _key(f) == _key(known)]
        return StepTrial(ApplySteps((step_text(step),), _gain(step, own)), tuple(tried))
    return StepTrial(None, tuple(tried))


def count_refusal(facts: Facts, loop: While) -> Reason | None:
    """Return why the step that comes closest cannot count the iterations of a loop; None where one can."""
    known = facts.loop(loop)
    for step in countings(facts, known.function, loop):
        try:
            verdict = check_step(step, facts.program, facts)
        except RefusedError:
            return None
        if not isinstance(verdict, Unknown):
            return None
        first = verdict.reasons[0]
        return Reason(first.rule, f"{step.name} cannot count its iterations: {first.text}", first.span)
    return None


def allocation_refusals(facts: Facts, loop: For) -> tuple[Reason, ...]:
    """Return why memory that the iterations of a loop allocate for themselves cannot be allocated before it."""
    found: list[Reason] = []
    for name in scratch_names(loop):
        try:
            verdict = check_step(HoistAllocation(facts.loop(loop).id, name), facts.program, facts)
        except RefusedError:
            continue
        if isinstance(verdict, Unknown):
            first = verdict.reasons[0]
            found.append(Reason(first.rule, f"the memory of {name} stays where it is: {first.text}", first.span))
    return tuple(found)


def _gain(step: Step, own: list[LoopFacts]) -> str:
    """Say what became of the loop's pieces."""
    if own and all(is_parallel(f) for f in own):
        ordered = isinstance(step, Wavefront | Reschedule)
        return "gives an order in which it is parallel" if ordered else "makes it parallel"
    return f"makes a {'part of it' if any(map(is_parallel, own)) else 'loop of the nest'} parallel"


def _steps(facts: Facts, known: LoopFacts, loop: For) -> Iterator[Step]:
    """Yield what is worth a check, the cheap steps first."""
    yield from candidates(facts, known.function, loop, cost_of(facts, known.function, (loop,)))
    yield from reorderings(facts, known.function, loop)


def _after(facts: Facts, step: Step) -> Facts | None:
    """Return the program after `step`, where that is Proved."""
    try:
        verdict = check_step(step, facts.program, facts)
    except RefusedError:
        return None
    return facts.after(rewrite_program(step, facts.program)) if isinstance(verdict, Proved) else None


def _function(facts: Facts, symbol: Symbol) -> FunctionFacts:
    return facts.of(next(function for _, function in facts.program.functions() if function.symbol == symbol))


def _inside(facts: FunctionFacts, span: Span) -> list[LoopFacts]:
    """Return the loops that stand in the user's text at `span`, or were made for it."""
    return [
        f
        for f in facts.loops
        if f.loop.span.file is span.file and span.start <= f.loop.span.start and f.loop.span.end <= span.end
    ]


def _parallel(facts: FunctionFacts, span: Span) -> set[Key]:
    return {_key(f) for f in _inside(facts, span) if is_parallel(f)}


def _key(facts: LoopFacts) -> Key:
    return facts.loop.header, facts.loop.variable.name if isinstance(facts.loop, For) else ""
