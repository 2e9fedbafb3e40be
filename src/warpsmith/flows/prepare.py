"""Steps before the port: those that were asked for, then those that the search finds; and the plan that honors them.

facts as written ── recipe or --transform ──► ── search ──► prepared ── plan ──► port
                                                 ▲                        │
                                                 └── leave a nest alone whose guard no plan can test
"""

from __future__ import annotations

from dataclasses import replace

from warpsmith.base.source import Span
from warpsmith.flows.plan import Written, writable_port
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import prepare
from warpsmith.offload.decisions import decided_nests
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops

__all__ = ["automatic", "planned"]


def automatic(prepared: Prepared, selected: tuple[Loop, ...] | None, left: frozenset[Span] = frozenset()) -> Prepared:
    """Return `prepared` with every further step that helps the loops inside `selected` (None: all of them).

    `left`: nests (by the span of their text) to leave as they are.
    """
    left |= decided_nests(prepared.program)
    while True:
        wanted = _ids(_now(prepared.program, selected))
        found = prepare(prepared, wanted, left)
        untestable = {statement_spans(change.old) for change in found.untestable() if change.old}
        if not untestable - left:
            return found
        left |= untestable


def planned(
    prepared: Prepared, selected: tuple[Loop, ...] | None, options: OffloadOptions, *, search: bool, single_file: bool
) -> tuple[Prepared, Written]:
    """Return the plan, and the steps that it rests on: with `search`, without those whose guard it cannot test."""
    found = automatic(prepared, selected) if search else prepared
    left: frozenset[Span] = frozenset()
    while True:
        wanted = replace(options, selected=_now(found.program, selected))
        written = writable_port(found, wanted, single_file=single_file)
        more = {statement_spans(change.old) for change in written.port.uncovered if change.old}
        if not search or not more - left:
            return found, written
        left |= more
        found = automatic(prepared, selected, left)


def _now(program: Program, selected: tuple[Loop, ...] | None) -> tuple[Loop, ...] | None:
    """Return the loops of `program` that stand in the user's text of the `selected` ones."""
    if selected is None:
        return None
    spans = [loop.span for loop in selected]
    return tuple(
        loop
        for _, function in program.functions()
        for loop, _ in loops(function.body)
        if any(s.file is loop.span.file and s.start <= loop.span.start and loop.span.end <= s.end for s in spans)
    )


def _ids(selected: tuple[Loop, ...] | None) -> frozenset[int] | None:
    return None if selected is None else frozenset(id(loop) for loop in selected)
