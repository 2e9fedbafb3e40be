"""Where the data of the fragments live: which scope each fragment's buffers have.

    double *B = malloc(n * …);        offload region: from the first to the last fragment of the function, so that data
    stay on for (t …) {                             the device between kernels
        kernel(A, B);                 A's buffer: the whole offload region        B's buffer: from behind its malloc
        kernel(B, A);
    }

Invariant: a buffer's section contains every element that a fragment in its scope may touch, its bounds are computable
where the scope is entered and do not change inside it, and the host pointer keeps its value there. Two buffers of a
offload region, one of them written by a kernel, are distinct objects, by proof or by a guard of the offload region.

An offload region is as large as it can be: the whole run of statements between the first and the last fragment; where
that fails (a size that changes inside, a pointer that moves, a jump, a guard that cannot be tested at the entry), as
many of the first fragments as go together; and inside a loop or branch where even one statement is too much. Where data
shall be on the device for one fragment alone, each has an offload region of its own from the start.

Limits: one buffer an object an offload region; directly in a case of a switch an offload region has one fragment; none
is around a jump. Where questions of a function have spent their work budget often, or a share of time is up, each of
its further fragments has an offload region of its own, and fragments that are too much to read are not tried together
(`Placement.cut`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.base.time_limit import time_left
from warpsmith.base.verdict import Reason
from warpsmith.loops.versions import can_version, usable
from warpsmith.offload.data.buffers import BufferFinder, Found, apart_text
from warpsmith.offload.data.resident_regions import host_between
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.flow import statement_runs
from warpsmith.poly.aliasing.aliasing import different_allocations_text
from warpsmith.poly.claimed import marked_statements
from warpsmith.poly.facts import reading, statement_spans
from warpsmith.poly.regions.satisfiable import guard_sample
from warpsmith.tree.nodes import (
    Block,
    Call,
    DeclStmt,
    ExprStmt,
    For,
    Index,
    Member,
    Name,
    Pragma,
    Stmt,
    Switch,
    Unary,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.printing.computed import is_computed
from warpsmith.tree.program import Assumption
from warpsmith.tree.text.places import is_balanced
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, same, walk

__all__ = ["Placement", "place"]

_JUMPS = frozenset({"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"})
_ACCESSES = (Index, Member, Unary, Call, Verbatim, VerbatimExpr)
_MOST_GIVEN_UP = 3
# what may be read of the scopes that are tried for several fragments, once for every object
_MOST_READ = 1_000_000
# what leaves no switch that it stands in
_WHOLE = (DeclStmt, ExprStmt, For, While, Pragma)


class Placement(Struct, frozen=True):
    """Offload regions in source order; `failures` are the drafts whose data can have no offload region, with the reason
    and remedy; `cut`: not all were tried together that might be."""

    offload_regions: tuple[OffloadRegion, ...]
    failures: tuple[tuple[Draft, Reason], ...]
    cut: bool = False


def place(request: OffloadRequest, drafts: tuple[Draft, ...]) -> Placement:
    """Give every draft an offload region, or say why it can have none."""
    search = _Search(request, drafts)
    search.settle(request.facts.function.body.statements, drafts)
    return Placement(tuple(search.offload_regions), tuple(search.failures), search.cut or search.apart)


class _Item(Struct, frozen=True):
    """Statements first … last of a run that hold `drafts`: one fragment, or one statement with fragments inside."""

    first: int
    last: int
    drafts: tuple[Draft, ...]


class _Search:
    def __init__(self, request: OffloadRequest, drafts: tuple[Draft, ...]) -> None:
        self.request = request
        self.finder = BufferFinder(request)
        self.read = 0
        self.cut = False
        self.offload_regions: list[OffloadRegion] = []
        self.failures: list[tuple[Draft, Reason]] = []
        self.around = {
            draft: frozenset(_statements_around(request.facts.function.body, draft.statements[0])) for draft in drafts
        }

    @property
    def apart(self) -> bool:
        """Whether questions about fragments together have been too much work, or there is no time for them."""
        return self.finder.given_up >= _MOST_GIVEN_UP or not time_left()

    def settle(self, run: tuple[Stmt, ...], drafts: Sequence[Draft]) -> None:
        """Find offload regions for the drafts below `run`."""
        items = self.items(run, drafts)
        while items:
            alone = self.apart or self.request.options.data == "per-call"
            if alone and not self.is_fragment(run, items[0]):
                first = run[items[0].first]
                self.descend(first, items[0].drafts, _report_given_up(first) if self.apart else _report_alone(first))
                items = items[1:]
                continue
            count, outcome = self.attempt(run, items, 1) if alone else self.largest(run, items)
            if isinstance(outcome, OffloadRegion):
                self.offload_regions.append(outcome)
            elif self.is_fragment(run, items[0]):
                self.failures += [(draft, outcome) for draft in items[0].drafts]
            else:
                self.descend(run[items[0].first], items[0].drafts, outcome)
            items = items[count:]

    def descend(self, stmt: Stmt, drafts: Sequence[Draft], why: Reason) -> None:
        """Look for offload regions inside one statement."""
        for inner in statement_runs(stmt):
            inside = [d for d in drafts if any(s in self.around[d] for s in inner)]
            if not inside:
                continue
            if isinstance(stmt, Switch):
                self.settle_case(inner, inside, why)
            else:
                self.settle(inner, inside)

    def settle_case(self, run: tuple[Stmt, ...], drafts: Sequence[Draft], why: Reason) -> None:
        """Find offload regions in a case of a switch, one for each fragment: control enters between statements, and
        leaves so."""
        for item in self.items(run, drafts):
            if not self.is_fragment(run, item):
                self.descend(run[item.first], item.drafts, why)
                continue
            _, outcome = self.attempt(run, [item], 1)
            if isinstance(outcome, OffloadRegion) and not all(isinstance(s, _WHOLE) for s in outcome.scope):
                text = "the data of a fragment directly in a case of a switch have no place"
                outcome = Reason("POR008", text, outcome.scope[0].span, legal_if=("put braces around the loop",))
            if isinstance(outcome, OffloadRegion):
                self.offload_regions.append(outcome)
            else:
                self.failures += [(draft, outcome) for draft in item.drafts]

    def items(self, run: tuple[Stmt, ...], drafts: Sequence[Draft]) -> list[_Item]:
        """Return the statements of `run` that hold drafts, in order."""
        places: dict[tuple[int, int], list[Draft]] = {}
        for draft in drafts:
            first = next(i for i, s in enumerate(run) if s in self.around[draft])
            whole = run[first] is draft.statements[0]
            places.setdefault((first, first + (len(draft.statements) if whole else 1) - 1), []).append(draft)
        return [_Item(first, last, tuple(found)) for (first, last), found in sorted(places.items())]

    def is_fragment(self, run: tuple[Stmt, ...], item: _Item) -> bool:
        """Whether the item is a fragment itself, so that no smaller scope is left."""
        return any(run[item.first] is draft.statements[0] for draft in item.drafts)

    def largest(self, run: tuple[Stmt, ...], items: list[_Item]) -> tuple[int, OffloadRegion | Reason]:
        """Return how many of the first items go together, and their offload region; (1, why not) where not even one
        does."""
        count, outcome = self.attempt(run, items, len(items))
        if isinstance(outcome, OffloadRegion) or len(items) == 1:
            return count, outcome
        best: tuple[int, OffloadRegion | Reason] = self.attempt(run, items, 1)
        if not isinstance(best[1], OffloadRegion):
            return 1, best[1]
        too_many, step = len(items), 1
        while best[0] + 1 < too_many:
            more = best[0] + min(step, (too_many - best[0]) // 2)
            tried = self.attempt(run, items, more)
            best, too_many = (tried, too_many) if isinstance(tried[1], OffloadRegion) else (best, more)
            step *= 2
        return best

    def attempt(self, run: tuple[Stmt, ...], items: list[_Item], count: int) -> tuple[int, OffloadRegion | Reason]:
        """Try to give the first `count` items one offload region; it grows until nothing that it declares is used
        behind it.

        The number returned is how many items it took then.
        """
        first, last = items[0].first, items[count - 1].last
        if count > 1 and is_computed(run[first]):
            first -= 1  # the declaration that it is the rest of
        while True:
            first, last = self.around_changes(run, first, last)
            needed = _last_use_of_declared(run, first, last)
            count = max(count, sum(1 for item in items if item.first <= needed))
            needed = max(needed, items[count - 1].last)
            if needed == last:
                break
            last = needed
        drafts = tuple(draft for item in items[:count] for draft in item.drafts)
        return count, self.offload_region(run[first : last + 1], drafts)

    def around_changes(self, run: tuple[Stmt, ...], first: int, last: int) -> tuple[int, int]:
        """Return the part of `run` from `first` to `last`, grown to hold all of what steps rewrote under a guard."""
        for change in self.request.changes:
            places = [i for i, stmt in enumerate(run) if any(stmt is new for new in change.new)]
            if change.assumptions and places and places[0] <= last and first <= places[-1]:
                first, last = min(first, places[0]), max(last, places[-1])
        return first, last

    def offload_region(self, scope: tuple[Stmt, ...], drafts: tuple[Draft, ...]) -> OffloadRegion | Reason:
        """Return the offload region of `drafts` with exactly this scope, or why there is none."""
        blocked = _jump_in(scope) or _threads_in(scope, drafts)
        if blocked is not None:
            return blocked
        objects = {use.symbol for draft in drafts for use in draft.uses if use.kind != "value"}
        size = sum(map(reading, scope)) * len(objects)
        if len(drafts) > 1 and self.read + size > _MOST_READ:
            self.cut = True
            return _report_given_up(scope[0])
        self.read += size
        found = self.finder.find(scope, drafts, self.around)
        if isinstance(found, Reason):
            return found
        rewritten = self.rewrite_steps(scope, drafts)
        if isinstance(rewritten, Reason):
            return rewritten
        if self.request.resident is not None and len(drafts) > 1 and (more := _new_guard(found, drafts)) is not None:
            # Offload regions that share the device through the present table lose nothing when they are smaller.
            return Reason("POR008", f"together the kernels would need '{more.text}'", statement_spans(scope))
        by_steps, elsewhere = rewritten
        own = [*by_steps, *(a for d in drafts for a in d.assumptions)]
        kept = (a for a in own if not _is_implied(a, found.buffers, found.assumptions))
        guards = _distinct([*elsewhere, *kept, *found.assumptions])
        untestable = self.untestable(scope, guards)
        if untestable is not None:
            return untestable
        sizes = self.sizes(scope, guards)
        if isinstance(sizes, Reason):
            return sizes
        offload_region = OffloadRegion(
            scope, drafts, found.buffers, guards, found.covers, self.request.resident is not None, sizes
        )
        between = host_between(self.request, offload_region) if offload_region.resident else None
        return offload_region if between is None else between

    def rewrite_steps(
        self, scope: tuple[Stmt, ...], drafts: tuple[Draft, ...]
    ) -> tuple[tuple[Assumption, ...], tuple[Assumption, ...]] | Reason:
        """Return what the steps inside `scope` rest on: first where all memory that they speak of is touched by kernels
        of the offload region, then where the host touches some; a scope inside what they rewrote would come too
        late."""
        in_kernels: list[Assumption] = []
        elsewhere: list[Assumption] = []
        inside = {part for draft in drafts for stmt in draft.statements for part in walk(stmt)}
        for change in self.request.changes:
            if change.assumptions and change.stands_in(scope):
                accesses = any(isinstance(part, _ACCESSES) and part not in inside for part in change.parts())
                (elsewhere if accesses else in_kernels).extend(change.assumptions)
            elif change.assumptions and any(s in change.parts() for s in scope):
                text = "the steps' condition must be tested around all that they rewrote"
                return Reason("POR008", text, statement_spans(change.new))
        return tuple(in_kernels), tuple(elsewhere)

    def sizes(self, scope: tuple[Stmt, ...], guards: Sequence[Assumption]) -> Mapping[str, int] | Reason:
        """Return sizes for which the guards hold while the loops of `scope` run long, or that there are none: then the
        kernels would never be launched."""
        request = self.request
        function, summaries = request.facts.function, request.summaries
        answer = guard_sample(request.program, function, scope, guards, request.poly, summaries=summaries)
        if answer.sizes is not None:
            return answer.sizes
        conditions = " and ".join(f"'{guard.text}'" for guard in guards if guard.kind == "guarded")
        text = f"the kernels would need {conditions}, which no sizes are known to meet at which the loops run long"
        return Reason("POR008", text, statement_spans(scope))

    def untestable(self, scope: tuple[Stmt, ...], guards: Sequence[Assumption]) -> Reason | None:
        """Return why a guard cannot be tested where `scope` is entered."""
        program, function, summaries = self.request.program, self.request.facts.function, self.request.summaries
        guarded = [g for g in guards if g.kind == "guarded"]
        if guarded and is_computed(scope[0]):
            text = f"'{guarded[0].text}' would be tested inside a declaration"
            return Reason("POR008", text, scope[0].span, legal_if=("assign the value in a statement of its own",))
        for guard in guarded:
            if guard.condition is None or not usable(program, function, guard.condition, scope, summaries):
                text = f"'{guard.text}' cannot be tested before the region: what it reads changes inside"
                return Reason("POR008", text, guard.span or statement_spans(scope))
        if guarded and not can_version(scope):
            text = "the code would need a run-time test, but it cannot stand twice (a jump or a static variable)"
            return Reason("POR008", text, statement_spans(scope))
        return None


def _report_given_up(stmt: Stmt) -> Reason:
    return Reason("POR008", "the data of all kernels here would take too long to work out together", stmt.span)


def _report_alone(stmt: Stmt) -> Reason:
    return Reason("POR008", "the data of each kernel are on the device for it alone", stmt.span)


def _new_guard(found: Found, drafts: tuple[Draft, ...]) -> Assumption | None:
    """Return a guard of the sections that no kernel has by itself, the objects' being apart not counted."""
    known = {a.text for draft in drafts for a in draft.assumptions}
    known |= {apart_text(a.host, b.host) for a in found.buffers for b in found.buffers}
    return next((a for a in found.assumptions if a.kind == "guarded" and a.text not in known), None)


