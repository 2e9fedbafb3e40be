"""The plan of a port: fragments are chosen, given data, turned into kernels, and the host's text is rewritten around
them.

    function ──► drafts ──► offload regions (buffers, guards) ──► kernels, launches ──► copies ──► versions ──► program

Invariant: a draft either ends up in the program with a kernel, or in the refusals with its reason. What fails late (its
data cannot be sized, its text cannot be written) is taken out and the function is planned again without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.identity import Identity
from warpsmith.base.time_limit import time_left
from warpsmith.base.verdict import Reason
from warpsmith.loops.changed.changes import counterparts
from warpsmith.loops.prepared import Prepared, RunChange, as_written
from warpsmith.loops.versions import can_version, usable, version
from warpsmith.offload.data.named_extents import named_extents
from warpsmith.offload.data.residency import place
from warpsmith.offload.data.resident_regions import WAITS, resident_copies
from warpsmith.offload.findings import (
    cut_findings,
    decided_findings,
    order_findings,
    refused_findings,
    transfer_findings,
)
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.kernels import BuiltKernel, build
from warpsmith.offload.mapping.tiling import TilesRefusedError
from warpsmith.offload.memory.given import ordinary_findings, possible_data, program_with, resident_alone
from warpsmith.offload.names import Names
from warpsmith.offload.plan import (
    DataRegions,
    Fragment,
    InsertedStatements,
    OffloadOptions,
    Plan,
    Port,
    Refusal,
    RefusedDataRegion,
    Transfer,
)
from warpsmith.offload.regions.coherence import Coherent
from warpsmith.offload.regions.data_regions import find_data_regions, plan_data_regions, presence_of
from warpsmith.offload.regions.transfers import data_region_findings, data_region_transfers
from warpsmith.offload.regions.versions_in_place import beside, find_written_in_versions, versions_in_place
from warpsmith.offload.selection.choice import choose, failure_key
from warpsmith.offload.transfers.captures import with_captures
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.offload.transfers.known_sizes import shorten_sizes
from warpsmith.offload.transfers.splice import splice
from warpsmith.offload.transfers.transfers import insert
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import Effort, shared_effort
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.memory.given import MANAGED, PINNED
from warpsmith.tree.nodes import Block, Function, If, Stmt
from warpsmith.tree.nodes import replace as replace_node
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["DraftPort", "FunctionPlan", "draft_port", "plan_function", "plan_port"]

# what of options is compared by its value
_PLAIN = (bool, int, str, tuple, type(None))


class DraftPort(Struct, frozen=True):
    """The fragments of a port, and the steps whose guards none of them tests."""

    fragments: tuple[Fragment, ...]
    uncovered: tuple[RunChange, ...]


class _Planned(Struct, frozen=True):
    """One function, planned; `cut`: more simply than it might be, since some questions were too much work."""

    original: Function
    function: Function
    offload_regions: tuple[OffloadRegion, ...]
    built: tuple[BuiltKernel, ...]
    transfers: tuple[Transfer, ...]
    refusals: tuple[Refusal, ...]
    versions: tuple[Versioned, ...] = ()
    replaced: tuple[tuple[tuple[Stmt, ...], tuple[Stmt, ...]], ...] = ()
    moved: Mapping[OffloadRegion, tuple[Stmt, ...]] = field(default_factory=dict)
    cut: bool = False


class FunctionPlan(Struct, frozen=True):
    """The fragments of one function, and why other parallel loops of it stay on the host."""

    fragments: tuple[Fragment, ...]
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
    closed: Mapping[Function, Reason] | None = None,
) -> Port:
    """Return the ported program with its plan, and the two programs with captures.

    `unwritable` are fragments of an earlier plan which the target cannot express: they stay on the host. Every loop
    that `options.selected` asks for and that no kernel serves gives an error finding. `prepared`: the steps that
    `program` has behind it; where a guard of theirs fails, the user's own loops run. `closed`: functions to whose text
    nothing can be added beside their kernels, with the reason.
    """
    changes = prepared.changes() if prepared is not None else ()
    summaries = _summaries_of(program, facts)
    options, unshared = possible_data(program, summaries, options)
    planned, requests = _plan_functions(program, facts, options, poly_options, unwritable, prepared=prepared)
    planned, decided = _with_data_regions(planned, requests, unwritable, closed or {})
    ported = _apply_plan(program, planned)
    shared = options.data == "managed" and any(found.built for found in planned)
    if any(found.built for found in planned):
        ported = program_with(ported, MANAGED if shared else PINNED if options.pinned else {})
        ported = replace(ported, pinned=options.pinned)
    offload_regions = tuple(offload_region for found in planned for offload_region in found.offload_regions)
    waits = WAITS if options.overlap else ""
    updates = (replace(one, waits=waits) for one in data_region_transfers(decided, shared=shared))
    plan = Plan(
        fragments=tuple(built.fragment for found in planned for built in found.built),
        buffers=tuple(buffer for offload_region in offload_regions for buffer in offload_region.buffers),
        transfers=(*(transfer for found in planned for transfer in found.transfers), *updates),
        refusals=tuple(refusal for found in planned for refusal in found.refusals),
        findings=(),
    )
    refused = (*refused_findings(facts.functions, plan, options), *decided_findings(program, facts.functions, plan))
    moved = [transfer for transfer in plan.transfers if not transfer.unless_shared]
    slow = (*transfer_findings(_find_left(planned, decided), moved), *data_region_findings(decided))
    if (shared or options.pinned) and any(found.built for found in planned):
        unshared += tuple(ordinary_findings(ported, _find_hosts(planned), shared=shared))
    cut = {f.original.symbol for f in planned if f.cut}.union(prepared.cut if prepared is not None else ())
    order = order_findings(offload_regions, plan.fragments)
    findings = (*refused, *order, *slow, *unshared, *cut_findings(program, cut))
    reference, candidate = with_captures(_comparable(program, planned, changes, summaries), ported, offload_regions)
    uncovered = tuple(_find_uncovered(changes, offload_regions))
    versions = tuple(v for found in planned for v in found.versions)
    groups = tuple(_group_fragments(planned, decided))
    finished, written = replace(plan, findings=findings), prepared.original.program if prepared is not None else program
    said = shorten_sizes(ported), shorten_sizes(candidate)
    return Port(said[0], finished, reference, said[1], written, uncovered, versions, decided.inserted, groups)


def draft_port(
    program: Program,
    facts: Facts,
    options: OffloadOptions,
    poly_options: PolyOptions,
    unwritable: Unwritable = (),
    *,
    prepared: Prepared,
) -> DraftPort:
    """Return what `plan_port` begins with: no data regions are looked for, and nothing is written. What of it can be
    used for the plan itself is not worked out again."""
    options, _ = possible_data(program, _summaries_of(program, facts), options)
    planned, _ = _plan_functions(program, facts, options, poly_options, unwritable, prepared=prepared)
    offload_regions = [offload_region for found in planned for offload_region in found.offload_regions]
    fragments = tuple(built.fragment for found in planned for built in found.built)
    return DraftPort(fragments, tuple(_find_uncovered(prepared.changes(), offload_regions)))


def plan_function(program: Program, facts: Facts, function: Function, options: OffloadOptions) -> FunctionPlan:
    """Return what becomes of one function of the program, as it is."""
    summaries = _summaries_of(program, facts)
    options, _ = possible_data(program, summaries, options)
    resident = resident_alone(function, summaries, options)
    names = Names(program)
    request = OffloadRequest(
        program, facts.of(function), options, facts.options, names.scope(), summaries, (), resident, written=program
    )
    found = _function(request, names, {})
    return FunctionPlan(tuple(built.fragment for built in found.built), found.refusals)


def _summaries_of(program: Program, facts: Facts) -> Summaries:
    return facts.summaries if facts.program is program else Summaries.of(program)


def _plan_functions(
    program: Program,
    facts: Facts,
    options: OffloadOptions,
    poly_options: PolyOptions,
    unwritable: Unwritable,
    *,
    prepared: Prepared | None,
) -> tuple[list[_Planned], list[OffloadRequest]]:
    """Return the functions planned each for itself, and what was asked for each."""
    names, summaries = Names(program), _summaries_of(program, facts)
    changes = prepared.changes() if prepared is not None else ()
    written = prepared.original.program if prepared is not None else program
    kernels: list[str] = []
    planned: list[_Planned] = []
    requests: list[OffloadRequest] = []
    for function in facts.functions:
        mine = tuple(c for c in changes if c.function == function.function.symbol)
        resident = resident_alone(function.function, summaries, options)
        request = OffloadRequest(
            program, function, options, poly_options, names.scope(), summaries, mine, resident, written=written
        )
        failed = _find_failed(function.function, unwritable)
        found, effort = _remember_planned(request, names, failed, tuple(kernels))
        taken = [built.fragment.kernel.name for built in found.built]
        names.reserve(taken)
        kernels += taken
        planned.append(found)
        requests.append(replace(request, effort=Effort(effort)))
    return planned, requests


def _remember_planned(
    request: OffloadRequest, names: Names, failed: Mapping[int, tuple[str, Reason]], kernels: tuple[str, ...]
) -> tuple[_Planned, int]:
    """Return one function planned, and how many of its questions were too much work; `kernels`: the names of those
    before, which with the program's own decide on new names."""
    known = request.summaries or Summaries.of(request.program)
    asked = tuple(value if isinstance(value, _PLAIN) else Identity(value) for value in astuple(request.options))
    why = frozenset((key, region, reason.rule, reason.text) for key, (region, reason) in failed.items())
    question = ("planned", request.facts.function, Identity(request.written), asked, request.poly, request.changes,
                why, kernels)  # fmt: skip

    def plan() -> tuple[_Planned, int]:
        found = _function(request, names, failed)
        return found, request.effort.given_up

    return known.remember(question, plan)


