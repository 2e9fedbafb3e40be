"""`nowait`: do threads that have gone on meet those that still run the loop?

    #pragma omp for nowait
    for (i …) a[i] = …;          a thread that is through goes on at once …
    #pragma omp for
    for (j …) b[j] = a[j + 1];   … and reads an element that another one has not written yet

Everything behind the loop up to the end of the next construct that threads wait at is looked at. Iterations with one
number are left out where both loops have the same range: OpenMP gives them to one thread under equal static schedules,
and compilers do so by default. Invariant: what is returned are two instances that certainly run and touch one element,
by different threads for some number of threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
from warpsmith.poly.isl.space import far
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Block, Empty, For, Function, Loop, Pragma, Stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, same, walk

__all__ = ["find_overtaken"]

_WITNESS = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\([^)]*\) (?P<first>\w+) (?P<element>.+), \w+\([^)]*\) (?P<second>\w+) it"
)
_WAITED = frozenset({"for", "single", "sections", "loop", "workshare"})


def find_overtaken(
    facts: Facts, function: Function, claim: Claim, around: tuple[Loop, ...], owned: frozenset[Symbol]
) -> Iterator[Reason]:
    """Yield what races with the loop because its threads do not wait. Raises OutOfBudgetError."""
    if not claim.nowait or claim.region is None:
        return
    behind = _behind(function, claim)
    run = (claim.marked, *(s for s, _ in behind))
    if not behind:
        return
    region, state = build_region(facts.origin(function), run, around, guards=False)
    if region.broken or state.lost or not region.reached:
        return
    reported: set[Symbol] = set()
    for group in references(state, region, owned, lambda s: id(s.within[0]) if s.within else 0):
        if group[0].access.base in reported:
            continue
        for first, second in _pairs(group, claim.marked):
            found = _race(state, region, claim, (first, second), dict(behind))
            if found is not None:
                reported.add(first.access.base)
                yield found
                break


def _behind(function: Function, claim: Claim) -> list[tuple[Stmt, Pragma | None]]:
    """Return the statements behind the loop with their pragmas, up to the next point where threads wait."""
    for block in walk(function.body):
        if not isinstance(block, Block) or not any(s is claim.marked for s in block.statements):
            continue
        position = next(k for k, s in enumerate(block.statements) if s is claim.marked)
        found: list[tuple[Stmt, Pragma | None]] = []
        pragma: Pragma | None = None
        for stmt in block.statements[position + 1 :]:
            if isinstance(stmt, Pragma):
                if stmt.directive is not None and stmt.directive.words[:1] in (("barrier",), ("cancel",)):
                    return found
                pragma = stmt
                continue
            directive = pragma.directive if pragma is not None else None
            if _waits_inside(stmt):
                return found
            found.append((stmt, pragma))
            waited = directive is not None and bool(_WAITED.intersection(directive.words[:1]))
            if waited and directive is not None and not directive.has("nowait"):
                return found
            pragma = None
        return found
    return []


def _waits_inside(stmt: Stmt) -> bool:
    """Whether threads wait for each other at some point inside a statement."""
    for part in walk(stmt):
        directive = part.directive if isinstance(part, Pragma) else None
        if directive is None or not directive.words:
            continue
        first = directive.words[0]
        if first in ("barrier", "cancel") or (first in _WAITED and not directive.has("nowait")):
            return True
    return False


def _pairs(group: Sequence[Reference], loop: Loop) -> Iterator[tuple[Reference, Reference]]:
    ahead = [r for r in group if r.statement.within and r.statement.within[0] is loop and r.statement.loops]
    later = [r for r in group if r.statement.within and r.statement.within[0] is not loop]
    for first in ahead:
        for second in later:
            if first.access.write or second.access.write:
                yield first, second


def _differs(claim: Claim, reference: Reference) -> bool:
    """Whether the element depends on the thread that asks for it."""
    return any(n.symbol in claim.differing for n in names(reference.access.expr))


def _race(
    state: State,
    region: Region,
    claim: Claim,
    pair: tuple[Reference, Reference],
    behind: dict[Stmt, Pragma | None],
) -> Reason | None:
    first, second = pair
    shared = common_steps(first.element, second.element)
    later = second.statement.within[0]
    pragma = behind.get(later)
    directive = pragma.directive if pragma is not None else None
    if _differs(claim, first) or _differs(claim, second):
        return None
    if shared is None or not shared[1] or not (first.exact and second.exact) or isinstance(later, Empty):
        return None
    if directive is not None and directive.words[:1] in (("critical",), ("atomic",), ("task",)):
        return None
    length = shared[0]
    relation = access_map(state, first, length).apply_range(access_map(state, second, length).reverse())
    if directive is not None and directive.shares_loop:
        if not isinstance(later, For) or not second.statement.loops or second.statement.loops[0] is not later:
            return None
        dynamic = any(
            "static" not in d.argument("schedule") and d.has("schedule") for d in (claim.directive, directive)
        )
        if not dynamic or _one_range(claim.loops[0], later):
            depths = len(first.statement.counters), len(second.statement.counters)
            relation = relation.intersect(far(*depths, 1))
    conflict = None if relation.is_empty() else meaningful(state, Conflict(first, second, relation))
    if conflict is None or state.unproved:
        return None
    dependence = describe(state, region, conflict, {})
    if dependence is None:
        return None
    text = (
        f"nowait is wrong: the threads do not wait for the loop, and line {second.access.expr.span.line} touches "
        f"{first.access.base.name} as well: {_word_witness(dependence.witness, claim, first, second)}"
    )
    return Reason("CLM001", text, second.access.expr.span, dependence, legal_if=("remove nowait, or add a barrier",))


def _one_range(one: For, other: For) -> bool:
    alike = one.relation == other.relation and one.step == other.step
    return alike and same(one.lower, other.lower) and same(one.bound, other.bound)


def _word_witness(witness: str, claim: Claim, first: Reference, second: Reference) -> str:
    found = _WITNESS.fullmatch(witness)
    if found is None:
        return witness
    numbers = re.findall(r"\w+\(([^)]*)\) (?:writes|reads)", witness)
    one = f"iteration {numbers[0]} of the loop {found['first']} {found['element']}"
    place = f"line {second.access.expr.span.line}"
    other = f"iteration {numbers[1]} in {place}" if second.statement.loops else place
    tail = f" ({found['head']})" if found["head"] else ""
    return f"{one}, {other} {found['second']} it{tail}"