def _statements_around(root: Stmt, target: Stmt) -> Iterator[Stmt]:
    """Yield `target` and the statements around it."""
    if root is target:
        yield root
        return
    for run in statement_runs(root):
        for stmt in run:
            inner = list(_statements_around(stmt, target))
            if inner:
                yield from (root, *inner)
                return


def _last_use_of_declared(run: tuple[Stmt, ...], first: int, last: int) -> int:
    """Return the index of the last statement that uses what run[first … last] declares (at least `last`)."""
    declared: set[Symbol] = {d.symbol for s in run[first : last + 1] if isinstance(s, DeclStmt) for d in s.declarations}
    if not declared:
        return last
    mentioned = (i for i in range(len(run) - 1, last, -1) if any(s in declared for s in _find_mentioned(run[i])))
    return next(mentioned, last)


def _find_mentioned(stmt: Stmt) -> Iterator[Symbol]:
    for part in walk(stmt):
        if isinstance(part, Name):
            yield part.symbol
        yield from getattr(part, "reads", ())
        yield from getattr(part, "writes", ())


def _threads_in(scope: tuple[Stmt, ...], drafts: Sequence[Draft]) -> Reason | None:
    """Return a statement between the kernels that several host threads run: copies for it would be made by all of
    them."""
    kernels = {id(stmt) for draft in drafts for stmt in draft.statements}
    for pragmas, stmt in marked_statements(Block(span=statement_spans(scope), statements=scope), any_build=True):
        starting = [p for p in pragmas if p.directive is not None and p.directive.starts_threads]
        if starting and id(stmt) not in kernels and not isinstance(stmt, For):
            return Reason("POR008", "several host threads run code between the kernels (OpenMP)", starting[0].span)
    return None