def _find_left(planned: Sequence[_Planned], decided: DataRegions) -> Iterator[OffloadRegion]:
    """Yield the offload regions whose data no data region keeps on the device."""
    inside = {part for data_region in decided.data_regions for stmt in data_region.run for part in walk(stmt)}
    for found in planned:
        if found.original not in decided.whole:
            yield from (
                offload_region for offload_region in found.offload_regions if offload_region.scope[0] not in inside
            )


def _find_hosts(planned: Sequence[_Planned]) -> Iterator[tuple[Function, Symbol]]:
    """Yield the variables that lead to the arrays which kernels touch, each with its function."""
    for found in planned:
        for offload_region in found.offload_regions:
            yield from ((found.original, b.host) for b in offload_region.buffers if not b.cell)


def _group_fragments(planned: Sequence[_Planned], decided: DataRegions) -> Iterator[tuple[Fragment, ...]]:
    """Yield the fragments of each offload region; those in data regions, between which data stay, are one group."""
    left = {id(offload_region) for offload_region in _find_left(planned, decided)}
    held: list[Fragment] = []
    for found in planned:
        for offload_region in found.offload_regions:
            own = {id(draft.statements[0]) for draft in offload_region.drafts}
            fragments = [built.fragment for built in found.built if id(built.fragment.statements[0]) in own]
            if id(offload_region) in left:
                yield tuple(fragments)
            else:
                held += fragments
    if held:
        yield tuple(held)


