"""The search of one function for fragments: nests first, then the statements between them.

Invariant: fragments never overlap, and every loop whose verdict is Proved is in a fragment, inside one, or refused with
its reason; so is every reduction.

An outer loop goes before the loops inside it, parallel or reduction, but for a reduction that would need atomic updates
around a parallel loop, and one that two loops of the host would launch again and again for data that no other kernel
uses there. So does a parallel loop that never has more threads than a warp. What the user's own pragma sends to a
device is launched as often as the user has it launched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from msgspec import Struct, field

from warpsmith.base.verdict import Reason
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.offload.concurrency import no_port_here, run_concurrently
from warpsmith.offload.decisions import Decided
from warpsmith.offload.fragments import Draft, DraftChoice, OffloadRequest
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.plan import Fragment, Refusal
from warpsmith.offload.selection.nests import nest_at
from warpsmith.offload.selection.one_thread import find_disturbed, one_thread_at
from warpsmith.offload.selection.passes import passes_at
from warpsmith.offload.selection.scans import is_scan, scan_at
from warpsmith.offload.selection.singles import with_singles
from warpsmith.offload.uncalled import never_called
from warpsmith.offload.values.reductions import is_parallel, is_reduction
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Block, Case, For, Function, Node, Pragma, Stmt, While
from warpsmith.tree.walk import children, loops, walk

__all__ = ["choose", "failure_key"]

_WARP = 32
_LOOP_PRAGMAS = ("omp", "acc", "gcc", "clang", "unroll", "nounroll", "ivdep", "simd", "vector", "loop", "target")


class _Search(Struct):
    request: OffloadRequest
    selected: set[int] | None
    excluded: Mapping[int, Reason]
    decided: Decided
    drafts: list[Draft] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def failure_key(draft: Draft | Fragment) -> int:
    """Return what names a draft in the `excluded` of `choose`: the identity of its loop, or of its first statement."""
    return id(draft.statements[-1] if draft.kind == "nest" else draft.statements[0])


def choose(request: OffloadRequest, excluded: Mapping[int, Reason]) -> DraftChoice:
    """Return the fragments of the function of `request.facts`, in source order, and the refusals.

    `excluded` (by `failure_key`) has failed before: a nest is refused with that reason, a run stays on the host.
    """
    selected = request.options.selected
    inside = None if selected is None else {id(p) for loop in selected for p in walk(loop)}
    decided = Decided.of(request.program, request.facts.function, only=request.options.decided_only)
    search = _Search(request, inside, excluded, decided)
    one_build = request.options.one_build
    function = request.facts.function
    dead = never_called(request.program, function) if selected is None else None
    reason = dead or no_port_here(
        request.program, function, one_build=one_build, written=request.written, options=request.poly
    )
    if reason is not None:
        wanted = [f for f in request.facts.loops if _is_wanted(search, f)]
        refusals = [Refusal(f.id, reason) for f in wanted if _portable(f) or decided.is_for_one_thread(f.loop)]
        return DraftChoice((), tuple(refusals))
    concurrent = run_concurrently(request.program, request.facts.function, request.poly)
    spare = fallback_loops(request.facts.function)
    for facts, statements in _loops(request):
        if facts.loop in decided.passes and not _inside(search, facts):
            _take_passes(search, facts, statements, concurrent.get(id(facts.loop)))
            continue
        if decided.is_for_one_thread(facts.loop) and not _inside(search, facts):
            _take_for_one_thread(search, facts, statements, concurrent.get(id(facts.loop)))
            continue
        if not _is_wanted(search, facts) or not _portable(facts) or _inside(search, facts) or id(facts.loop) in spare:
            continue
        # A loop that OpenMP runs on many host threads may go as a whole; what is inside it may not go alone.
        around = excluded.get(id(facts.loop)) or concurrent.get(id(facts.loop)) or decided.stays(facts.loop)
        find = scan_at if is_scan(facts) else nest_at
        found = around if around is not None else find(request, facts, statements)
        if isinstance(found, Reason):
            search.refusals.append(Refusal(facts.id, found))
        else:
            search.drafts.append(found)
    _leave_out_disturbing(search)
    _leave_out_small(search)
    staying = decided.find_kept() | excluded.keys() | spare
    return DraftChoice(with_singles(request, search.drafts, staying), tuple(search.refusals))


def _take_passes(search: _Search, facts: LoopFacts, statements: tuple[Stmt, ...], concurrent: Reason | None) -> None:
    """Take a loop whose iterations are passes of a kernel, as a step says, or note why it cannot be."""
    failed = concurrent or search.excluded.get(id(facts.loop))
    found = failed or passes_at(search.request, facts, statements, search.decided.passes[facts.loop])
    if isinstance(found, Reason):
        search.refusals.append(Refusal(facts.id, found))
    else:
        search.drafts.append(found)


def _take_for_one_thread(
    search: _Search, facts: LoopFacts, statements: tuple[Stmt, ...], concurrent: Reason | None
) -> None:
    """Take a loop that one thread runs, as a step says, or note why it cannot be."""
    failed = concurrent or search.excluded.get(id(statements[0]))
    found = failed or one_thread_at(search.request, facts, statements)
    if isinstance(found, Reason):
        search.refusals.append(Refusal(facts.id, found))
    else:
        search.drafts.append(found)


def _leave_out_disturbing(search: _Search) -> None:
    """Refuse the loops for one thread that write variables which other kernels need otherwise."""
    for draft in [one for one in search.drafts if one.kind == "single"]:
        reason = find_disturbed(draft, [one for one in search.drafts if one is not draft])
        if reason is not None:
            search.drafts.remove(draft)
            search.refusals.append(Refusal(draft.region, reason))


def _portable(facts: LoopFacts) -> bool:
    return is_parallel(facts) or is_reduction(facts) or is_scan(facts)


def _leave_out_small(search: _Search) -> None:
    """Refuse the reductions, and the loops of a handful of threads, that two loops of the host would launch for data
    that no other kernel there uses."""
    sizes = search.request.options.sizes or {}
    small = [d for d in search.drafts if d.accumulators or d.scan is not None or _handful(d, sizes)]
    small = [d for d in small if not _sent_to_device(d)]
    for draft in small:
        around = _host_loops(search.request.facts.function, draft)
        if len(around) < 2 or search.decided.of_loop(draft.loops[0].loop) is not None:
            continue
        others = (d for d in search.drafts if d not in small and _holds(around[0], d))
        data = {u.symbol for d in others for u in d.uses if u.kind == "buffer"}
        if not data & {u.symbol for u in draft.uses if u.kind == "buffer"}:
            text = f"{len(around)} loops of the host would launch it, for data that no other kernel there uses"
            search.drafts.remove(draft)
            search.refusals.append(Refusal(draft.region, Reason("POR002", text, draft.loops[0].loop.header)))


def _handful(draft: Draft, sizes: Mapping[str, int]) -> bool:
    """Whether the draft certainly has no more threads than a warp."""
    trips = [trip_count(f.loop, sizes) if isinstance(f.loop, For) else None for f in draft.loops]
    return bool(trips) and all(t is not None for t in trips) and prod(t or 0 for t in trips) <= _WARP


def _sent_to_device(draft: Draft) -> bool:
    """Whether the user's own pragma in front of the loop launches it on a device: `teams` is what is left of a `target`
    construct without its data (OpenMP 5.2, 10.2)."""
    directives = (part.directive for part in draft.statements if isinstance(part, Pragma))
    return any(one is not None and one.family == "omp" and "teams" in one.words for one in directives)


def _host_loops(function: Function, draft: Draft) -> tuple[For | While, ...]:
    """Return the loops around the draft, outermost first."""
    return next(around for loop, around in loops(function.body) if loop is draft.loops[0].loop)


def _holds(loop: For | While, draft: Draft) -> bool:
    return any(part is draft.statements[-1] for part in walk(loop))


def _is_wanted(search: _Search, facts: LoopFacts) -> bool:
    asked = search.selected is None or id(facts.loop) in search.selected
    return asked or search.decided.of_loop(facts.loop) is not None


def _inside(search: _Search, facts: LoopFacts) -> bool:
    """Whether the loop is part of a fragment already chosen."""
    return any(loop is facts.loop for d in search.drafts for s in d.statements for loop, _ in loops(s))


def _loops(request: OffloadRequest) -> Iterator[tuple[LoopFacts, tuple[Stmt, ...]]]:
    """Yield every loop of the function, outer ones first, with the statements that a fragment of it replaces."""
    pending: list[tuple[Node, tuple[Stmt, ...]]] = [(request.facts.function.body, ())]
    while pending:
        node, pragmas = pending.pop()
        if isinstance(node, For | While):
            yield request.facts.of(node), (*pragmas, node)
        below: list[tuple[Node, tuple[Stmt, ...]]] = []
        before: tuple[Stmt, ...] = ()
        for child in children(node):
            below.append((child, before))
            before = (*before, child) if isinstance(child, Pragma) and _belongs_to_a_loop(node, child) else ()
        pending += reversed(below)


def _belongs_to_a_loop(parent: Node, pragma: Pragma) -> bool:
    if not isinstance(parent, Block | Case):
        return False
    if pragma.directive is not None:
        return not pragma.directive.stands_alone
    first, *words = pragma.text.replace("#", " ").split()
    return first == "pragma" and bool(words) and words[0].lower() in _LOOP_PRAGMAS
