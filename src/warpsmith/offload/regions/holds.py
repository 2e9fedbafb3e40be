"""Holds: the loops and the runs of stages during which data stay on the device from call to call.

    main.c    for (t …) {              a hold: it calls what runs kernels, again and again
                  step(u, v, n);       solver.c: enters u and v, launches, leaves them: they stay
                  swap(&u, &v);        blocks are found by address, so that names may change
              }                        the end of the hold: what was written comes back

    for (t …) {                        a hold of the function's own: its kernels' data move in every iteration, because
        for (i …) v[i] = f(u[i]);      u and v are other blocks each time
        swap(u, v);
    }

    gray = to_gray(color);             a hold without a loop: what a stage leaves on the device, the next one finds
    report(gray);
    edges(gray, lines);

Invariant: inside a hold every function that the host may run is known (its host code has updates, coherence.py), or the
call stands in a pause; no memory that is kept dies unseen (presence.py); control leaves the hold at its end, by a
`return`, `break` or `continue` that ends it, or by an exception, on which the hold's guard ends it.

A loop that cannot be a hold says why, and the loops inside it are tried; a run is cut at the statement that stands in
the way. Only outermost holds matter: what an inner one keeps stays for the outer one.

Limits: no hold in a program that has handlers run at exit or by signals, that jumps between functions, or that starts
threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.prepared import Change
from warpsmith.offload.fragments import Home, Request
from warpsmith.offload.memory.host_calls import HostCalls, leads_to_kernels
from warpsmith.offload.memory.presence import Lasting, Presence, Resident, element_kinds, short_lived
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import Hold, RefusedHold
from warpsmith.offload.regions.candidates import candidates
from warpsmith.offload.regions.coherence import Coherent, Insertions, updates
from warpsmith.offload.regions.needs import IncoherentError, Surroundings
from warpsmith.offload.regions.objects import (
    declared_last,
    frees,
    is_cxx,
    is_guarded,
    may_hold_objects,
    owns_memory,
    unfit,
    with_frees,
)
from warpsmith.offload.regions.stack import kept_by_functions, not_yet_kept, outermost, with_lasting, without_lasting
from warpsmith.offload.regions.versions_in_place import written_in_versions
from warpsmith.offload.transfers.flow import ProgramPoint, statement_runs
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.poly.pointers.touches import direct_call
from warpsmith.tree.nodes import (
    Break,
    Call,
    Continue,
    DataHold,
    DataPause,
    For,
    Function,
    Return,
    Stmt,
    Switch,
    Update,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Pointer, Symbol, element_type
from warpsmith.tree.walk import walk

__all__ = ["HoldPlan", "plan_holds", "presence_of", "wanted_holds"]

_FATAL = {
    "setjmp": "jumps between functions",
    "_setjmp": "jumps between functions",
    "sigsetjmp": "jumps between functions",
    "__sigsetjmp": "jumps between functions",
    "signal": "handles signals",
    "sigaction": "handles signals",
    "atexit": "runs handlers at its end",
    "on_exit": "runs handlers at its end",
    "at_quick_exit": "runs handlers at its end",
    "fork": "starts processes",
    "vfork": "starts processes",
}


class HoldPlan(Struct, frozen=True):
    """The holds, which functions run in one as a whole (`whole`), and what dies inside (`residents`, of every function
    with statements in a hold). `objects`: objects that own memory may be made and destroyed inside."""

    holds: tuple[Hold, ...]
    whole: frozenset[Function]
    residents: dict[Function, Resident]
    device: frozenset[Symbol]
    objects: bool = False

    def inside(self, function: Function) -> tuple[tuple[Stmt, ...], ...]:
        """Return the statements of `function` that run in a hold."""
        if function in self.whole:
            return ((function.body,),)
        return tuple(hold.run for hold in self.holds if hold.function is function)


def presence_of(summaries: Summaries, homes: Sequence[Home]) -> Presence:
    """Return what the homes put on the device."""
    buffers = [buffer for home in homes for buffer in home.buffers if not is_table(buffer)]
    types = [b.symbol.type.to if isinstance(b.symbol.type, Pointer) else b.symbol.type for b in buffers]
    kinds = frozenset(kind for type in types for kind in element_kinds(type))
    written = {use.symbol for home in homes for draft in home.drafts for use in draft.uses if use.written}
    changed = (b.symbol.type for b in buffers if b.host in written)
    newer = frozenset(k for t in changed for k in element_kinds(t.to if isinstance(t, Pointer) else t))
    hosts, units = frozenset(buffer.host for buffer in buffers), any(buffer.unit for buffer in buffers)
    elements = frozenset(element_type(b.symbol.type) for b in buffers if not (b.unit or b.cell or b.starts))
    return Presence(summaries, kinds, hosts, newer, units, elements)


def wanted_holds(
    presence: Presence,
    ported: dict[Function, tuple[Home, ...]],
    changes: Mapping[Function, Sequence[Change]],
    drop: Sequence[RefusedHold] = (),
) -> HoldPlan | None:
    """Return the loops and runs that are worth a hold, without what is cut out by `drop`: None where there are none.
    `ported`: every function with its homes; `changes`: what steps have made of each."""
    summaries = presence.summaries
    device = leads_to_kernels(summaries, {f.symbol for f, homes in ported.items() if homes})
    if not device or _fatal(summaries) is not None:
        return None
    cuts = frozenset(stmt for refused in drop for stmt in refused.cuts)
    calls = HostCalls.of(summaries, _kernels(ported), device)
    hosts = {f: frozenset(b.host for home in homes for b in home.buffers) for f, homes in ported.items()}
    static = {f: frozenset(s for s in found if is_persistent(s)) for f, found in hosts.items()}
    found = (
        _with_changes(hold, changes.get(function, ()))
        for function, homes in ported.items()
        for hold in candidates(function, homes, calls, drop, static)
    )
    holds = tuple(hold for hold in found if hold.loop is not None or cuts.isdisjoint(hold.run))
    if not holds:
        return None
    objects = may_hold_objects(summaries.program, holds)
    inside, whole = _inside(calls, holds)
    watched = any(frees(s) for run in inside.values() for s in run) or (objects and any(map(owns_memory, inside)))
    first = outermost(calls, holds, (change for made in changes.values() for change in made))
    if watched:
        holds = tuple(with_frees(hold, summaries, cuts) for hold in holds)
        holds = tuple(with_lasting(hold, presence, device) if hold.function in first else hold for hold in holds)
        inside, whole = _inside(calls, holds)
    declared = (s for h in holds if not is_cxx(summaries.program, h.function) for s in declared_last(h.run))
    early = not_yet_kept(holds, presence, device)
    lasting = Lasting(frozenset(declared), frozenset(kept_by_functions(holds)), first, early)
    residents = short_lived(presence, inside, whole, lasting, watched=watched)
    return HoldPlan(holds, whole, residents, device, objects)


def _inside(calls: HostCalls, holds: Sequence[Hold]) -> tuple[dict[Function, tuple[Stmt, ...]], frozenset[Function]]:
    """Return the statements of each function that run in a hold, and the functions that are called in one."""
    whole = calls.reached(stmt for hold in holds for stmt in hold.run)
    inside: dict[Function, tuple[Stmt, ...]] = {f: (f.body,) for f in whole}
    for hold in holds:
        if hold.function not in whole:
            inside[hold.function] = (*inside.get(hold.function, ()), *hold.run)
    return inside, whole


def _with_changes(hold: Hold, changes: Sequence[Change]) -> Hold:
    """Return a run that has all of what steps made of the user's text at its ends: it begins and ends beside that."""
    if hold.loop is not None:
        return hold
    first, last = hold.run[0], hold.run[-1]
    head = next((c.new for c in changes if any(stmt is first for stmt in c.new)), ())
    tail = next((c.new for c in changes if any(stmt is last for stmt in c.new)), ())
    before = itertools.takewhile(lambda stmt: stmt is not first, head)
    behind = list(itertools.dropwhile(lambda stmt: stmt is not last, tail))[1:]
    return Hold(hold.function, (*before, *hold.run, *behind), hold.own)