def _find_failed(function: Function, unwritable: Unwritable) -> dict[int, tuple[str, Reason]]:
    """Return the fragments of a function that an earlier plan could not write."""
    mine = (pair for pair in unwritable if pair[0].function is function)
    return {failure_key(fragment): (fragment.region, reason) for fragment, reason in mine}


def _with_data_regions(
    planned: list[_Planned], requests: list[OffloadRequest], unwritable: Unwritable, closed: Mapping[Function, Reason]
) -> tuple[list[_Planned], DataRegions]:
    """Return the functions planned again where loops may keep data on the device between calls."""
    if not requests or requests[0].options.transfers != "optimized" or requests[0].options.data == "per-call":
        return planned, DataRegions()
    if not time_left():
        return [replace(found, cut=found.cut or bool(found.built)) for found in planned], DataRegions()
    program, summaries = requests[0].program, requests[0].summaries or Summaries.of(requests[0].program)
    presence = presence_of(summaries, [(found.original, one) for found in planned for one in found.offload_regions])
    refused: list[RefusedDataRegion] = []
    while True:
        changes = {f.original: r.changes for f, r in zip(planned, requests, strict=True)}
        wanted = find_data_regions(
            presence, {found.original: found.offload_regions for found in planned}, changes, refused
        )
        if wanted is None:
            return planned, DataRegions(refused=tuple(refused))
        names = Names(program)
        names.reserve(b.fragment.kernel.name for f in planned if f.original not in wanted.residents for b in f.built)
        again: list[_Planned] = []
        for found, request in zip(planned, requests, strict=True):
            resident = wanted.residents.get(found.original)
            if resident is not None:
                renewed = replace(request, names=names.scope(), resident=resident)
                found = _function(renewed, names, _find_failed(found.original, unwritable))
                names.reserve(built.fragment.kernel.name for built in found.built)
            again.append(found)
        offload_regions = {found.original: found.offload_regions for found in again}
        asked = {f.original: r for f, r in zip(again, requests, strict=True)}
        lost = frozenset(new.original for old, new in zip(planned, again, strict=True) if _nests(new) < _nests(old))
        inserted, more = plan_data_regions(wanted, asked, offload_regions, closed, lost)
        if not more:
            added = tuple(
                new for found in again for new in _insert_statements(found, inserted, changes[found.original])
            )
            decided = DataRegions(wanted.data_regions, wanted.whole, added, tuple(refused))
            return [_with_insertions(f, inserted.get(f.original), changes[f.original]) for f in again], decided
        refused += more


