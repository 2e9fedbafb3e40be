"""Steps before the port: those that were asked for, then those that the search finds; and the plan that honors them.

facts as written ── recipe or --transform ──► ── search ──► prepared ── plan ──► port
                                                 ▲                        │
                                                 └── leave a nest alone whose guard no plan can test
"""

from __future__ import annotations

from dataclasses import replace

from warpsmith.base.source import Span
from warpsmith.flows.plan import Written, writable_port
from warpsmith.loops.last_apart import last_apart
from warpsmith.loops.prepared import Prepared, pairs
from warpsmith.loops.search import prepare
from warpsmith.loops.unthreaded import unthreaded
from warpsmith.offload.decisions import decided_nests
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import statement_spans
from warpsmith.tree.nodes import Loop
from warpsmith.tree.program import Program
from warpsmith.tree.shared import is_own, shared_functions
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops

__all__ = ["automatic", "planned"]

# steps that take something from the user's threads: where no kernel comes of it, his pragmas stay
_OF_PRAGMAS = ("unthread", "peel")


def automatic(
    prepared: Prepared,
    selected: tuple[Loop, ...] | None,
    left: frozenset[Span] = frozenset(),
    root: str | None = None,
    earlier: Prepared | None = None,
) -> Prepared:
    """Return `prepared` with every further step that helps the loops inside `selected` (None: all of them).

    `left`: nests (by the span of their text) to leave as they are. `root`: the folder of the project whose headers may
    change too. `earlier`: the answer with less in `left`: what it found in other functions stands.
    """
    left |= decided_nests(prepared.program) | _in_headers(prepared.program, root)
    while True:
        start, only = (prepared, None) if earlier is None else _undone(prepared, earlier, left)
        asked = _asked(prepared.program, selected, only)
        alone = last_apart(unthreaded(start, asked, left), asked, left)
        wanted = _ids(_now(alone.program, selected))
        found = prepare(alone, wanted, left, only)
        untestable = {statement_spans(change.old) for change in found.untestable() if change.old}
        if not untestable - left:
            return found
        left |= untestable
        earlier = found


def _undone(prepared: Prepared, earlier: Prepared, left: frozenset[Span]) -> tuple[Prepared, frozenset[Symbol]]:
    """Return `earlier` without any step in the functions that it changed in text of `left`, and these. So goes every
    function that has taken in the text of others: steps may have worked on that too."""
    known = len(prepared.applied)
    mine = earlier.applied[known:]
    again = {a.function for a in mine if a.step.name == "inline" or any(_meets(a.span, span) for span in left)}
    again |= {c.function for c in earlier.changes() if any(_meets(statement_spans(c.old), s) for s in left if c.old)}
    program = earlier.program
    for function, after in pairs(prepared.program, earlier.program):
        if function.symbol in again:
            program = program.with_function(after, function)
    kept = tuple(a for a in mine if a.function not in again)
    facts = earlier.facts.after(program)
    return replace(prepared, facts=facts, applied=(*prepared.applied, *kept)), frozenset(again)


def _asked(program: Program, selected: tuple[Loop, ...] | None, only: frozenset[Symbol] | None) -> list[Span] | None:
    """Return the text of the loops that are asked for, in the functions `only`; None: of all."""
    if only is None:
        return None if selected is None else [loop.span for loop in selected]
    inside = {loop.span for _, f in program.functions() if f.symbol in only for loop, _ in loops(f.body)}
    return [span for span in inside if selected is None or any(_meets(loop.span, span) for loop in selected)]


def _meets(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end


def planned(
    prepared: Prepared,
    selected: tuple[Loop, ...] | None,
    options: OffloadOptions,
    *,
    search: bool,
    single_file: bool,
    root: str | None = None,
) -> tuple[Prepared, Written]:
    """Return the plan, and the steps that it rests on: with `search`, without those whose guard it cannot test. `root`:
    the project's folder, for a port in place."""
    found = automatic(prepared, selected, root=root) if search else prepared
    left: frozenset[Span] = frozenset()
    while True:
        wanted = replace(options, selected=_now(found.program, selected))
        written = writable_port(found, wanted, single_file=single_file, root=root)
        more = {statement_spans(change.old) for change in written.port.uncovered if change.old}
        idle = _idle(found, written)
        more |= idle if root is not None else {a.span for a in found.applied if a.step.name in _OF_PRAGMAS} & idle
        if not search or not more - left:
            in_place = root is not None and written.port.plan.fragments
            return found, writable_port(found, wanted, root=root, first=written) if in_place else written
        left |= more
        found = automatic(prepared, selected, left, root, found)


def _in_headers(program: Program, root: str | None) -> frozenset[Span]:
    """Return the nests whose text is not their function's alone, and is not rewritten: those in headers, which every
    file has that includes them, and those of templates that have several instances; below `root` text can be added."""
    kept = [f.body.span for _, f in shared_functions(program, root)] if root is not None else []
    functions = [f for u, f in program.functions() if not is_own(u, f)]
    found = {loop.span for function in functions for loop, _ in loops(function.body)}
    # a file without an instance lists the same loops as those of a template
    return frozenset(span for span in found if not any(body.contains(span) for body in kept))


def _idle(prepared: Prepared, written: Written) -> set[Span]:
    """Return the user's runs that steps rewrote and that stay on the host all the same: in place, his text is kept."""
    ported = [statement_spans(version.written) for version in written.port.versions]
    changed = {statement_spans(change.old) for change in prepared.changes() if change.old}
    return {span for span in changed if not any(p.contains(span) or span.contains(p) for p in ported)}


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
