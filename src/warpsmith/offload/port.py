"""The plan of a port: fragments are chosen, given data, turned into kernels, and the host's text is rewritten around
them.

    function ──► drafts ──► homes (buffers, guards) ──► kernels, launches ──► copies ──► versions ──► program

Invariant: a draft either ends up in the program with a kernel, or in the refusals with its reason. What fails late (its
data cannot be sized, its text cannot be written) is taken out and the function is planned again without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import Change, Prepared, as_written
from warpsmith.loops.versions import can_version, usable, version
from warpsmith.offload.captures import with_captures
from warpsmith.offload.choice import choose, failure_key
from warpsmith.offload.findings import decided_findings, order_findings, refused_findings, transfer_findings
from warpsmith.offload.fragments import Draft, Home, Request
from warpsmith.offload.kernels import Built, build
from warpsmith.offload.names import Names
from warpsmith.offload.plan import Fragment, OffloadOptions, Plan, Port, Refusal, Transfer
from warpsmith.offload.residency import place
from warpsmith.offload.splice import splice
from warpsmith.offload.transfers import insert
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.summaries import Summaries
from warpsmith.tree.nodes import Function, Stmt
from warpsmith.tree.program import Program

__all__ = ["plan_port"]


@dataclass(frozen=True, slots=True)
class _Planned:
    """One function, planned."""

    original: Function
    function: Function
    homes: tuple[Home, ...]
    built: tuple[Built, ...]
    transfers: tuple[Transfer, ...]
    refusals: tuple[Refusal, ...]


Unwritable = Sequence[tuple[Fragment, Reason]]


def plan_port(
    program: Program,
    facts: Facts,
    options: OffloadOptions,
    poly_options: PolyOptions,
    unwritable: Unwritable = (),
    *,
    prepared: Prepared | None = None,
) -> Port:
    """Return the ported program with its plan, and the two programs with captures.

    `unwritable` are fragments of an earlier plan which the target cannot express: they stay on the host. Every loop
    that `options.selected` asks for and that no kernel serves gives an error finding. `prepared`: the steps that
    `program` has behind it; where a guard of theirs fails, the user's own loops run.
    """
    changes = prepared.changes() if prepared is not None else ()
    names, summaries = Names(program), Summaries.of(program)
    planned: list[_Planned] = []
    for function in facts.functions:
        failed = {
            failure_key(fragment): (fragment.region, reason)
            for fragment, reason in unwritable
            if fragment.function is function.function
        }
        mine = tuple(c for c in changes if c.function == function.function.symbol)
        request = Request(program, function, options, poly_options, names.scope(), summaries, mine)
        found = _function(request, names, failed)
        names.reserve(built.fragment.kernel.name for built in found.built)
        planned.append(found)
    ported = _ported(program, planned)
    homes = tuple(home for found in planned for home in found.homes)
    plan = Plan(
        fragments=tuple(built.fragment for found in planned for built in found.built),
        buffers=tuple(buffer for home in homes for buffer in home.buffers),
        transfers=tuple(transfer for found in planned for transfer in found.transfers),
        refusals=tuple(refusal for found in planned for refusal in found.refusals),
        findings=(),
    )
    refused = (*refused_findings(facts.functions, plan, options), *decided_findings(program, facts.functions, plan))
    findings = (*refused, *order_findings(homes), *transfer_findings(homes, plan.transfers))
    reference, candidate = with_captures(_comparable(program, planned, changes, summaries), ported, homes)
    return Port(ported, replace(plan, findings=findings), reference, candidate, tuple(_uncovered(changes, homes)))


def _comparable(
    program: Program, planned: Sequence[_Planned], changes: Sequence[Change], summaries: Summaries
) -> Program:
    """Return the program as the port is compared with it: where steps rewrote a home's loops, the same guards and the
    steps' own choose between what the steps made and what the user wrote."""
    for found in planned:
        mine = [c for c in changes if c.function == found.original.symbol]
        rewritten = [home for home in found.homes if any(c.stands_in(home.scope) for c in mine)]
        versions: list[tuple[tuple[Stmt, ...], tuple[Stmt, ...]]] = []
        for home in rewritten:
            own = (a for c in mine if c.stands_in(home.scope) for a in c.assumptions)
            testable = (
                a
                for a in own
                if a.condition is not None and usable(program, found.original, a.condition, home.scope, summaries)
            )
            written = as_written(home.scope, mine)
            versions.append((home.scope, version(written, home.scope, (*home.guards, *testable))))
        if versions:
            program = program.with_function(found.original, splice(found.original, versions))
    return program