def _nests(found: _Planned) -> int:
    """Return how many nests are kernels."""
    return sum(built.fragment.kind == "nest" for built in found.built)


def _with_insertions(found: _Planned, coherent: Coherent | None, changes: Sequence[RunChange]) -> _Planned:
    """Return a planned function with statements added between its own, and in the fallbacks of its offload regions."""
    if coherent is None or not (coherent.all() or coherent.fallbacks):
        return found
    body = found.original.body
    run = rewritten_run(body.statements, Edits({}, coherent.all()))
    added = replace_node(found.original, body=replace_node(body, statements=run))
    around = {offload_region.scope[0]: coherent.around(offload_region) for offload_region in coherent.fallbacks}
    replaced = [(old, _in_fallback(new, around[old[0]]) if old[0] in around else new) for old, new in found.replaced]
    versions = tuple(versions_in_place(found.original, found.moved, replaced, changes, coherent))
    return replace(found, function=splice(added, replaced), versions=versions)


def _in_fallback(versioned: tuple[Stmt, ...], around: tuple[tuple[Stmt, ...], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """Return `if (guards) ported else original` with statements around the original."""
    (chosen,) = versioned
    assert isinstance(chosen, If) and isinstance(chosen.other, Block)
    statements = (*around[0], *chosen.other.statements, *around[1])
    return (replace_node(chosen, other=replace_node(chosen.other, statements=statements)),)


def _insert_statements(
    found: _Planned, inserted: Mapping[Function, Coherent], changes: Sequence[RunChange]
) -> Iterator[InsertedStatements]:
    """Yield what is added between the statements of one function."""
    if found.original not in inserted:
        return
    made = find_written_in_versions(found.moved, changes)
    user = counterparts(changes[0].written, changes[0].rewritten) if changes else {}
    decided = inserted[found.original]
    for at, statements in decided.inserted.items():
        yield InsertedStatements(
            found.original, at.where, at.node, tuple(statements), at.node in made, user.get(at.node)
        )
    for at, statements in decided.frames.items():
        outer = beside(changes, at)
        inside = at.node in made and outer is None
        yield InsertedStatements(
            found.original, at.where, at.node, tuple(statements), inside, outer or user.get(at.node)
        )


def _comparable(
    program: Program, planned: Sequence[_Planned], changes: Sequence[RunChange], summaries: Summaries
) -> Program:
    """Return the program as the port is compared with it: where steps rewrote an offload region's loops, the same
    guards and the steps' own choose between what the steps made and what the user wrote."""
    for found in planned:
        mine = [c for c in changes if c.function == found.original.symbol]
        rewritten = [
            offload_region
            for offload_region in found.offload_regions
            if any(c.stands_in(offload_region.scope) for c in mine)
        ]
        versions: list[tuple[tuple[Stmt, ...], tuple[Stmt, ...]]] = []
        for offload_region in rewritten:
            own = (a for c in mine if c.stands_in(offload_region.scope) for a in c.assumptions)
            testable = (
                a
                for a in own
                if a.condition is not None
                and usable(program, found.original, a.condition, offload_region.scope, summaries)
            )
            written = as_written(offload_region.scope, mine)
            versions.append(
                (offload_region.scope, version(written, offload_region.scope, (*offload_region.guards, *testable)))
            )
        if versions:
            program = program.with_function(found.original, splice(found.original, versions))
    return program


def _find_uncovered(changes: Sequence[RunChange], offload_regions: Sequence[OffloadRegion]) -> Iterator[RunChange]:
    """Yield the changes that need a guard and stand in no offload region that tests it."""
    for change in changes:
        guarded = any(assumption.kind == "guarded" for assumption in change.assumptions)
        if guarded and not any(change.stands_in(offload_region.scope) for offload_region in offload_regions):
            yield change


def _apply_plan(program: Program, planned: Sequence[_Planned]) -> Program:
    ported = program
    for found in planned:
        if found.function is not found.original:
            ported = ported.with_function(found.original, found.function)
    kernels = tuple(built.fragment.kernel for found in planned for built in found.built)
    guards = dict.fromkeys(
        guard for found in planned for offload_region in found.offload_regions for guard in offload_region.guards
    )
    return replace(ported, kernels=kernels, assumptions=tuple(guards))


def _function(request: OffloadRequest, names: Names, failed: Mapping[int, tuple[str, Reason]]) -> _Planned:
    """Plan one function: again from the start without what failed, until nothing fails."""
    failures = dict(failed)
    with shared_effort(request.effort) as effort:
        while True:
            attempt = replace(request, names=names.scope())
            excluded = {key: reason for key, (_, reason) in failures.items()}
            choice = choose(attempt, excluded)
            outcome = _attempt(attempt, choice.drafts)
            if isinstance(outcome, _Planned):
                return replace(outcome, refusals=choice.refusals, cut=outcome.cut or effort.given_up > 0)
            failures |= {failure_key(draft): (draft.region, reason) for draft, reason in outcome}


_Failures = tuple[tuple[Draft, Reason], ...]


def _attempt(request: OffloadRequest, drafts: tuple[Draft, ...]) -> _Planned | _Failures:
    """Return the function with all of `drafts` as kernels, or the drafts that block it (never none)."""
    function = request.facts.function
    if not drafts:
        return _Planned(function, function, (), (), (), ())
    placement = place(request, drafts)
    if placement.failures:
        return placement.failures
    unguarded = tuple(
        failure for offload_region in placement.offload_regions for failure in _find_unguarded(offload_region)
    )
    if unguarded:
        return unguarded
    built: dict[Draft, BuiltKernel] = {}
    failed: list[tuple[Draft, Reason]] = []
    for offload_region in placement.offload_regions:
        for draft in offload_region.drafts:
            try:
                name = request.names.fresh(f"ws_{function.symbol.name}_k{len(built) + 1}")
                built[draft] = build(request, offload_region, draft, name)
            except RefusedError as error:
                failed.append((draft, _reason(error)))
    if failed:
        return tuple(failed)
    return replace(_assemble_plan(request, placement.offload_regions, built), cut=placement.cut)


def _reason(error: RefusedError) -> Reason:
    if isinstance(error, TilesRefusedError):
        return error.reason
    found = error.findings[0]
    return Reason(found.rule, found.message, found.span, legal_if=found.help)


def _find_unguarded(offload_region: OffloadRegion) -> Iterator[tuple[Draft, Reason]]:
    """Yield the drafts of an offload region whose guards cannot be tested where they must be."""
    guards = [a for a in offload_region.guards if a.kind == "guarded"]
    untested = next((a for a in guards if a.condition is None), None)
    if untested is None and (not guards or can_version(offload_region.scope)):
        return
    why = "a jump or a static variable" if untested is None else f"the assumption '{untested.text}'"
    for draft in offload_region.drafts:
        span = draft.statements[-1].span
        yield draft, Reason("POR008", f"the code would need a run-time test, which {why} does not allow", span)


def _assemble_plan(
    request: OffloadRequest, offload_regions: tuple[OffloadRegion, ...], built: Mapping[Draft, BuiltKernel]
) -> _Planned:
    function = request.facts.function
    transfers: list[Transfer] = []
    replaced: list[tuple[tuple[Stmt, ...], tuple[Stmt, ...]]] = []
    ported: dict[OffloadRegion, tuple[Stmt, ...]] = {}
    for offload_region in offload_regions:
        place_copies = resident_copies if offload_region.resident else insert
        moved = place_copies(request, offload_region, {draft: built[draft].launch for draft in offload_region.drafts})
        transfers += moved.transfers
        written = as_written(offload_region.scope, request.changes)
        statements = named_extents(moved.statements, request.names, function.symbol)
        replaced.append((offload_region.scope, version(written, statements, offload_region.guards)))
        ported[offload_region] = statements
    new = splice(function, replaced)
    done = tuple(built.values())
    versions = tuple(versions_in_place(function, ported, replaced, request.changes))
    return _Planned(function, new, offload_regions, done, tuple(transfers), (), versions, tuple(replaced), ported)
