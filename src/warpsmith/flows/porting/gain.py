"""The part of a port that pays: plans without what loses are made, estimated, and the fastest one is kept.

    the plan ── what certainly loses? ──► trials ── each planned again, and estimated whole ──► the fastest
                                                                                                 with a finding on
                                                                                                 each loop left

Invariant: by the estimate the chosen plan is no slower than that of `--all`, and, where a run was counted or all counts
are certain, no slower than the program as it is. With `--all` nothing stays but what a counted run has not reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.verdict import Reason
from warpsmith.flows.porting.plan import Written
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.gain.choose import (
    Bar,
    Loss,
    find_losses,
    gather_knowledge,
    is_all_certain,
    list_trials,
    loss_reason,
)
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import Fragment, GainOptions, OffloadOptions, Port, Refusal
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For, Function, Loop, While
from warpsmith.tree.walk import loop_names, loops, walk

__all__ = ["Kept", "choose_paying", "estimate_port", "renew_refused"]

_BETTER: Final = 0.98
"""What makes less of a difference is moved: an estimate does not know it."""

Planned = tuple[Prepared, Written]
Refused = tuple[tuple[Fragment, Reason], ...]


class Kept(Struct, frozen=True):
    """What stays on the host since it would lose, and what is said of it; `refusals`: of the loops as they are
    written."""

    refused: Refused = ()
    findings: tuple[Finding, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def choose_paying(first: Planned, plan: Callable[[Refused], Planned], options: OffloadOptions) -> Kept:
    """Return what of a plan had better stay. `plan` plans again without what is refused besides."""
    prepared, written = first
    if options.gain is None or options.decided_only or not written.port.plan.fragments:
        return Kept()
    if options.gain.everything:
        return _leave_unreached(prepared, written, options)
    known = gather_knowledge(prepared.facts, options, written.port.plan.fragments)
    before, after = estimate_program(prepared.program, known), estimate_program(written.port.program, known)
    bar = Bar.of(options)
    losses = find_losses(written.port, known, prepared.facts, (before, after), bar)
    if not after.complete:
        return Kept()
    best: float = bar.time(after)
    chosen: tuple[Loss, ...] = ()
    for trial in list_trials(losses):
        refused = _refuse(trial, prepared, options.gain)
        other, made = plan(refused)
        tried = estimate_port(other, made.port, options)
        if bar.time(tried) < best * _BETTER:
            best, chosen = bar.time(tried), tuple(trial)
    original = gather_knowledge(prepared.original, options)
    nothing = estimate_program(prepared.original.program, original).seconds
    certain = bool(options.gain.counts) or is_all_certain(written.port, known, prepared.facts, before, after)
    if certain and bar.is_loss(nothing, best):
        everything = written.port.plan.fragments
        threads = max((int(time.threads) for time in before.loops.values()), default=1)
        whole = Loss(everything, nothing, bar.time(after), group=True, threads=threads, whole=True)
        refused = (*_refuse_all(whole, prepared, options.gain), *_refuse(losses, prepared, options.gain))
        named = {id(fragment) for loss in losses for fragment in loss.fragments}
        rest = tuple(f for f in everything if f.kind == "nest" and id(f) not in named)
        told = (*losses, *([replace(whole, fragments=rest)] if rest else []))
        return Kept(refused, tuple(_findings(told, options.gain)), tuple(_refusals(told, prepared, options.gain)))
    refusals = tuple(_refusals(chosen, prepared, options.gain))
    return Kept(_refuse(chosen, prepared, options.gain), tuple(_findings(chosen, options.gain)), refusals)


def _leave_unreached(prepared: Prepared, written: Written, options: OffloadOptions) -> Kept:
    """Return the loops of which a counted run has made no iteration: the referee, which runs the same, could not tell
    whether their kernels are right."""
    assert options.gain is not None
    sizes = gather_knowledge(prepared.facts, options).sizes
    refused: list[tuple[Fragment, Reason]] = []
    refusals: list[Refusal] = []
    for fragment in written.port.plan.fragments:
        outer = [statement for statement in fragment.statements if isinstance(statement, For | While)]
        counts = [sizes.count(loop.header) for loop in outer]
        if fragment.kind != "nest" or not outer or any(count is None or count.iterations > 0 for count in counts):
            continue
        text, help = "the counted run has made no iteration of it", ("--loop ports it all the same",)
        reason = Reason("POR009", text, outer[0].header, legal_if=help)
        headers = {loop.header for statement in outer for loop, _ in loops(statement)}
        everywhere = (*_user_loops(prepared.facts), *_user_loops(prepared.original))
        refused += [(_as_nest(fragment, f, loop), reason) for f, loop in everywhere if loop.header in headers]
        found = (facts for function in prepared.original.functions for facts in function.loops)
        refusals += [Refusal(facts.id, reason) for facts in found if facts.loop.header in headers]
    return Kept(tuple(refused), refusals=tuple(refusals))


def estimate_port(prepared: Prepared, port: Port | None, options: OffloadOptions) -> GainEstimate:
    """Return the estimated time of a ported program; of one without kernels, that of the program as it is."""
    if port is None or not port.plan.fragments:
        return estimate_program(prepared.original.program, gather_knowledge(prepared.original, options))
    return estimate_program(port.program, gather_knowledge(prepared.facts, options, port.plan.fragments))


def _refuse(losses: Sequence[Loss], prepared: Prepared, gain: GainOptions) -> Refused:
    """Return the fragments of losses as refused, with all loops in them: as steps have made them, and as written."""
    found: list[tuple[Fragment, Reason]] = []
    for loss in losses:
        reason = loss_reason(loss, gain)
        for fragment in loss.fragments:
            inside = [loop for statement in fragment.statements for loop, _ in loops(statement)]
            headers = {loop.header for loop in inside}
            found += [(_as_nest(fragment, fragment.function, loop), reason) for loop in inside]
            found += [
                (_as_nest(fragment, function, loop), reason)
                for function, loop in _user_loops(prepared.original)
                if loop.header in headers
            ]
    return tuple(found)


def renew_refused(refused: Refused, prepared: Prepared) -> Refused:
    """Return refusals for what is planned next: steps that are found anew make other loops of the same text, and those
    are refused as well where they would lose."""
    now = [(function, loop) for function, loop in _user_loops(prepared.facts)]
    known = {id(statement) for fragment, _ in refused for statement in fragment.statements}
    standing = {loop.header for _, loop in now if id(loop) in known}
    stale = {
        statement.header: (fragment, reason)
        for fragment, reason in refused
        if reason.rule == "POR009"
        for statement in fragment.statements
        if isinstance(statement, For | While) and statement.header not in standing
    }
    return (
        *refused,
        *(
            (_as_nest(stale[loop.header][0], function, loop), stale[loop.header][1])
            for function, loop in now
            if loop.header in stale
        ),
    )


def _refusals(losses: Sequence[Loss], prepared: Prepared, gain: GainOptions) -> Iterator[Refusal]:
    """Yield the user's loops that losses hold, with the reason: those too that only steps would have made parallel."""
    for loss in losses:
        inside = {loop.header for f in loss.fragments for statement in f.statements for loop, _ in loops(statement)}
        for function in prepared.original.functions:
            yield from (
                Refusal(facts.id, loss_reason(loss, gain)) for facts in function.loops if facts.loop.header in inside
            )


