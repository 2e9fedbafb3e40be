"""What threads have begun before a shared loop, where the others do not wait for it.

    #pragma omp master
    h = 3;                             one thread writes h …
    #pragma omp for
    for (i …) b[i] = h * a[i];         … while others, which have gone on at once, read it

Looked at is what stands between the last point at which threads wait and the loop, in the round before of a loop around
it too (phases.py); of shared loops their own `nowait` says it. Invariant: what is called wrong are two accesses that
certainly happen, to one element, one of them a write, by different threads for some number of threads; where nothing
is called wrong or in doubt, there are no two such accesses.
Limits: what the callers of a function do before it, where the region is theirs, is not seen.
"""

from __future__ import annotations

from warpsmith.base.verdict import Reason
from warpsmith.poly.dependences.dependences import describe
from warpsmith.poly.openmp.concurrency.concurrent import Asked, PhaseModel, PossibleRace, find_phases, is_between_teams
from warpsmith.poly.openmp.concurrency.nowait import Answer
from warpsmith.poly.regions.region import Statement
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Pragma
from warpsmith.tree.types import Symbol

__all__ = ["find_begun"]

_ONE_THREAD = frozenset({("master",), ("masked",), ("single",)})


def find_begun(asked: Asked) -> Answer:
    """Return what races with the loop because nobody waits for the threads that do it. Raises OutOfBudgetError."""
    answer = Answer()
    claim = asked.claim
    if claim.region is None or "parallel" in claim.directive.words or claim.directive.is_simd or not claim.loops:
        return answer
    found, _ = find_phases(asked, forward=False)
    taken = _taken(claim)
    reported: set[Symbol] = set()
    for phase in found:
        around = PhaseModel.of(asked, phase, forward=False)
        answer.assumptions += around.assumptions
        answer.doubts += around.doubts
        for statement in around.region.statements:
            if around.is_beside(statement) and not around.is_in_loop(statement) and not _is_shared(around, statement):
                _judge_taken(answer, around, statement, taken, reported)
        for meeting in around.meetings():
            base, statement = meeting.other_side.access.base, meeting.other_side.statement
            if base in reported or around.is_in_loop(statement) or _is_shared(around, statement):
                continue
            pragma = _one_thread(around, statement)
            certain = meeting.conflict if pragma is not None else None
            shown = describe(around.state, around.region, certain, {}) if certain is not None else None
            if pragma is not None and shown is not None:
                reported.add(base)
                answer.wrong.append(_reason(pragma, base, meeting))
            else:
                answer.doubts.append(_doubt(asked, meeting))
    return answer


def _is_shared(around: PhaseModel, statement: Statement) -> bool:
    """Whether a statement is part of a loop that has a claim of its own, which says what it races with."""
    return around.runner(statement).kind == "shared"


def _judge_taken(
    answer: Answer, around: PhaseModel, statement: Statement, taken: frozenset[Symbol], reported: set[Symbol]
) -> None:
    """Add what is written of the variables whose value the loop's own pragma takes, and what is read of those that it
    gives a value to when a thread leaves it."""
    claim = around.asked.claim
    handed = claim.reductions.keys() | claim.lastprivate | claim.linear
    given = {s for s in handed if s.name in claim.directive.list_variables("reduction", "lastprivate", "linear")}
    for access in statement.accesses:
        meets = access.base in given or (access.write and access.base in taken)
        if not meets or access.base in reported:
            continue
        reported.add(access.base)
        pragma, line = _one_thread(around, statement), access.expr.span.line
        said = f"the loop {'starts from' if access.base in taken else 'sets'} {access.base.name}"
        certain = access.write and access.base in taken and statement.exact and around.is_sure(statement)
        if certain and pragma is not None:
            answer.wrong.append(_wrong(pragma, access.base, line, said))
        else:
            text = f"no thread waits for those that run line {line}, and {said}"
            answer.doubts.append(Reason("CLM002", text, access.expr.span))


def _taken(claim: Claim) -> frozenset[Symbol]:
    """Return the variables whose value the construct itself takes, for a copy of each thread or to add to it."""
    named = claim.directive.list_variables("reduction", "firstprivate")
    return frozenset(s for s in (*claim.reductions, *claim.firstprivate) if s.name in named)


def _one_thread(around: PhaseModel, statement: Statement) -> Pragma | None:
    """Return the pragma for which one thread runs a statement, or None."""
    pragmas = (p for stmt in statement.within for p in around.marks.get(id(stmt), ()))
    return next((p for p in pragmas if p.directive is not None and p.directive.words in _ONE_THREAD), None)


def _reason(pragma: Pragma, base: Symbol, meeting: PossibleRace) -> Reason:
    inside = meeting.loop_side.access
    does = "writes" if inside.write else "reads"
    said = f"another one {does} it in the loop behind, line {inside.expr.span.line}"
    return _wrong(pragma, base, meeting.other_side.access.expr.span.line, said)


def _wrong(pragma: Pragma, base: Symbol, line: int, said: str) -> Reason:
    title = pragma.directive.title if pragma.directive is not None else "omp master"
    text = f"no thread waits for the one that runs line {line} ({title}), which touches {base.name}: {said}"
    remedy = "remove nowait" if title == "omp single" else "put a barrier behind it, or single in its place"
    return Reason("CLM001", text, pragma.span, legal_if=(remedy,))


def _doubt(asked: Asked, meeting: PossibleRace) -> Reason:
    line, name = meeting.other_side.access.expr.span.line, meeting.loop_side.access.base.name
    who = "teams do not wait" if is_between_teams(asked.claim) else "no thread waits"
    what = f"the order in which they come to {name} there and in the loop may matter" if meeting.kept_apart else (
        f"the loop may touch the same part of {name}"
    )  # fmt: skip
    text = f"{who} for those that run line {line}, and {what}"
    return Reason("CLM002", text, meeting.other_side.access.expr.span)
