"""`nowait`: do threads that have gone on meet those that still run the loop?

    #pragma omp for nowait
    for (i …) a[i] = …;          a thread that is through goes on at once …
    #pragma omp for
    for (j …) b[j] = a[j + 1];   … and reads an element that another one has not written yet

Everything behind the loop up to where all threads certainly wait is looked at, the next rounds of loops around it too
(phases.py). What a loop reduces is added up until all have left it. Between the loops of `distribute` nobody waits.
Invariant: what is called wrong are two instances that certainly run and touch one element, on different threads for
some number of threads; where nothing is called wrong or in doubt, there are no two such instances.
Limits: what the callers of a function do behind it, where the region is theirs, is always in doubt.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from warpsmith.base.verdict import Dependence, Reason
from warpsmith.poly.dependences.dependences import Reference, describe
from warpsmith.poly.openmp.concurrency.concurrent import Asked, PhaseModel, PossibleRace, find_phases, is_between_teams
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol

__all__ = ["Answer", "find_overtaken"]

_WITNESS = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\([^)]*\) (?P<first>\w+) (?P<element>.+), \w+\([^)]*\) (?P<second>\w+) it"
)
_REMEDY = "remove nowait, or add a barrier"


class Answer(Struct):
    """What is certainly wrong, what is in doubt, and what was assumed so that the rest is neither."""

    wrong: list[Reason] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)


def find_overtaken(asked: Asked) -> Answer:
    """Return what races with the loop because its threads do not wait. Raises OutOfBudgetError."""
    answer = Answer()
    if not _goes_on(asked):
        return answer
    found, left = find_phases(asked, forward=True)
    if left:
        text = f"the threads leave {asked.function.symbol.name} without waiting, and what they do then is not seen"
        answer.doubts.append(Reason("CLM002", text, asked.claim.span, legal_if=(_REMEDY,)))
    reported: set[Symbol] = set()
    for phase in found:
        around = PhaseModel.of(asked, phase, forward=True)
        answer.assumptions += around.assumptions
        answer.doubts += around.doubts
        _unfinished(answer, around)
        for meeting in around.meetings():
            base = meeting.loop_side.access.base
            if base in reported:
                continue
            wrong = _wrong(around, meeting) if meeting.conflict is not None else None
            if wrong is not None:
                reported.add(base)
                answer.wrong.append(wrong)
            else:
                answer.doubts.append(_doubt(asked, meeting))
    return answer


def _goes_on(asked: Asked) -> bool:
    """Whether threads leave the loop before others have: those of other teams always do."""
    claim = asked.claim
    waits_for_task = "target" in claim.directive.words or claim.directive.family != "omp"
    return not waits_for_task and (claim.nowait or is_between_teams(claim))


def _head(asked: Asked) -> str:
    if is_between_teams(asked.claim):
        return "the teams do not wait for each other"
    return "nowait is wrong: the threads do not wait for the loop"


def _wrong(around: PhaseModel, meeting: PossibleRace) -> Reason | None:
    if meeting.conflict is None:
        return None
    outer = around.phase.rounds
    ids = {loop: loop.variable.name for r in (meeting.loop_side, meeting.other_side) for loop in r.statement.loops}
    dependence = describe(around.state, around.region, meeting.conflict, ids)
    if dependence is None:
        return None
    when = f" in the next round of {outer.variable.name}" if isinstance(outer, For) else ""
    return _reason(around.asked, meeting.loop_side, meeting.other_side, dependence, when)


def _reason(asked: Asked, first: Reference, second: Reference, dependence: Dependence, when: str) -> Reason:
    line, name = second.access.expr.span.line, first.access.base.name
    said = _word_witness(dependence.witness, first, second)
    remedy = "end the construct on the device in between" if is_between_teams(asked.claim) else _REMEDY
    text = f"{_head(asked)}, and line {line} touches {name} as well{when}: {said}"
    return Reason("CLM001", text, second.access.expr.span, dependence, legal_if=(remedy,))


def _doubt(asked: Asked, meeting: PossibleRace) -> Reason:
    line, name = meeting.other_side.access.expr.span.line, meeting.loop_side.access.base.name
    who = "the teams do not wait for each other" if is_between_teams(asked.claim) else "no thread waits for the loop"
    if meeting.kept_apart:
        text = f"{who}, and the order in which they come to {name} in line {line} may matter"
    else:
        text = f"{who}, and line {line} may touch the same part of {name}"
    return Reason("CLM002", text, meeting.other_side.access.expr.span)


def _unfinished(answer: Answer, around: PhaseModel) -> None:
    """Add the uses of what the loop hands over when all threads have left it, or takes when they come to it."""
    claim = around.asked.claim
    listed = claim.directive.list_variables
    sums = {s for s in claim.reductions if s.name in listed("reduction")}
    last = {s for s in claim.lastprivate | claim.linear if s.name in listed("lastprivate", "linear")}
    taken = {s for s in claim.firstprivate if s.name in listed("firstprivate")}
    for statement in around.region.statements:
        if not around.is_beside(statement) or around.is_in_loop(statement):
            continue
        for access in statement.accesses:
            base, line = access.base, access.expr.span.line
            if base in sums | last or (base in taken and access.write):
                does = "writes" if access.write else "reads"
                why = f"the threads add their parts of {base.name} until all have left the loop"
                if base not in sums:
                    why = f"{base.name} is copied by the threads that come to the loop, or that leave it"
                certain = statement.exact and around.is_sure(statement) and base in sums
                (answer.wrong if certain else answer.doubts).append(
                    Reason(
                        "CLM001" if certain else "CLM002",
                        f"nowait is wrong: {why}, and line {line} {does} it",
                        access.expr.span,
                        legal_if=(_REMEDY,),
                    )
                )
                sums.discard(base)


def _word_witness(witness: str, first: Reference, second: Reference) -> str:
    found = _WITNESS.fullmatch(witness)
    if found is None:
        return witness
    numbers = re.findall(r"\w+\(([^)]*)\) (?:writes|reads)", witness)
    one = f"iteration {numbers[0]} of the loop {found['first']} {found['element']}"
    place = f"line {second.access.expr.span.line}"
    other = f"iteration {numbers[1]} in {place}" if second.statement.loops else place
    tail = f" ({found['head']})" if found["head"] else ""
    return f"{one}, {other} {found['second']} it{tail}"
