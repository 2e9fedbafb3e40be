"""Replacements of a port in the user's file: each offload region, or the whole run that steps made into one.

    for (j …) … g->u[…] …                       const int nx = g->nx;        before the test of the guards
           the user's             ◄──           for (j …) … u[…] …           the offload region
                                                     made by steps

Invariant: the runs that are replaced are the user's own statements, and none is replaced twice. An offload region that
is a part of what steps made, and not all of it, stands in its run as the port has it, with its guards and what the
steps made as the other branch. What data regions add inside of that belongs to it as well; the user's own statements,
which run where the device is not in use, need nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec.structs

from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.prepared import RunChange, as_written
from warpsmith.loops.versions import write_guards, write_reasons
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.regions.coherence import Coherent
from warpsmith.offload.transfers.flow import ProgramPoint, statement_runs
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.offload.transfers.splice import splice
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.nodes import DeclStmt, Function, Node, Stmt, replace
from warpsmith.tree.walk import walk

__all__ = ["beside", "find_written_in_versions", "versions_in_place"]

Run = tuple[Stmt, ...]


def versions_in_place(
    function: Function,
    moved: Mapping[OffloadRegion, Run],
    replaced: Sequence[tuple[Run, Run]],
    changes: Sequence[RunChange],
    added: Coherent | None = None,
) -> Iterator[Versioned]:
    """Yield what runs in place of the user's statements. `function` is what steps made of his, `moved` the offload
    regions' statements with launches and copies, `replaced` the same with their guards; `added`: what data regions
    add."""
    user = changes[0].written if changes else function
    added = added or Coherent()
    frames = {at: made for at, made in added.frames.items() if beside(changes, at) is None}
    edits = Edits({}, Coherent(added.inserted, frames).all())
    done: list[RunChange] = []
    for offload_region, statements in moved.items():
        change = next((c for c in changes if _is_part(offload_region, c)), None)
        if change is None:
            written = as_written(offload_region.scope, changes)
            yield _guarded(Versioned(user, written, statements, None), offload_region, added)
        elif change in done:
            continue
        elif (before := _declarations(offload_region, change)) is not None:
            declared = rewritten_run(before, edits)
            yield _guarded(Versioned(user, change.old, statements, None, declared), offload_region, added)
        else:
            done.append(change)
            new = rewritten_run(change.new, edits)
            yield Versioned(user, change.old, _with_offload_regions(function, new, replaced), None)


def _guarded(version: Versioned, offload_region: OffloadRegion, added: Coherent) -> Versioned:
    """Return what runs in place of an offload region, where its guards hold."""
    condition, reasons = write_guards(offload_region.guards), write_reasons(offload_region.guards)
    return msgspec.structs.replace(version, condition=condition, reasons=reasons, fallback=added.around(offload_region))


def beside(changes: Sequence[RunChange], at: ProgramPoint) -> Stmt | None:
    """Return the user's statement beside which something stands that is inserted at one end of what steps made."""
    for change in changes:
        if not change.new:
            continue  # pragmas alone that are gone: nothing stands beside them
        if change.old and at.where == "before" and at.node is change.new[0]:
            return change.old[0]
        if change.old and at.where == "after" and at.node is change.new[-1]:
            return change.old[-1]
    return None


def find_written_in_versions(offload_regions: Iterable[OffloadRegion], changes: Sequence[RunChange]) -> frozenset[Node]:
    """Return the statements that stand in what steps made, and not in the user's text: what is added beside them is
    a part of the version."""
    found: set[Node] = set()
    for offload_region in offload_regions:
        change = next((c for c in changes if _is_part(offload_region, c)), None)
        if change is not None:
            before = _declarations(offload_region, change)
            found |= change.parts() if before is None else {part for stmt in before for part in walk(stmt)}
    return frozenset(found)


def _is_part(offload_region: OffloadRegion, change: RunChange) -> bool:
    """Whether the offload region is inside what steps made, and not around it."""
    return bool(change.old) and offload_region.scope[0] in change.parts() and not _is_around(offload_region, change)


def _is_around(offload_region: OffloadRegion, change: RunChange) -> bool:
    return all(any(stmt is kept for kept in offload_region.scope) for stmt in change.new)


def _declarations(offload_region: OffloadRegion, change: RunChange) -> Run | None:
    """Return the declarations that steps put before an offload region which is all the rest of what they made; None
    where one of them is the user's own, which would stand there twice."""
    count = len(change.new) - len(offload_region.scope)
    before, rest = change.new[:count], change.new[count:]
    alike = count >= 0 and all(a is b for a, b in zip(rest, offload_region.scope, strict=True))
    own = {symbol for stmt in change.old if isinstance(stmt, DeclStmt) for symbol in declared_symbols(stmt)}
    made = all(isinstance(stmt, DeclStmt) and own.isdisjoint(declared_symbols(stmt)) for stmt in before)
    return before if alike and made else None


def _with_offload_regions(function: Function, run: Run, replaced: Sequence[tuple[Run, Run]]) -> Run:
    holder = replace(function, body=replace(function.body, statements=run))
    inside = {id(part) for stmt in run for part in _statements(stmt)}
    return splice(holder, [pair for pair in replaced if id(pair[0][0]) in inside]).body.statements


def _statements(stmt: Stmt) -> Iterator[Stmt]:
    pending = [stmt]
    while pending:
        current = pending.pop()
        yield current
        pending += [s for run in statement_runs(current) for s in run]
