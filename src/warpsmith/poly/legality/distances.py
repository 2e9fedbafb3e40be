"""Whether each element that references read is written at a known distance from where they read it, or not at all.

    for (i …) for (j …) B[i][j] = A[i-1][j] + A[i][j+1];       what (i, j) reads of A is written at (i-1, j), (i, j+1)
    for (i …) for (j …) A[i][j] = B[i][j];

Invariant: None only if, whenever the run is executed, an iteration of the reading statement and one of the writing
statement that touch one element are exactly the distance of the reference apart, under what is given.
Limits: statements with as many loops, all of them counted as distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.dependences import Reference, access_map, common_steps
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.formula import both, equal
from warpsmith.poly.isl.polynomial import atom, constant
from warpsmith.poly.isl.space import OutOfBudgetError, budget, make_set, point
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import elements
from warpsmith.tree.nodes import Expr, Loop, Stmt
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import peel

__all__ = ["DistanceQuestion", "find_other_distance"]


class DistanceQuestion(Struct, frozen=True):
    """`written`: the one reference in `run` that writes the array. `read`: all that read it, by their identities, with
    how far the iteration that writes the element lies from the one that reads it, along each loop of the statements."""

    origin: Origin
    run: tuple[Stmt, ...]
    around: tuple[Loop, ...]
    written: Expr
    read: Mapping[int, tuple[int, ...]]
    options: PolyOptions
    given: tuple[Assumption, ...] = ()


def find_other_distance(question: DistanceQuestion) -> Reason | None:
    """Return a pair of iterations that touch one element at another distance, or why there may be one."""
    try:
        with budget(question.options.loop_operations):
            return _find(question)
    except OutOfBudgetError:
        return _doubt(question, "could not be worked out within the work budget")


def _find(question: DistanceQuestion) -> Reason | None:
    granted = question.options.granted
    region, state = build_region(question.origin, question.run, question.around, guards=False, granted=granted)
    state.take(question.given)
    if state.lost or region.broken:
        return _doubt(question, "is not understood")
    own = id(peel(question.written))
    found = [(s, a) for s in region.statements for a in s.accesses]
    bases = {a.base for _, a in found if id(peel(a.expr)) == own}
    group = [(s, a) for s, a in found if a.base in bases and (a.path or not a.known)]
    seen = [Reference(s, a, e) for (s, a), e in zip(group, elements(state, group), strict=True)]
    writing = [one for one in seen if one.access.write]
    if len(bases) != 1 or [id(peel(one.access.expr)) for one in writing] != [own]:
        return _doubt(question, "is written elsewhere as well")
    reading = [one for one in seen if not one.access.write]
    if {id(peel(one.access.expr)) for one in reading} != question.read.keys():
        return _doubt(question, "is read elsewhere as well")
    reasons = (_compare(question, state, writing[0], one) for one in reading)
    return next((reason for reason in reasons if reason is not None), None)


def _compare(question: DistanceQuestion, state: State, writing: Reference, reading: Reference) -> Reason | None:
    """Return a pair of iterations at another distance than that of a reference."""
    shared = common_steps(writing.element, reading.element)
    wanted = question.read[id(peel(reading.access.expr))]
    if shared is None or not shared[1]:
        return _doubt(question, "may be any element of the array")
    counters = reading.statement.counters
    if len(counters) != len(wanted) or len(writing.statement.counters) != len(wanted):
        return _doubt(question, "is in other loops than what writes it")
    length = shared[0]
    relation = access_map(state, reading, length).apply_range(access_map(state, writing, length).reverse())
    there = make_set(
        state.vocabulary,
        counters,
        both(equal(atom(name), constant(number)) for name, number in zip(counters, wanted, strict=True)),
    )
    wrong = relation.deltas().subtract(there)
    found = point(wrong)
    if found is None:
        return None
    names = [state.vocabulary[name].text for name in counters]
    distance = _show(names, found[1])
    shown = show_expression(reading.access.expr)
    sizes = [f"{state.vocabulary[name].text} = {value}" for name, value in found[0].items() if name in _known(state)]
    text = f"what {shown} reads is written at a distance of {distance}, not only of {_show(names, wanted)}"
    text += f" ({', '.join(sizes)})" if sizes else ""
    return Reason("STP001", text, reading.access.expr.span)


def _known(state: State) -> frozenset[str]:
    return frozenset(name for name, one in state.vocabulary.atoms.items() if one.kind == "parameter")


def _show(names: Sequence[str], numbers: Sequence[int]) -> str:
    return ", ".join(f"{number} along {name}" for name, number in zip(names, numbers, strict=True))


def _doubt(question: DistanceQuestion, text: str) -> Reason:
    shown = show_expression(question.written)
    return Reason("STP001", f"{shown} {text}", question.written.span)