def _uncovered(changes: Sequence[Change], homes: Sequence[Home]) -> Iterator[Change]:
    """Yield the changes that need a guard and stand in no home that tests it."""
    for change in changes:
        guarded = any(assumption.kind == "guarded" for assumption in change.assumptions)
        if guarded and not any(change.stands_in(home.scope) for home in homes):
            yield change


def _ported(program: Program, planned: Sequence[_Planned]) -> Program:
    ported = program
    for found in planned:
        if found.built:
            ported = ported.with_function(found.original, found.function)
    kernels = tuple(built.fragment.kernel for found in planned for built in found.built)
    guards = dict.fromkeys(guard for found in planned for home in found.homes for guard in home.guards)
    return replace(ported, kernels=kernels, assumptions=tuple(guards))


def _function(request: Request, names: Names, failed: Mapping[int, tuple[str, Reason]]) -> _Planned:
    """Plan one function: again from the start without what failed, until nothing fails."""
    failures = dict(failed)
    while True:
        attempt = replace(request, names=names.scope())
        excluded = {key: reason for key, (_, reason) in failures.items()}
        choice = choose(attempt, excluded)
        outcome = _attempt(attempt, choice.drafts)
        if isinstance(outcome, _Planned):
            return replace(outcome, refusals=choice.refusals)
        failures |= {failure_key(draft): (draft.region, reason) for draft, reason in outcome}


_Failures = tuple[tuple[Draft, Reason], ...]


def _attempt(request: Request, drafts: tuple[Draft, ...]) -> _Planned | _Failures:
    """Return the function with all of `drafts` as kernels, or the drafts that stand in the way (never none)."""
    function = request.facts.function
    if not drafts:
        return _Planned(function, function, (), (), (), ())
    placement = place(request, drafts)
    if placement.failures:
        return placement.failures
    unguarded = tuple(failure for home in placement.homes for failure in _unguarded(home))
    if unguarded:
        return unguarded
    built: dict[Draft, Built] = {}
    failed: list[tuple[Draft, Reason]] = []
    for home in placement.homes:
        for draft in home.drafts:
            try:
                name = request.names.fresh(f"ws_{function.symbol.name}_k{len(built) + 1}")
                built[draft] = build(request, home, draft, name)
            except RefusedError as error:
                failed.append((draft, _reason(error)))
    return tuple(failed) if failed else _assembled(request, placement.homes, built)


def _reason(error: RefusedError) -> Reason:
    found = error.findings[0]
    return Reason(found.rule, found.message, found.span, legal_if=found.help)


def _unguarded(home: Home) -> Iterator[tuple[Draft, Reason]]:
    """Yield the drafts of a home whose guards cannot be tested where they must be."""
    guards = [a for a in home.guards if a.kind == "guarded"]
    untested = next((a for a in guards if a.condition is None), None)
    if untested is None and (not guards or can_version(home.scope)):
        return
    why = "a jump or a static variable" if untested is None else f"the assumption '{untested.text}'"
    for draft in home.drafts:
        span = draft.statements[-1].span
        yield draft, Reason("POR008", f"the code would need a run-time test, which {why} does not allow", span)


def _assembled(request: Request, homes: tuple[Home, ...], built: Mapping[Draft, Built]) -> _Planned:
    function = request.facts.function
    transfers: list[Transfer] = []
    replaced: list[tuple[tuple[Stmt, ...], tuple[Stmt, ...]]] = []
    for home in homes:
        moved = insert(request, home, {draft: built[draft].launch for draft in home.drafts})
        transfers += moved.transfers
        written = as_written(home.scope, request.changes)
        replaced.append((home.scope, version(written, moved.statements, home.guards)))
    new = splice(function, replaced)
    return _Planned(function, new, homes, tuple(built.values()), tuple(transfers), ())