def _refuse_all(loss: Loss, prepared: Prepared, gain: GainOptions) -> Refused:
    """Return every loop of the program as refused, since all of them together lose; a later word on one counts."""
    reason, first = loss_reason(loss, gain), loss.fragments[0]
    everywhere = (*_user_loops(prepared.facts), *_user_loops(prepared.original))
    return tuple((_as_nest(first, function, loop), reason) for function, loop in everywhere)


def _user_loops(facts: Facts) -> Iterator[tuple[Function, Loop]]:
    for _, function in facts.program.functions():
        yield from ((function, loop) for loop, _ in loops(function.body))


def _as_nest(fragment: Fragment, function: Function, loop: Loop) -> Fragment:
    return replace(fragment, kind="nest", function=function, statements=(loop,))


def _findings(losses: Sequence[Loss], gain: GainOptions) -> Iterator[Finding]:
    """Yield POR009 for each group of loops that stays, at its first loop."""
    for loss in losses:
        reason = loss_reason(loss, gain)
        names = [_name(fragment) for fragment in loss.fragments if fragment.kind == "nest"]
        many = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Finding(
            rule="POR009",
            severity="note",
            message=f"{names[0]}{many}: {reason.text}; {reason.legal_if[0]}",
            span=reason.span,
            help=reason.legal_if,
            certainty="heuristic",
        )


def _name(fragment: Fragment) -> str:
    inside = {part for statement in fragment.statements for part in walk(statement) if isinstance(part, For)}
    named = loop_names(fragment.function)
    return next((named[loop] for loop in named if loop in inside), fragment.region)