def _kernels(homes: Mapping[Function, tuple[Home, ...]]) -> Iterator[Stmt]:
    """Yield the statements that run on the device."""
    return (s for found in homes.values() for home in found for draft in home.drafts for s in draft.statements)


def plan_holds(
    plan: HoldPlan,
    requests: dict[Function, Request],
    homes: dict[Function, tuple[Home, ...]],
    closed: Mapping[Function, Reason],
    lost: frozenset[Function],
) -> tuple[dict[Function, Coherent], tuple[RefusedHold, ...]]:
    """Return what to insert into each function, or the holds that are not possible, with the reason. To the text of
    those that are `closed` nothing can be added; in those that are `lost`, kernels are missing that there would be
    without holds: a run is not worth that."""
    inserted: dict[Function, Coherent] = {}
    presence = next(iter(plan.residents.values())).presence
    calls = HostCalls.of(presence.summaries, _kernels(homes), plan.device)
    reached = calls.reached(stmt for hold in plan.holds for stmt in hold.run)
    blamed = {f: _unprepared(f) for f in sorted(reached - plan.whole, key=lambda f: f.symbol.key)}
    for function in dict.fromkeys([*plan.whole, *(hold.function for hold in plan.holds)]):
        request, resident = requests[function], plan.residents[function]
        around = Surroundings(request, resident.presence, resident, homes[function], plan.device, plan.objects)
        made = _coherent(plan, around)
        framed = any(hold.function is function for hold in plan.holds)
        if isinstance(made, Coherent) and function in closed and (framed or made.needed()):
            made = closed[function]
        if isinstance(made, Reason):
            blamed[function] = made
        else:
            inserted[function] = made
    refused = (*_refused(plan, calls, blamed, lost), *(_idle(plan, calls, inserted) if not blamed else ()))
    if not refused:
        watches = any(plan.residents[f].watches(f, b) for f in plan.residents for h in homes[f] for b in h.buffers)
        for hold in plan.holds:
            guard = (
                requests[hold.function].names.fresh("ws_held") if is_guarded(presence.summaries.program, hold) else ""
            )
            _frame(inserted[hold.function].frames, hold if watches else without_lasting(hold), guard)
    return inserted, refused


