"""Data regions: the loops and the runs of stages during which data stay on the device from call to call.

    main.c    for (t …) {              a data region: it calls what runs kernels, again and again
                  step(u, v, n);       solver.c: enters u and v, launches, leaves them: they stay
                  swap(&u, &v);        blocks are found by address, so that names may change
              }                        the end of the data region: what was written comes back

    for (t …) {                        a data region of the function's own: its kernels' data move in every iteration,
    because
        for (i …) v[i] = f(u[i]);      u and v are other blocks each time
        swap(u, v);
    }

    gray = to_gray(color);             a data region without a loop: what a stage leaves on the device, the next one
    finds report(gray);
    edges(gray, lines);

Invariant: inside a data region every function that the host may run is known (its host code has updates, coherence.py),
or the call stands in a suspension; no memory that is kept dies unseen (presence.py); control leaves the data region at
its end, by a `return`, `break` or `continue` that ends it, or by an exception, on which the data region's guard ends
it.

A loop that cannot be a data region says why, and the loops inside it are tried; a run is cut at the statement that
stands in the way. Only outermost data regions matter: what an inner one keeps stays for the outer one.

Limits: no data region in a program that has handlers run at exit or by signals, that jumps between functions, or that
starts threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.loops.prepared import RunChange
from warpsmith.offload.fragments import OffloadRegion, OffloadRequest
from warpsmith.offload.memory.host_calls import HostCalls, leads_to_kernels
from warpsmith.offload.memory.presence import Lasting, Presence, Resident, element_kinds, find_short_lived
from warpsmith.offload.memory.rows import is_table
from warpsmith.offload.plan import DataRegion, RefusedDataRegion
from warpsmith.offload.regions.candidates import candidates
from warpsmith.offload.regions.coherence import Coherent, Insertions, updates
from warpsmith.offload.regions.needs import IncoherentError, Surroundings
from warpsmith.offload.regions.objects import (
    declared_last,
    frees,
    is_cxx,
    is_guarded,
    may_make_objects,
    owns_memory,
    unfit,
    with_frees,
)
from warpsmith.offload.regions.stack import (
    drop_lasting,
    find_kept_by_functions,
    find_not_yet_kept,
    outermost,
    with_lasting,
)
from warpsmith.offload.regions.versions_in_place import find_written_in_versions
from warpsmith.offload.transfers.flow import ProgramPoint, statement_runs
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.isl.space import shared_effort
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.nodes import (
    Break,
    Call,
    Continue,
    DataRegionBoundary,
    DataSuspension,
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

__all__ = ["DataRegionPlan", "find_data_regions", "plan_data_regions", "presence_of"]

_MOST_UPDATES: Final = 8
"""For each kernel, so many updates may stand in functions that run none."""

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


class DataRegionPlan(Struct, frozen=True):
    """The data regions, which functions run in one as a whole (`whole`), and what dies inside (`residents`, of every
    function with statements in a data region). `objects`: objects that own memory may be made and destroyed inside."""

    data_regions: tuple[DataRegion, ...]
    whole: frozenset[Function]
    residents: dict[Function, Resident]
    device: frozenset[Symbol]
    objects: bool = False

    def inside(self, function: Function) -> tuple[tuple[Stmt, ...], ...]:
        """Return the statements of `function` that run in a data region."""
        if function in self.whole:
            return ((function.body,),)
        return tuple(data_region.run for data_region in self.data_regions if data_region.function is function)


def presence_of(summaries: Summaries, ported: Sequence[tuple[Function, OffloadRegion]]) -> Presence:
    """Return what the offload regions of functions put on the device."""
    offload_regions = [offload_region for _, offload_region in ported]
    buffers = [
        buffer for offload_region in offload_regions for buffer in offload_region.buffers if not is_table(buffer)
    ]
    types = [b.symbol.type.to if isinstance(b.symbol.type, Pointer) else b.symbol.type for b in buffers]
    kinds = frozenset(kind for type in types for kind in element_kinds(type))
    written = {
        use.symbol
        for offload_region in offload_regions
        for draft in offload_region.drafts
        for use in draft.uses
        if use.written
    }
    changed = (b.symbol.type for b in buffers if b.host in written)
    newer = frozenset(k for t in changed for k in element_kinds(t.to if isinstance(t, Pointer) else t))
    hosts, allocations = frozenset(buffer.host for buffer in buffers), any(buffer.allocation for buffer in buffers)
    elements = frozenset(element_type(b.symbol.type) for b in buffers if not (b.allocation or b.cell or b.starts))
    objects = _find_objects(summaries, ported)
    return Presence(summaries, kinds, hosts, newer, allocations, elements, objects=objects)


def _find_objects(summaries: Summaries, ported: Sequence[tuple[Function, OffloadRegion]]) -> frozenset[Symbol] | None:
    """Return the variables of which offload regions may put something on the device: None where a pointer may lead to
    what its function does not know."""
    found: set[Symbol] = set()
    for function, offload_region in ported:
        where = summaries.provenance(function)
        for host in (buffer.host for buffer in offload_region.buffers):
            if not isinstance(host.type, Pointer):
                found.add(host)
                continue
            roots = where.roots.get(host, frozenset())
            if not roots or any(root.kind not in ("object", "fresh") for root in roots):
                return None
            found |= {root.symbol for root in roots if root.symbol is not None}
    return frozenset(found)


def find_data_regions(
    presence: Presence,
    ported: dict[Function, tuple[OffloadRegion, ...]],
    changes: Mapping[Function, Sequence[RunChange]],
    drop: Sequence[RefusedDataRegion] = (),
) -> DataRegionPlan | None:
    """Return the loops and runs that are worth a data region, without what is cut out by `drop`: None where there are
    none. `ported`: every function with its offload regions; `changes`: what steps have made of each."""
    summaries = presence.summaries
    device = leads_to_kernels(summaries, {f.symbol for f, offload_regions in ported.items() if offload_regions})
    if not device or _fatal(summaries) is not None:
        return None
    cuts = frozenset(stmt for refused in drop for stmt in refused.cuts)
    calls = HostCalls.of(summaries, _kernels(ported), device)
    hosts = {
        f: frozenset(b.host for offload_region in offload_regions for b in offload_region.buffers)
        for f, offload_regions in ported.items()
    }
    static = {f: frozenset(s for s in found if is_persistent(s)) for f, found in hosts.items()}
    found = (
        _with_changes(data_region, changes.get(function, ()))
        for function, offload_regions in ported.items()
        for data_region in candidates(function, offload_regions, calls, drop, static)
    )
    data_regions = tuple(
        data_region for data_region in found if data_region.loop is not None or cuts.isdisjoint(data_region.run)
    )
    if not data_regions:
        return None
    objects = may_make_objects(summaries.program, data_regions)
    inside, whole = _inside(calls, data_regions)
    watched = any(frees(s) for run in inside.values() for s in run) or (objects and any(map(owns_memory, inside)))
    first = outermost(calls, data_regions, (change for made in changes.values() for change in made))
    if watched:
        data_regions = tuple(with_frees(data_region, summaries, cuts) for data_region in data_regions)
        data_regions = tuple(
            with_lasting(data_region, presence, device) if data_region.function in first else data_region
            for data_region in data_regions
        )
        inside, whole = _inside(calls, data_regions)
    declared = (s for h in data_regions if not is_cxx(summaries.program, h.function) for s in declared_last(h.run))
    early = find_not_yet_kept(data_regions, presence, device)
    lasting = Lasting(frozenset(declared), frozenset(find_kept_by_functions(data_regions)), first, early)
    residents = find_short_lived(presence, inside, whole, lasting, watched=watched)
    return DataRegionPlan(data_regions, whole, residents, device, objects)


def _inside(
    calls: HostCalls, data_regions: Sequence[DataRegion]
) -> tuple[dict[Function, tuple[Stmt, ...]], frozenset[Function]]:
    """Return the statements of each function that run in a data region, and the functions that are called in one."""
    whole = calls.find_reached(stmt for data_region in data_regions for stmt in data_region.run)
    inside: dict[Function, tuple[Stmt, ...]] = {f: (f.body,) for f in whole}
    for data_region in data_regions:
        if data_region.function not in whole:
            inside[data_region.function] = (*inside.get(data_region.function, ()), *data_region.run)
    return inside, whole


def _with_changes(data_region: DataRegion, changes: Sequence[RunChange]) -> DataRegion:
    """Return a run that has all of what steps made of the user's text at its ends: it begins and ends beside that."""
    if data_region.loop is not None:
        return data_region
    first, last = data_region.run[0], data_region.run[-1]
    head = next((c.new for c in changes if any(stmt is first for stmt in c.new)), ())
    tail = next((c.new for c in changes if any(stmt is last for stmt in c.new)), ())
    before = itertools.takewhile(lambda stmt: stmt is not first, head)
    behind = list(itertools.dropwhile(lambda stmt: stmt is not last, tail))[1:]
    return DataRegion(data_region.function, (*before, *data_region.run, *behind), data_region.own)