def _jump_in(scope: tuple[Stmt, ...]) -> Reason | None:
    for stmt in scope:
        if "#" in stmt.span.text and not is_balanced(stmt.span.text):
            text = "device data cannot live across a preprocessor conditional that starts or ends inside a statement"
            return Reason("POR008", text, stmt.span)
        for part in walk(stmt):
            if isinstance(part, Verbatim) and part.control:
                return Reason("POR008", f"device data cannot live across a jump ({part.reason})", part.span)
            if isinstance(part, Call):
                function = peel(part.function)
                if isinstance(function, Name) and function.symbol.name in _JUMPS:
                    return Reason("POR008", "device data cannot live across setjmp", part.span)
    return None


def _distinct(assumptions: Sequence[Assumption]) -> tuple[Assumption, ...]:
    """Return the assumptions without repetitions; two with one text are kept where their conditions differ."""
    kept: list[Assumption] = []
    for new in assumptions:
        if not any(_equal(old, new) for old in kept):
            kept.append(new)
    return tuple(kept)


def _is_implied(assumption: Assumption, buffers: Sequence[DeviceBuffer], stated: Sequence[Assumption]) -> bool:
    """Whether a guard says of what kernels touch of two objects what the offload region's guard says of their buffers;
    `stated` are the offload region's guards: there is none for two objects that no kernel writes."""
    hosts = [buffer.host for buffer in buffers]
    if assumption.kind != "guarded" or len({host.name for host in hosts}) < len(hosts):
        return False
    tested = {guard.text for guard in stated}
    pairs = ((a, b) for a in hosts for b in hosts if a is not b)
    said = next(((a, b) for a, b in pairs if assumption.text == apart_text(a, b)), None)
    return said is not None and bool(
        {apart_text(*said), apart_text(*reversed(said)), different_allocations_text(*said)} & tested
    )


def _equal(a: Assumption, b: Assumption) -> bool:
    if a != b or (a.condition is None) != (b.condition is None):
        return False
    return a.condition is None or b.condition is None or same(a.condition, b.condition)
