"""Steps before the port: those that were asked for, then those that the search finds; and the plan that honors them.

facts as written ── recipe or --transform ──► ── search ──► prepared ── plan ──► port
                                                 ▲                        │
                                                 └── leave a nest alone whose guard no plan can test,
                                                     and one of which nothing becomes a kernel

Then what would be slower on the device is left out (gain.py), and what another compiler refuses.

Invariant: what the search changed has a kernel in it; what has none is as the user wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_share
from warpsmith.flows.porting.gain import Kept, choose_paying, renew_refused
from warpsmith.flows.porting.plan import Written, writable_port
from warpsmith.flows.porting.written_check import Unwritable, unwritable
from warpsmith.loops.prepared import Prepared, RunChange
from warpsmith.loops.search.nests import outermost
from warpsmith.offload.automatic import automatic, standing_in
from warpsmith.offload.concurrency import find_reached
from warpsmith.offload.plan import Fragment, OffloadOptions
from warpsmith.offload.port import DraftPort, draft_port
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Function, Loop, Name, Node
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["plan_port", "search_steps"]


def plan_port(
    prepared: Prepared,
    selected: tuple[Loop, ...] | None,
    options: OffloadOptions,
    *,
    search: float | None,
    single_file: bool,
    root: str | None = None,
    refused: Unwritable = (),
    compared: bool = True,
) -> tuple[Prepared, Written]:
    """Return the plan, and the steps that it rests on: with those of the search, without the ones whose guard it cannot
    test. `search`: the seconds of processor time for it (0: any; None: none is made). `root`: the project's folder, for
    a port in place. `refused`: fragments of an earlier plan whose text does not compile. `compared`: the port will be
    compared with the original."""
    request = _Request(prepared, selected, options, search, single_file, root, compared)
    found, left = search_steps(prepared, selected, search, root=root), frozenset[Span]()
    kept: Kept | None = None
    while True:
        found, left, written = _settle(request, (found, left), refused)
        if kept is None:
            # What would lose stays, unless each loop was asked for by name.
            named = options.demanded and selected is not None
            again = partial(_plan_again, replace(request, compared=False), (found, left), refused)
            kept = Kept() if named else choose_paying((found, written), again, options)
            if kept.refused:
                refused = (*refused, *kept.refused)
                continue
        if root is not None and written.port.plan.fragments:
            written = request.write(found, first=written)
        # Another compiler's opinion of all that would be written: a loop whose text it refuses stays.
        broken = unwritable(prepared.original.program, written, root)
        if not broken:
            return found, _with_words(written, kept)
        refused = (*written.refused, *broken)


def search_steps(
    prepared: Prepared,
    selected: tuple[Loop, ...] | None,
    seconds: float | None,
    left: frozenset[Span] = frozenset(),
    *,
    root: str | None = None,
    earlier: Prepared | None = None,
) -> Prepared:
    """Return the program after the steps that the search finds (offload/automatic.py) in `seconds` of processor time
    (0: any; None: nothing is searched), with half of them where there is an `earlier` answer."""
    if seconds is None:
        return prepared
    with time_share(seconds if earlier is None else seconds / 2):
        return automatic(prepared, selected, left, root, earlier)


class _Request(Struct, frozen=True):
    """What `plan_port` is asked."""

    prepared: Prepared
    selected: tuple[Loop, ...] | None
    options: OffloadOptions
    search: float | None
    single_file: bool
    root: str | None
    compared: bool

    def write(self, found: Prepared, *, first: Written | None = None, refused: Unwritable = ()) -> Written:
        """Return the port of `found`, with the selected loops as they stand in it."""
        options = replace(self.options, selected=standing_in(found.program, self.selected))
        alone = self.single_file and first is None
        return writable_port(
            found, options, single_file=alone, root=self.root, first=first, refused=refused, compared=self.compared
        )

    def draft(self, found: Prepared, refused: Unwritable) -> DraftPort:
        """Return what the port of `found` begins with."""
        options = replace(self.options, selected=standing_in(found.program, self.selected))
        return draft_port(found.program, found.facts, options, found.facts.options, refused, prepared=found)


Searched = tuple[Prepared, frozenset[Span]]
"""The steps found, and the nests that the search leaves alone."""


def _settle(request: _Request, searched: Searched, refused: Unwritable) -> tuple[Prepared, frozenset[Span], Written]:
    """Return a plan without what is refused, and with no step that comes to nothing in it: a draft of it tells of most
    of these."""
    found, left = searched
    drafts = request.search is not None
    while True:
        made: Written | DraftPort
        if drafts and any(change.old for change in found.changes()):
            made = request.draft(found, renew_refused(refused, found))
            fragments, uncovered = made.fragments, made.uncovered
        else:
            made = request.write(found, refused=renew_refused(refused, found))
            fragments, uncovered = made.port.plan.fragments, made.port.uncovered
        more = {statement_spans(change.old) for change in uncovered if change.old} | _idle(found, fragments)
        if request.search is None or not more - left:
            if isinstance(made, Written):
                return found, left, made
            drafts = False
            continue
        left |= more
        found = search_steps(request.prepared, request.selected, request.search, left, root=request.root, earlier=found)


def _plan_again(
    request: _Request, searched: Searched, refused: Unwritable, more: Unwritable
) -> tuple[Prepared, Written]:
    """Return the plan without `more`, as it would be."""
    found, _, written = _settle(request, searched, (*refused, *more))
    return found, written


def _with_words(written: Written, kept: Kept) -> Written:
    """Return a port whose plan says what stays since it would lose."""
    plan = written.port.plan
    known = {refusal.loop for refusal in plan.refusals}
    refusals = (*plan.refusals, *(refusal for refusal in kept.refusals if refusal.loop not in known))
    plan = replace(plan, findings=(*plan.findings, *kept.findings), refusals=refusals)
    return replace(written, port=replace(written.port, plan=plan)) if kept.refused else written


def _idle(prepared: Prepared, fragments: Sequence[Fragment]) -> set[Span]:
    """Return the user's runs that steps rewrote and that stay on the host all the same: there is no kernel in the new
    text, nor in a function that it calls, and it is no part of one. Steps go from a whole nest or not at all."""
    changes = [change for change in prepared.changes() if change.old and change.new]
    if not changes:
        return set()
    kernels = frozenset(part for fragment in fragments for stmt in fragment.statements for part in walk(stmt))
    holders = {fragment.function.symbol for fragment in fragments}
    # one thread in place of many serves the functions that these threads called, and all that they call
    deep = any(applied.step.name == "unthread" for applied in prepared.applied)
    called = {f.symbol: {n.symbol for n in names(f.body)} for _, f in prepared.program.functions()} if deep else {}
    idle = {c for c in changes if not (c.parts() & kernels or find_reached(called, _find_named(c)) & holders)}
    busy = {_nest_of(c) for c in changes if c not in idle}
    # what a function's own steps made of its text serves where that has come into a kernel
    served = [c for c in changes if c not in idle]
    alone = [
        c for c in idle if _nest_of(c) not in busy and not any(_has_text_of(s, c.written, kernels) for s in served)
    ]
    # where a function's text stands elsewhere too, its own steps go first: without them there may be a kernel there
    first = [c for c in alone if any(_has_text_of(other, c.written, other.parts()) for other in alone)]
    return {statement_spans(c.old) for c in first or alone}


def _has_text_of(change: RunChange, function: Function, wanted: frozenset[Node]) -> bool:
    """Whether the text of another function has come into the wanted parts of a change."""
    inside = (part.span for part in change.parts() & wanted if change.written.symbol != function.symbol)
    return any(function.body.span.contains(span) for span in inside)


def _nest_of(change: RunChange) -> Span:
    """Return the text of the outermost loop around a change; its own, where there is none."""
    own = statement_spans(change.old)
    return next((loop.span for loop in outermost(change.written.body) if loop.span.contains(own)), own)


def _find_named(change: RunChange) -> set[Symbol]:
    return {part.symbol for part in change.parts() if isinstance(part, Name)}