def _kernels(offload_regions: Mapping[Function, tuple[OffloadRegion, ...]]) -> Iterator[Stmt]:
    """Yield the statements that run on the device."""
    return (
        s
        for found in offload_regions.values()
        for offload_region in found
        for draft in offload_region.drafts
        for s in draft.statements
    )


def plan_data_regions(
    plan: DataRegionPlan,
    requests: dict[Function, OffloadRequest],
    offload_regions: dict[Function, tuple[OffloadRegion, ...]],
    closed: Mapping[Function, Reason],
    lost: frozenset[Function],
) -> tuple[dict[Function, Coherent], tuple[RefusedDataRegion, ...]]:
    """Return what to insert into each function, or the data regions that are not possible, with the reason. To the text
    of those that are `closed` nothing can be added; in those that are `lost`, kernels are missing that there would be
    without data regions: a run is not worth that."""
    inserted: dict[Function, Coherent] = {}
    presence = next(iter(plan.residents.values())).presence
    calls = HostCalls.of(presence.summaries, _kernels(offload_regions), plan.device)
    reached = calls.find_reached(stmt for data_region in plan.data_regions for stmt in data_region.run)
    blamed = {f: _report_unprepared(f) for f in sorted(reached - plan.whole, key=lambda f: f.symbol.key)}
    for function in dict.fromkeys([*plan.whole, *(data_region.function for data_region in plan.data_regions)]):
        request, resident = requests[function], plan.residents[function]
        around = Surroundings(
            request, resident.presence, resident, offload_regions[function], plan.device, plan.objects
        )
        made = _coherent(plan, around)
        framed = any(data_region.function is function for data_region in plan.data_regions)
        if isinstance(made, Coherent) and function in closed and (framed or made.is_needed()):
            made = closed[function]
        if isinstance(made, Reason):
            blamed[function] = made
        else:
            inserted[function] = made
    blamed |= {} if blamed else _find_crowded(plan, inserted, offload_regions)
    refused = (*_refuse_data_regions(plan, calls, blamed, lost), *(_idle(plan, calls, inserted) if not blamed else ()))
    if not refused:
        watches = any(
            plan.residents[f].watches(f, b) for f in plan.residents for h in offload_regions[f] for b in h.buffers
        )
        for data_region in plan.data_regions:
            guard = (
                requests[data_region.function].names.fresh("ws_data")
                if is_guarded(presence.summaries.program, data_region)
                else ""
            )
            _frame(inserted[data_region.function].frames, data_region if watches else drop_lasting(data_region), guard)
    return inserted, refused