def _coherent(plan: HoldPlan, around: Surroundings) -> Coherent | Reason:
    """Return what to insert into one function, or why it cannot run in a hold."""
    function, made = around.function, Coherent()
    runs = plan.inside(function)
    statements = [stmt for run in runs for stmt in run]
    reason = unfit(function, statements, around.resident, whole=function in plan.whole, objects=plan.objects)
    if reason is not None:
        return reason
    try:
        for run in runs:
            updates(around, run, made)
    except IncoherentError as error:
        return error.reason
    ours = written_in_versions(around.homes, around.request.changes)
    runs_of_stages = (h.run for h in plan.holds if h.function is function and h.loop is None)
    left = (part for run in runs_of_stages for stmt in run for part in _leaving(stmt, "") if part in ours)
    if (jump := next(left, None)) is not None:
        return Reason("POR018", "control leaves what steps rewrote", jump.span)
    beside = any(place.node not in ours for place in made.inserted)
    if beside and not _is_written(around.request, function):
        text = f"'{function.symbol.name}' is defined in a header, which is not rewritten"
        if any(function.span.file is unit.file for unit in around.request.program.units):
            text = f"'{function.symbol.name}' shares its text with what its template makes of other types"
        return Reason("POR018", text, function.symbol.span)
    return made


def _is_written(request: Request, function: Function) -> bool:
    """Whether the function stands in a file of the program and not in a header."""
    return any(item is function for unit in request.program.units for item in unit.items)


def _unprepared(function: Function) -> Reason:
    """A kernel of the first plan is none any more, so that the host calls this function after all."""
    return Reason(
        "POR018", f"'{function.symbol.name}' is called by a loop that stays on the host", function.symbol.span
    )


