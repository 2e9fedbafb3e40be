"""The steps that every command tries by itself: those that the search finds, and those that free it from pragmas.

    facts as written, or after the steps that were asked for ── unmap, unthread, peel ── search ──► prepared
                                                       ▲                                       │
                                                       └── leave a nest alone whose guard nothing can test

Invariant: the answer rests on the program and on what is left alone, so that a survey and a port say the same of a
loop. Time counts only where it was up before every loop of a function was judged: then the function is left alone.
"""

from __future__ import annotations

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.loops.prepared import Prepared, pairs
from warpsmith.loops.search.last_apart import last_apart
from warpsmith.loops.search.prepare import prepare
from warpsmith.loops.search.unmapping import unmap_functions
from warpsmith.loops.search.unthreading import unthread_loops, unthread_regions
from warpsmith.offload.decisions import decided_nests
from warpsmith.offload.uncalled import find_uncalled
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.mapped.clauses import construct_of
from warpsmith.poly.mapped.judge import mapped_functions
from warpsmith.poly.openmp.team import sharing_functions
from warpsmith.tree.nodes import Loop, Node, Pragma
from warpsmith.tree.program import Program
from warpsmith.tree.shared import is_own, shared_functions
from warpsmith.tree.specializations import can_specialize
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk

__all__ = ["automatic", "standing_in"]


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
    left |= decided_nests(prepared.program) | _in_headers(prepared.program, root) | _not_judged(prepared)
    left |= _never_run(prepared.program) if selected is None else frozenset()
    while True:
        start, only = (prepared, None) if earlier is None else _undo_steps(prepared, earlier, left)
        asked = _asked_spans(prepared.program, selected, only)
        alone = unthread_loops(unthread_regions(unmap_functions(start, asked), asked, left), asked, left)
        alone = last_apart(alone, asked, left)
        wanted = _ids(standing_in(alone.program, selected))
        found = prepare(alone, wanted, left, only)
        untestable = {statement_spans(change.old) for change in found.untestable() if change.old}
        if not untestable - left:
            return found
        left |= untestable
        earlier = found


def standing_in(program: Program, selected: tuple[Loop, ...] | None) -> tuple[Loop, ...] | None:
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


def _undo_steps(prepared: Prepared, earlier: Prepared, left: frozenset[Span]) -> tuple[Prepared, frozenset[Symbol]]:
    """Return `earlier` without any step in the functions that it changed in text of `left`, and these. So goes every
    function that has taken in the text of others: steps may have worked on that too."""
    known = len(prepared.applied)
    mine = earlier.applied[known:]
    again = {a.function for a in mine if a.step.name == "inline" or any(_meets(a.span, span) for span in left)}
    again |= {c.function for c in earlier.changes() if any(_meets(statement_spans(c.old), s) for s in left if c.old)}
    directed = _directed(prepared.program)
    if again & directed and any(a.step.name == "unmap" for a in mine):
        # data directives go together, in all functions that one of them reaches
        again |= directed
    if any(a.step.name == "unthread" for a in mine):
        # one thread comes in place of the callers of functions that share work, and in these, together
        teams = _of_teams(prepared.program)
        again |= teams if again & teams else frozenset()
    program = earlier.program
    for function, after in pairs(prepared.program, earlier.program):
        if function.symbol in again:
            program = program.with_function(after, function)
    kept = tuple(a for a in mine if a.function not in again)
    facts = earlier.facts.after(program)
    cut = tuple(symbol for symbol in earlier.cut if symbol not in again)
    return replace(prepared, facts=facts, applied=(*prepared.applied, *kept), cut=cut), frozenset(again)


def _directed(program: Program) -> frozenset[Symbol]:
    """Return the functions with directives about a device's data, and those that call one."""
    own = (f.symbol for _, f in program.functions() if any(_is_of_device(part) for part in walk(f.body)))
    return mapped_functions(program).union(own)


def _of_teams(program: Program) -> frozenset[Symbol]:
    """Return the functions that share work among the threads that call them, and those that have their regions."""
    found: set[Symbol] = set()
    for _, function in program.functions():
        for region in regions_of(function):
            shared = sharing_functions(program, region.body)
            found |= {function.symbol, *(one.symbol for one in shared)} if shared else set()
    return frozenset(found)


def _is_of_device(part: Node) -> bool:
    directive = part.directive if isinstance(part, Pragma) and not part.left_out else None
    return directive is not None and construct_of(directive) not in ("", "wait")


def _asked_spans(
    program: Program, selected: tuple[Loop, ...] | None, only: frozenset[Symbol] | None
) -> list[Span] | None:
    """Return the text of the loops that are asked for, in the functions `only`; None: of all."""
    if only is None:
        return None if selected is None else [loop.span for loop in selected]
    inside = {loop.span for _, f in program.functions() if f.symbol in only for loop, _ in loops(f.body)}
    return [span for span in inside if selected is None or any(_meets(loop.span, span) for loop in selected)]


def _meets(one: Span, other: Span) -> bool:
    return one.file is other.file and one.start < other.end and other.start < one.end


def _in_headers(program: Program, root: str | None) -> frozenset[Span]:
    """Return the nests whose text is not their function's alone, and is not rewritten: those in headers, which every
    file has that includes them, and those of templates that have several instances. Below `root` text can be added;
    apart from it an instance may have a text of its own."""
    texts = shared_functions(program, root) if root is not None else program.functions()
    kept = [f.body.span for u, f in texts if root is not None or can_specialize(u, f)]
    functions = [f for u, f in program.functions() if not is_own(u, f)]
    found = {loop.span for function in functions for loop, _ in loops(function.body)}
    # a file without an instance lists the same loops as those of a template
    return frozenset(span for span in found if not any(body.contains(span) for body in kept))


def _not_judged(prepared: Prepared) -> frozenset[Span]:
    """Return the loops of functions that there was no time to judge."""
    late = [f for _, f in prepared.program.functions() if f.symbol in prepared.facts.late]
    return frozenset(loop.span for function in late for loop, _ in loops(function.body))


def _never_run(program: Program) -> frozenset[Span]:
    """Return the loops of functions that nothing in the program calls."""
    dead = find_uncalled(program)
    return frozenset(loop.span for _, f in program.functions() if f.symbol in dead for loop, _ in loops(f.body))


def _ids(selected: tuple[Loop, ...] | None) -> frozenset[int] | None:
    return None if selected is None else frozenset(id(loop) for loop in selected)