def _coherent(plan: DataRegionPlan, around: Surroundings) -> Coherent | Reason:
    """Return what to insert into one function, or why it cannot run in a data region."""
    function, made = around.function, Coherent()
    runs = plan.inside(function)
    statements = [stmt for run in runs for stmt in run]
    reason = unfit(function, statements, around.resident, whole=function in plan.whole, objects=plan.objects)
    if reason is not None:
        return reason
    try:
        with shared_effort(around.request.effort):
            for run in runs:
                updates(around, run, made)
    except IncoherentError as error:
        return error.reason
    ours = find_written_in_versions(around.offload_regions, around.request.changes)
    runs_of_stages = (h.run for h in plan.data_regions if h.function is function and h.loop is None)
    inside = {part for one in around.offload_regions for stmt in one.scope for part in walk(stmt)}
    left = (part for run in runs_of_stages for stmt in run for part in _leaving(stmt, ""))
    if (jump := next((part for part in left if part in ours or part in inside), None)) is not None:
        what = "what steps rewrote" if jump in ours else "kernels whose data are copied together"
        return Reason("POR018", f"control leaves {what}", jump.span)
    beside = any(place.node not in ours for place in made.inserted)
    if beside and not _is_written(around.request, function):
        text = f"'{function.symbol.name}' is defined in a header, which is not rewritten"
        if any(unit.has_text(function.span.file) for unit in around.request.program.units):
            text = f"'{function.symbol.name}' shares its text with what its template makes of other types"
        return Reason("POR018", text, function.symbol.span)
    return made


def _is_written(request: OffloadRequest, function: Function) -> bool:
    """Whether the function stands in a file of the program and not in a header."""
    return any(item is function for unit in request.program.units for item in unit.items)


def _report_unprepared(function: Function) -> Reason:
    """A kernel of the first plan is none any more, so that the host calls this function after all."""
    return Reason(
        "POR018", f"'{function.symbol.name}' is called by a loop that stays on the host", function.symbol.span
    )


