"""Steps before the port: those that were asked for, then those that the search finds; and the plan that honors them.

facts as written ── recipe or --transform ──► ── search ──► prepared ── plan ──► port
                                                 ▲                        │
                                                 └── leave a nest alone whose guard no plan can test,
                                                     and one of which nothing becomes a kernel

Invariant: what the search changed has a kernel in it; what has none is as the user wrote it.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.flows.porting.plan import Written, writable_port
from warpsmith.flows.porting.written_check import Unwritable, unwritable
from warpsmith.loops.prepared import Prepared, RunChange
from warpsmith.offload.automatic import automatic, standing_in
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Loop, Name
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["plan_port"]


def plan_port(
    prepared: Prepared,
    selected: tuple[Loop, ...] | None,
    options: OffloadOptions,
    *,
    search: bool,
    single_file: bool,
    root: str | None = None,
    refused: Unwritable = (),
    compared: bool = True,
) -> tuple[Prepared, Written]:
    """Return the plan, and the steps that it rests on: with `search`, without those whose guard it cannot test. `root`:
    the project's folder, for a port in place. `refused`: fragments of an earlier plan whose text does not compile.
    `compared`: the port will be compared with the original."""
    found = automatic(prepared, selected, root=root) if search else prepared
    left: frozenset[Span] = frozenset()
    while True:
        wanted = replace(options, selected=standing_in(found.program, selected))
        write = partial(writable_port, found, wanted, root=root, compared=compared)
        written = write(single_file=single_file, refused=refused)
        more = {statement_spans(change.old) for change in written.port.uncovered if change.old}
        more |= _idle(found, written)
        if not search or not more - left:
            in_place = root is not None and written.port.plan.fragments
            written = write(first=written) if in_place else written
            # Another compiler's opinion of all that would be written: a loop whose text it refuses stays.
            broken = unwritable(prepared.original.program, written, root)
            if not broken:
                return found, written
            refused = (*written.refused, *broken)
            continue
        left |= more
        found = automatic(prepared, selected, left, root, found)


def _idle(prepared: Prepared, written: Written) -> set[Span]:
    """Return the user's runs that steps rewrote and that stay on the host all the same: there is no kernel in the new
    text, nor in a function that it calls, and it is no part of one."""
    changes = [change for change in prepared.changes() if change.old and change.new]
    if not changes:
        return set()
    fragments = written.port.plan.fragments
    kernels = frozenset(part for fragment in fragments for stmt in fragment.statements for part in walk(stmt))
    holders = {fragment.function.symbol for fragment in fragments}
    return {statement_spans(c.old) for c in changes if not (c.parts() & kernels or _named(c) & holders)}


def _named(change: RunChange) -> set[Symbol]:
    return {part.symbol for part in change.parts() if isinstance(part, Name)}