def _refused(
    plan: HoldPlan, calls: HostCalls, faults: Mapping[Function, Reason], lost: frozenset[Function]
) -> Iterator[RefusedHold]:
    """Yield the holds in which a function runs that cannot run in one."""
    fewer = {f: Reason("POR018", f"'{f.symbol.name}' would have fewer kernels", f.symbol.span) for f in lost}
    for hold in plan.holds:
        blamed = faults if hold.loop is not None else {**fewer, **faults}
        if hold.function in blamed:
            reason = blamed[hold.function]
            at = [stmt for stmt in hold.run if reason.span is not None and stmt.span.contains(reason.span)]
            yield RefusedHold(hold, tuple(at or hold.run), reason)
            continue
        bad = {stmt: next((f for f in calls.reached([stmt]) if f in blamed), None) for stmt in hold.run}
        named = [f for f in bad.values() if f is not None]
        if named:
            yield RefusedHold(hold, tuple(stmt for stmt, f in bad.items() if f is not None), blamed[named[0]])


def _idle(plan: HoldPlan, calls: HostCalls, inserted: dict[Function, Coherent]) -> Iterator[RefusedHold]:
    """Yield the holds that are of no use: loops of functions' own in which everything moves all the same (homes without
    a hold move no more), and runs with a pause (what comes behind it begins anew)."""
    for hold in plan.holds:
        for stmt in hold.run if hold.own or hold.loop is None else ():
            reached, inner = calls.reached([stmt]), set(walk(stmt))
            known = ((f, inserted[f].inserted) for f in (hold.function, *reached) if f in inserted)
            mine = ((f, at, new) for f, found in known for at, new in found.items())
            met = ((at.node, added) for f, at, new in mine if f in reached or at.node in inner for added in new)
            bulk = next((added for at, added in met if _is_bulk(at, added, hold)), None)
            if bulk is not None:
                unknown = "what runs there may free memory, or touch any"
                text = unknown if isinstance(bulk, DataPause) else "all data move"
                yield RefusedHold(hold, (stmt,), Reason("POR018", text, bulk.span))


def _is_bulk(at: Stmt, stmt: Stmt, hold: Hold) -> bool:
    """Whether all that is on the device comes to the host; in a run that is done once, and what is there stays. Where
    an exception is thrown, nothing comes behind it."""
    if isinstance(stmt, DataPause):
        return not any(isinstance(part, VerbatimExpr) and part.reason == "throw" for part in walk(at))
    return hold.own and isinstance(stmt, Update) and stmt.address is None


def _frame(frames: Insertions, hold: Hold, guard: str) -> None:
    """Begin and end the hold, also where control leaves it early."""
    first, last = hold.run[0], hold.run[-1]
    span = hold.loop.header if hold.loop is not None else first.span
    begin = DataHold(span=span, opens=True, cause=span, guard=guard, lasting=hold.lasting, callers=hold.callers)
    frames.setdefault(ProgramPoint("before", first), []).append(begin)
    ends = [
        ProgramPoint("after", last),
        *(ProgramPoint("before", p) for stmt in hold.run for p in _leaving(stmt, inner="")),
    ]
    for place in ends:
        # each is a statement of its own: what a run copies is counted apart
        frames.setdefault(place, []).append(DataHold(span=span, opens=False, cause=span, guard=guard))


def _leaving(stmt: Stmt, inner: str) -> Iterator[Stmt]:
    """Yield the statements by which control leaves the run that `stmt` stands in. `inner`: what of `break` and
    `continue` stays inside, in a loop or a switch of the run."""
    match stmt:
        case Return():
            yield stmt
        case Break() if inner == "":
            yield stmt
        case Continue() if inner != "loop":
            yield stmt
        case For() | While():
            yield from _leaving(stmt.body, "loop")
        case _:
            inside = "switch" if isinstance(stmt, Switch) and inner == "" else inner
            for run in statement_runs(stmt):
                for part in run:
                    yield from _leaving(part, inside)


# --- what stands in the way


def _fatal(summaries: Summaries) -> str | None:
    """Return what the program does that no hold survives."""
    for function in summaries.definitions.values():
        for part in walk(function.body):
            name = direct_call(part) if isinstance(part, Call) else None
            if name is None or name in summaries.definitions or not isinstance(part, Call):
                continue
            known = summaries.library(part)
            if known is not None and known.threads:
                return "starts threads"
            if name.name in _FATAL:
                return _FATAL[name.name]
    return None