def _find_crowded(
    plan: DataRegionPlan,
    inserted: Mapping[Function, Coherent],
    offload_regions: Mapping[Function, Sequence[OffloadRegion]],
) -> dict[Function, Reason]:
    """Return the functions without kernels of their own that data regions run in, if more updates would stand in them
    than the kernels are worth: nobody reads such a port."""
    kernels = sum(len(one.drafts) for found in offload_regions.values() for one in found)
    others = {f: len(inserted[f].inserted) for f in plan.whole if f in inserted and not offload_regions[f]}
    count = sum(others.values())
    if count <= _MOST_UPDATES * max(kernels, 1):
        return {}
    text = f"data would be brought up to date in {count} places of functions that run no kernel"
    return {f: Reason("POR018", text, f.symbol.span) for f, found in others.items() if found}


def _refuse_data_regions(
    plan: DataRegionPlan, calls: HostCalls, faults: Mapping[Function, Reason], lost: frozenset[Function]
) -> Iterator[RefusedDataRegion]:
    """Yield the data regions in which a function runs that cannot run in one."""
    fewer = {f: Reason("POR018", f"'{f.symbol.name}' would have fewer kernels", f.symbol.span) for f in lost}
    for data_region in plan.data_regions:
        blamed = faults if data_region.loop is not None else {**fewer, **faults}
        if data_region.function in blamed:
            reason = blamed[data_region.function]
            at = [stmt for stmt in data_region.run if reason.span is not None and stmt.span.contains(reason.span)]
            yield RefusedDataRegion(data_region, tuple(at or data_region.run), reason)
            continue
        bad = {stmt: next((f for f in calls.find_reached([stmt]) if f in blamed), None) for stmt in data_region.run}
        named = [f for f in bad.values() if f is not None]
        if named:
            yield RefusedDataRegion(
                data_region, tuple(stmt for stmt, f in bad.items() if f is not None), blamed[named[0]]
            )


def _idle(plan: DataRegionPlan, calls: HostCalls, inserted: dict[Function, Coherent]) -> Iterator[RefusedDataRegion]:
    """Yield the data regions that are of no use: loops of functions' own in which everything moves all the same
    (offload regions without a data region move no more), and runs with a suspension (what comes behind it begins
    anew). What moves only where the test of a step fails is not counted."""
    spare = frozenset[int]().union(*map(fallback_loops, inserted))
    for data_region in plan.data_regions:
        for stmt in data_region.run if data_region.own or data_region.loop is None else ():
            reached, inner = calls.find_reached([stmt]), set(walk(stmt))
            known = ((f, inserted[f].inserted) for f in (data_region.function, *reached) if f in inserted)
            mine = ((f, at, new) for f, found in known for at, new in found.items() if id(at.node) not in spare)
            met = ((at.node, added) for f, at, new in mine if f in reached or at.node in inner for added in new)
            bulk = next((added for at, added in met if _is_bulk(at, added, data_region)), None)
            if bulk is not None:
                unknown = "what runs there may free memory, or touch any"
                text = unknown if isinstance(bulk, DataSuspension) else "all data move"
                yield RefusedDataRegion(data_region, (stmt,), Reason("POR018", text, bulk.span))


def _is_bulk(at: Stmt, stmt: Stmt, data_region: DataRegion) -> bool:
    """Whether all that is on the device comes to the host; in a run that is done once, and what is there stays. Where
    an exception is thrown, nothing comes behind it."""
    if isinstance(stmt, DataSuspension):
        return not any(isinstance(part, VerbatimExpr) and part.reason == "throw" for part in walk(at))
    return data_region.own and isinstance(stmt, Update) and stmt.address is None


def _frame(frames: Insertions, data_region: DataRegion, guard: str) -> None:
    """Begin and end the data region, also where control leaves it early."""
    first, last = data_region.run[0], data_region.run[-1]
    span = data_region.loop.header if data_region.loop is not None else first.span
    begin = DataRegionBoundary(
        span=span, opens=True, cause=span, guard=guard, lasting=data_region.lasting, callers=data_region.callers
    )
    frames.setdefault(ProgramPoint("before", first), []).append(begin)
    ends = [
        ProgramPoint("after", last),
        *(ProgramPoint("before", p) for stmt in data_region.run for p in _leaving(stmt, inner="")),
    ]
    for place in ends:
        # each is a statement of its own: what a run copies is counted apart
        frames.setdefault(place, []).append(DataRegionBoundary(span=span, opens=False, cause=span, guard=guard))


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


# --- blockers


def _fatal(summaries: Summaries) -> str | None:
    """Return what the program does that no data region survives."""
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
