"""What one thread begins before a shared loop, where the others do not wait for it.

    #pragma omp master
    h = 3;                             one thread writes h …
    #pragma omp for
    for (i …) b[i] = h * a[i];         … while others, which have gone on at once, read it

Looked at is what stands between the last point at which threads wait and the loop. Invariant: what is returned are two
accesses that certainly happen, to one element, one of them a write, by different threads for some number of threads: an
iteration other than the first one may always be another thread's.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.base.verdict import Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.dependences import (
    Conflict,
    Reference,
    access_map,
    common_steps,
    describe,
    meaningful,
    references,
)
from warpsmith.poly.isl.space import without_first
from warpsmith.poly.openmp.nowait import is_waited_for, waits_inside
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Block, Function, Loop, Pragma, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["find_begun"]

_ONE_THREAD = frozenset({("master",), ("masked",), ("single",)})


def find_begun(
    facts: Facts, function: Function, claim: Claim, around: tuple[Loop, ...], owned: frozenset[Symbol]
) -> Iterator[Reason]:
    """Yield what races with the loop because nobody waits for the thread that does it. Raises OutOfBudgetError."""
    ahead = _ahead(function, claim) if claim.region is not None else []
    if not ahead or not claim.loops or claim.loops[0].step < 0:
        return
    run = (*(stmt for stmt, _ in ahead), claim.marked)
    region, state = build_region(facts.origin(function), run, around, guards=False)
    if region.broken or state.lost or state.unproved or not region.reached:
        return
    pragmas = dict(ahead)
    taken = _taken(claim)
    reported: set[Symbol] = set()
    for statement in region.statements:
        pragma = pragmas.get(statement.within[0]) if statement.within else None
        for access in statement.accesses if pragma is not None and statement.exact else ():
            if access.write and access.base in taken and access.base not in reported and pragma is not None:
                reported.add(access.base)
                yield _reason(
                    pragma, access.base, access.expr.span.line, f"the loop starts from its {access.base.name}"
                )
    for group in references(state, region, owned, lambda s: id(s.within[0]) if s.within else 0):
        for first, second in _pairs(group, claim.marked):
            said = _race(state, region, claim, first, second)
            pragma = pragmas.get(first.statement.within[0])
            if said is not None and pragma is not None and first.access.base not in reported:
                reported.add(first.access.base)
                yield _reason(pragma, first.access.base, first.access.expr.span.line, said)


def _taken(claim: Claim) -> frozenset[Symbol]:
    """Return the variables whose value the construct itself takes, for a copy of each thread or to add to it."""
    named = claim.directive.list_variables("reduction", "firstprivate")
    return frozenset(s for s in (*claim.reductions, *claim.firstprivate) if s.name in named)


def _reason(pragma: Pragma, base: Symbol, line: int, said: str) -> Reason:
    title = pragma.directive.title if pragma.directive is not None else "omp master"
    text = f"no thread waits for the one that runs line {line} ({title}), which touches {base.name}: {said}"
    remedy = "remove nowait" if title == "omp single" else "put a barrier behind it, or single in its place"
    return Reason("CLM001", text, pragma.span, legal_if=(remedy,))


def _ahead(function: Function, claim: Claim) -> list[tuple[Stmt, Pragma]]:
    """Return what one thread runs between the last point at which threads wait and the loop, with its pragma."""
    block = next(
        (b for b in walk(function.body) if isinstance(b, Block) and any(s is claim.marked for s in b.statements)), None
    )
    found: list[tuple[Stmt, Pragma]] = []
    pragma: Pragma | None = None
    for stmt in block.statements if block is not None else ():
        if stmt is claim.marked:
            return found
        if isinstance(stmt, Pragma):
            pragma = stmt
            directive = stmt.directive
            found = [] if directive is not None and directive.words[:1] in (("barrier",), ("cancel",)) else found
            continue
        directive = pragma.directive if pragma is not None else None
        if waits_inside(stmt) or is_waited_for(directive):
            found = []
        elif pragma is not None and directive is not None and directive.words in _ONE_THREAD:
            found.append((stmt, pragma))
        pragma = None
    return []


def _pairs(group: list[Reference], loop: Loop) -> Iterator[tuple[Reference, Reference]]:
    ahead = [r for r in group if r.statement.within and r.statement.within[0] is not loop]
    inside = [r for r in group if r.statement.within and r.statement.within[0] is loop and r.statement.loops]
    return ((a, b) for a in ahead for b in inside if a.access.write or b.access.write)


def _race(state: State, region: Region, claim: Claim, first: Reference, second: Reference) -> str | None:
    if any(n.symbol in claim.differing for r in (first, second) for n in names(r.access.expr)):
        return None
    shared = common_steps(first.element, second.element)
    if shared is None or not shared[1] or not (first.exact and second.exact):
        return None
    inside = access_map(state, second, shared[0])
    others = without_first(access_map(state, first, shared[0]).apply_range(inside.reverse()), inside.domain())
    conflict = None if others.is_empty() else meaningful(state, Conflict(first, second, others))
    dependence = describe(state, region, conflict, {}) if conflict is not None else None
    if dependence is None:
        return None
    does = "writes" if second.access.write else "reads"
    return f"another one {does} it in the loop behind, line {second.access.expr.span.line}"
