"""Whether an element of an array is touched in one way only while statements run.

    for (k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];       A[i][j] alone: k < j tells A[i][k] apart; A[j][k] is it where i = j

Given are references that name one element, at an address that the run does not move. Every other access of the run
that may touch it, in any iteration, at the same iteration of the loops around the run, is an answer against it; so is a
name that may be the same memory. Two reads do not disturb one another.

Invariant: Proved only if, whenever the run is executed, no other access of it reads or writes the element (writes it,
where the given references only read), under the assumptions of the answer.
Limits: what calls do to the element, and text that is not modelled, is for whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.dependences.dependences import Conflict, Reference, describe, overlap
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import elements
from warpsmith.tree.nodes import Expr, For, Loop, Stmt
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import loop_names, loops, peel, root_symbol

__all__ = ["AloneQuestion", "is_alone"]

# pairs of references that are compared; each takes isl about a millisecond
_MOST_PAIRS = 400


class AloneQuestion(Struct, frozen=True):
    """`nodes`: the references in `run` (consecutive statements of one block) that name one element. `around`: the loops
    around the run. `allowed`: what is tested where `outer`, a run with `run` in it, is entered: it may be assumed
    (`outer` may be the run itself). `options`: what is granted, and the work budget."""

    origin: Origin
    run: tuple[Stmt, ...]
    nodes: tuple[Expr, ...]
    around: tuple[Loop, ...]
    options: PolyOptions
    outer: tuple[Stmt, ...] = ()
    allowed: tuple[Assumption, ...] = ()


def is_alone(question: AloneQuestion) -> Verdict:
    """Say whether nothing else in the run touches the element."""
    options = question.options
    try:
        with budget(options.loop_operations):
            best = _attempt(question, guards=False)
            if isinstance(best, Unknown) and question.allowed:
                again = _attempt(question, guards=True)
                best = again if isinstance(again, Proved) else best
            return best
    except OutOfBudgetError:
        text = f"whether anything else touches {_shown(question)} could not be worked out within the work budget"
        return Unknown((Reason("STP001", text, question.nodes[0].span),))


def _attempt(question: AloneQuestion, *, guards: bool) -> Verdict:
    origin, options = question.origin, question.options
    region, state = build_region(origin, question.run, question.around, guards=guards, granted=options.granted)
    doubt = _find_doubt(question, region, state)
    if doubt is not None:
        return Unknown((doubt,))
    own = {id(peel(node)) for node in question.nodes}
    found = [(s, a) for s in region.statements for a in s.accesses if not _is_of_pointer(a)]
    mine = [(s, a) for s, a in found if id(peel(a.expr)) in own]
    if {id(peel(a.expr)) for _, a in mine} != own or len({(a.base, a.place) for _, a in mine}) != 1:
        return _unknown(question, f"the accesses of {_shown(question)} are not understood")
    base = mine[0][1].base
    group = [(s, a) for s, a in found if a.base == base]
    vague = next((a for _, a in group if not a.known or a.place != mine[0][1].place), None)
    if vague is not None:
        shown = show_expression(vague.expr)
        return _unknown(question, f"{shown} may touch any part of {base.name}, so {_shown(question)} too", vague)
    verdict = _compare(question, region, state, group, own)
    if verdict is not None:
        return verdict
    # what reading the subscripts has assumed is in the state
    assumed = tuple(dict.fromkeys((*region.assumptions, *state.assumptions)))
    return _judge_names(question, region, base, assumed, guards=guards)


def _find_doubt(question: AloneQuestion, region: Region, state: State) -> Reason | None:
    """Return why the model of the run cannot be asked at all."""
    if region.broken:
        loop, text = next(iter(region.broken.items()))
        return Reason("POR008", text, loop.header, legal_if=("use a wider or signed counter",))
    if state.lost:
        return Reason("POR005", state.lost_words, state.lost[0].span)
    return None


def _is_of_pointer(access: Access) -> bool:
    """Whether an access is to a pointer variable itself, and not to what it points to."""
    return isinstance(access.base.type, Pointer) and access.known and not access.path and not access.place


def _compare(
    question: AloneQuestion,
    region: Region,
    state: State,
    group: list[tuple[Statement, Access]],
    own: set[int],
) -> Verdict | None:
    """Return what another reference to the same array has against it; None where there is none."""
    seen = elements(state, group)
    references = [Reference(s, a, e) for (s, a), e in zip(group, seen, strict=True)]
    mine = [r for r in references if id(peel(r.access.expr)) in own]
    others = [r for r in references if id(peel(r.access.expr)) not in own]
    pairs = [(m, o) for m in mine for o in others if m.access.write or o.access.write]
    if len(pairs) > _MOST_PAIRS:
        raise OutOfBudgetError(f"{len(pairs)} pairs of accesses would have to be compared")
    doubts: list[Reason] = []
    for one, other in pairs:
        found = overlap(state, one, other)
        if found is None:
            continue
        reason = _explain(question, region, state, (found, other))
        if reason.dependence is not None and region.reached:
            return Refuted((reason,))
        doubts.append(reason)
    return Unknown(tuple(dict.fromkeys(doubts))[:2]) if doubts else None


def _explain(question: AloneQuestion, region: Region, state: State, met: tuple[Conflict, Reference]) -> Reason:
    conflict, other = met
    loop_ids = {loop: text for loop, text in loop_names(question.origin.function).items() if isinstance(loop, For)}
    dependence = describe(state, region, conflict, loop_ids)
    does = "writes" if other.access.write else "reads"
    text = f"{show_expression(other.access.expr)} {'' if dependence is not None else 'perhaps '}{does} what "
    return Reason("STP001", f"{text}{_shown(question)} is, in the same run", other.access.expr.span, dependence)


def _judge_names(
    question: AloneQuestion, region: Region, base: Symbol, assumed: tuple[Assumption, ...], *, guards: bool
) -> Verdict:
    """Say whether no other name leads to the element."""
    mine = {base, *(root for node in question.nodes if (root := root_symbol(node)) is not None)}
    run = question.outer or question.run
    whole = region
    if question.outer:
        whole, _ = build_region(
            question.origin, run, _around(question), guards=guards, granted=question.options.granted
        )
    needed, doubts = overlaps(
        question.origin, run, whole, question.options, guards=guards, among=lambda a, b: a in mine or b in mine
    )
    if doubts:
        return Unknown(doubts[:2])
    # what the whole of the outer run assumes of other things is no concern of the element
    names = [a for a in needed if a not in whole.assumptions] if question.outer else [*needed]
    used = tuple(dict.fromkeys((*assumed, *names)))
    return Unknown(tuple(_untested(question, used))) if any(_untested(question, used)) else Proved(used)


def _untested(question: AloneQuestion, used: tuple[Assumption, ...]) -> Iterator[Reason]:
    """Yield a reason for each condition that nobody tests."""
    for assumption in used:
        if assumption.kind == "guarded" and assumption not in question.allowed:
            text = f"{_shown(question)} has a variable of its own only {assumption.text}, which is not tested"
            yield Reason("STP001", text, question.nodes[0].span)


def _around(question: AloneQuestion) -> tuple[Loop, ...]:
    """Return the loops around the outer run."""
    below = {loop for stmt in question.outer for loop, _ in loops(stmt)}
    return tuple(loop for loop in question.around if loop not in below)


def _unknown(question: AloneQuestion, text: str, about: Access | None = None) -> Unknown:
    node = question.nodes[0] if about is None else about.expr
    return Unknown((Reason("STP001", text, node.span),))


def _shown(question: AloneQuestion) -> str:
    return show_expression(question.nodes[0])
