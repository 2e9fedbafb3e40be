"""Applying steps in order, each one checked on the program that the ones before it made.

    program ── step 1: Proved ──► program' ── step 2: Refuted ──► stop: which step, which dependence, what would help

Invariant: what comes back was made by steps that were all Proved. A refusal names the step and its place in the recipe,
the user's line, and the witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec.structs

from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared, pairs
from warpsmith.loops.step import Step, check_step, rewrite_program, step_text
from warpsmith.offload.decisions import find_undecided
from warpsmith.recipes.enabling import Enabling, enabling_steps
from warpsmith.recipes.listed import ListedStep
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

__all__ = ["MOST_NODES", "apply_steps", "refusal"]

MOST_NODES = 20_000
_NO_LOOP = ("INP010", "INP011")


def apply_steps(prepared: Prepared, steps: Sequence[ListedStep], *, explain: bool = False) -> Prepared:
    """Return the program after `steps`, in order.

    Raises RefusedError at the first step that is not Proved; with `explain` it names the steps that, applied before,
    would make it legal. Raises UsageError where a step names no loop, or several.
    """
    for number, listed in enumerate(steps, 1):
        prepared = _apply_listed(prepared, listed, f"step {number} of {len(steps)}", explain=explain)
    return prepared


def _apply_listed(prepared: Prepared, listed: ListedStep, which: str, *, explain: bool) -> Prepared:
    step, facts, program = listed.step, prepared.facts, prepared.program
    try:
        verdict = check_step(step, program, facts)
    except RefusedError as error:
        raise _explain_missing(listed, which, error) from error
    if not isinstance(verdict, Proved):
        wrong = any(reason.rule == "STP003" for reason in verdict.reasons)
        enabling = enabling_steps(facts, step) if explain and not wrong else None
        raise RefusedError(*refusal(listed, which, verdict, enabling))
    after = rewrite_program(step, program)
    _check_result(listed, which, prepared, after)
    function, span = _find_worked_on(program, after, step)
    done = Applied(step, verdict, function.symbol, span)
    return msgspec.structs.replace(prepared, facts=facts.after(after), applied=(*prepared.applied, done))


def refusal(
    listed: ListedStep, which: str, verdict: Refuted | Unknown, enabling: tuple[Enabling, ...] | None = None
) -> tuple[Finding, ...]:
    """Return the findings for a step whose check is `verdict`; `enabling` are single steps that would make it legal,
    None where they were not looked for."""
    helps = _enabling_help(listed, enabling)
    reasons = verdict.reasons or (Reason("STP002", "it cannot be applied here"),)
    shown = reasons if enabling is not None else reasons[:1]
    head = f"{which}, {step_text(listed.step)}"
    return tuple(
        _finding(
            listed,
            f"{head}, {_word(verdict, reason)}",
            reason,
            (*(_details(reason) if enabling is not None else ()), *(helps if reason is shown[0] else ())),
        )
        for reason in shown
    )


def _word(verdict: Refuted | Unknown, reason: Reason) -> str:
    if isinstance(verdict, Refuted):
        return "is refused"
    return {"STP002": "does not fit", "STP003": "has a wrong parameter"}.get(reason.rule, "cannot be proved legal")


def _details(reason: Reason) -> tuple[str, ...]:
    """Return the whole dependence in one line."""
    found = reason.dependence
    if found is None:
        return ()
    distance = ", ".join("varies" if entry is None else str(entry) for entry in found.distance)
    carried = f"carried by {found.carried_by}" if found.carried_by else "in one iteration"
    direction = ", ".join(found.direction)
    return (f"{found.kind} dependence of {found.variable}: distance ({distance}), direction ({direction}), {carried}",)


def _enabling_help(listed: ListedStep, enabling: tuple[Enabling, ...] | None) -> tuple[str, ...]:
    if enabling is None:
        return ()
    if not enabling:
        return ("no single step that was tried makes it legal",)
    own = step_text(listed.step)
    named = ((step_text(found.step), step_text(found.then)) for found in enabling)
    return tuple(f"legal after {step}{'' if then == own else f', as {then}'} (checked)" for step, then in named)


def _finding(listed: ListedStep, head: str, reason: Reason, helps: tuple[str, ...]) -> Finding:
    """Return one reason as a finding: at the recipe's line where there is one, with the user's lines below it."""
    notes: list[Note] = []
    if listed.span is not None and reason.span is not None:
        notes.append(Note(reason.span, ""))
    witness: tuple[str, ...] = ()
    if reason.dependence is not None:
        found = reason.dependence
        notes += [Note(found.source, f"{found.kind} dependence: first this"), Note(found.sink, "then this")]
        witness = (f"for example: {found.witness}",) if found.witness else ()
    return Finding(
        rule=reason.rule,
        severity="error",
        message=f"{head}: {reason.text}",
        span=listed.span or reason.span,
        help=(*witness, *reason.legal_if, *helps),
        related=tuple(notes),
        assumptions=reason.assumptions,
    )


def _explain_missing(listed: ListedStep, which: str, error: RefusedError) -> Exception:
    """Return the error for a step whose address names no loop, several, or one that it cannot be about."""
    findings = tuple(_locate_finding(listed, which, finding) for finding in error.findings)
    return UsageError(*findings) if findings[0].rule in _NO_LOOP else RefusedError(*findings)


def _locate_finding(listed: ListedStep, which: str, finding: Finding) -> Finding:
    notes = finding.related
    if listed.span is not None and finding.span is not None:
        notes = (Note(finding.span, ""), *notes)
    return msgspec.structs.replace(
        finding,
        message=f"{which}, {step_text(listed.step)}: {finding.message}",
        span=listed.span or finding.span,
        related=notes,
    )


def _check_result(listed: ListedStep, which: str, prepared: Prepared, after: Program) -> None:
    """Raise where what the step makes cannot be used: a decision is lost, a header is changed, a function too large."""
    reason = _find_lost(after) or _in_header(prepared, after) or _too_large(prepared, after)
    if reason is not None:
        raise RefusedError(_finding(listed, f"{which}, {step_text(listed.step)}", reason, ()))


def _find_lost(after: Program) -> Reason | None:
    for decision in find_undecided(after):
        text = f"it would leave open which loop is meant by the earlier step about {decision.loop}"
        return Reason("STP005", text, decision.node.header, legal_if=("offload, map and keep stand last",))
    return None


def _in_header(prepared: Prepared, after: Program) -> Reason | None:
    known = {id(function) for _, function in prepared.program.functions()}
    for unit, function in after.functions():
        path = function.span.file.path
        if id(function) not in known and path != unit.file.path:
            return Reason("STP002", f"{function.symbol.name} stands in a header: {path} is not changed", function.span)
    return None


def _too_large(prepared: Prepared, after: Program) -> Reason | None:
    users = {function.symbol: function for _, function in prepared.original.program.functions()}
    for _, function in pairs(prepared.program, after):
        user = users.get(function.symbol)
        most = max(MOST_NODES, 2 * _size(user) if user is not None else 0)
        if _size(function) > most:
            return Reason("STP006", f"{function.symbol.name} would get more than {most} nodes", function.span)
    return None


def _size(function: Function) -> int:
    return sum(1 for _ in walk(function))


def _find_worked_on(before: Program, after: Program, step: Step) -> tuple[Function, Span]:
    """Return the function of the user's that a step worked on, and the text in it."""
    address = getattr(step, "loop", None)
    if isinstance(address, str):
        place = LoopContext.of(before, address)
        return place.function, place.loop.span
    for _, function in before.functions():
        if not any(function is kept for _, kept in after.functions()):
            return function, function.span
    first = next(_functions(before))
    return first, first.span


def _functions(program: Program) -> Iterator[Function]:
    return (function for _, function in program.functions())
