"""`nowait`: do threads that have gone on meet those that still run the loop?

    #pragma omp for nowait
    for (i …) a[i] = …;          a thread that is through goes on at once …
    #pragma omp for
    for (j …) b[j] = a[j + 1];   … and reads an element that another one has not written yet

Everything behind the loop up to the end of the next construct that threads wait at is looked at; where that is the end
of a block that a loop repeats, the start of its next round too. What a loop reduces is added up until all have left it.
Between the loops of `distribute` nobody ever waits. Iterations with one number are left out where both loops have the
same range: OpenMP gives them to one thread under equal static schedules, and compilers do so by default. Invariant:
what is returned are two instances that certainly run and touch one element, by different threads for some number of
threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warpsmith.base.verdict import Dependence, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.dependences.dependences import (
    Conflict,
    Reference,
    access_map,
    common_steps,
    describe,
    meaningful,
    references,
)
from warpsmith.poly.isl.space import far, next_round
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Block, Empty, For, Function, Loop, Pragma, Stmt
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, same, walk

__all__ = ["find_overtaken", "is_waited_for", "waits_inside"]

_Marked = tuple[Stmt, Pragma | None]

_WITNESS = re.compile(
    r"(?:(?P<head>[^:]*): )?\w+\([^)]*\) (?P<first>\w+) (?P<element>.+), \w+\([^)]*\) (?P<second>\w+) it"
)
_WAITED = frozenset({"for", "single", "sections", "loop", "workshare"})


def find_overtaken(
    facts: Facts, function: Function, claim: Claim, around: tuple[Loop, ...], owned: frozenset[Symbol]
) -> Iterator[Reason]:
    """Yield what races with the loop because its threads do not wait. Raises OutOfBudgetError."""
    if not _goes_on(claim) or claim.region is None:
        return
    behind, open_end = _behind(function, claim)
    if open_end:
        yield from _next_round(facts, function, claim, around, owned)
    run = (claim.marked, *(s for s, _ in behind))
    if not behind:
        return
    region, state = build_region(facts.origin(function), run, around, guards=False)
    if region.broken or state.lost or not region.reached:
        return
    reported: set[Symbol] = set()
    yield from _unfinished_sums(region, claim, dict(behind))
    for group in references(state, region, owned, lambda s: id(s.within[0]) if s.within else 0):
        if group[0].access.base in reported:
            continue
        for first, second in _pairs(group, claim.marked):
            found = _race(state, region, claim, (first, second), dict(behind))
            if found is not None:
                reported.add(first.access.base)
                yield found
                break


def _goes_on(claim: Claim) -> bool:
    """Whether threads leave the loop before others have: those of other teams always do."""
    return claim.nowait or claim.directive.words[:1] == ("distribute",)


def _behind(function: Function, claim: Claim) -> tuple[list[_Marked], bool]:
    """Return the statements behind the loop with their pragmas, up to the next point where threads wait, and whether
    there is none in its block."""
    for block in walk(function.body):
        if isinstance(block, Block) and any(s is claim.marked for s in block.statements):
            position = next(k for k, s in enumerate(block.statements) if s is claim.marked)
            return _until_wait(block.statements[position + 1 :])
    return [], False


def _until_wait(statements: Sequence[Stmt]) -> tuple[list[_Marked], bool]:
    """Return the first statements with their pragmas, up to a point where threads wait, and whether there is none."""
    found: list[_Marked] = []
    pragma: Pragma | None = None
    for stmt in statements:
        if isinstance(stmt, Pragma):
            if stmt.directive is not None and stmt.directive.words[:1] in (("barrier",), ("cancel",)):
                return found, False
            pragma = stmt
            continue
        if waits_inside(stmt):
            return found, False
        found.append((stmt, pragma))
        if is_waited_for(pragma.directive if pragma is not None else None):
            return found, False
        pragma = None
    return found, True


def is_waited_for(directive: Directive | None) -> bool:
    """Whether all threads wait at the end of what stands behind a directive."""
    return directive is not None and bool(_WAITED.intersection(directive.words[:1])) and not directive.has("nowait")


def waits_inside(stmt: Stmt) -> bool:
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
    return _reason(claim, first, second, dependence, "")


def _reason(claim: Claim, first: Reference, second: Reference, dependence: Dependence, when: str) -> Reason:
    line, name = second.access.expr.span.line, first.access.base.name
    teams = claim.directive.words[:1] == ("distribute",)
    head = "the teams do not wait for each other" if teams else "nowait is wrong: the threads do not wait for the loop"
    said = _word_witness(dependence.witness, claim, first, second)
    remedy = "end the construct on the device in between" if teams else "remove nowait, or add a barrier"
    text = f"{head}, and line {line} touches {name} as well{when}: {said}"
    return Reason("CLM001", text, second.access.expr.span, dependence, legal_if=(remedy,))


def _unfinished_sums(region: Region, claim: Claim, behind: dict[Stmt, Pragma | None]) -> Iterator[Reason]:
    """Yield the uses of what the loop reduces, before all threads have added their parts."""
    named = claim.directive.list_variables("reduction")
    sums = {s for s in claim.reductions if s.name in named}
    for statement in region.statements:
        if not statement.exact or not statement.within or statement.within[0] not in behind:
            continue
        access = next((a for a in statement.accesses if a.base in sums), None)
        if access is not None:
            sums.discard(access.base)
            does = "writes" if access.write else "reads"
            text = (
                f"nowait is wrong: the threads add their parts of {access.base.name} until all have left the loop, and "
                f"line {access.expr.span.line} {does} it"
            )
            yield Reason("CLM001", text, access.expr.span, legal_if=("remove nowait, or add a barrier",))


def _next_round(
    facts: Facts, function: Function, claim: Claim, around: tuple[Loop, ...], owned: frozenset[Symbol]
) -> Iterator[Reason]:
    """Yield what races with the loop in the next round of the loop around it."""
    outer = around[-1] if around else None
    region_body = next((r.body for r in regions_of(function) if r.pragma is claim.region), None)
    if not isinstance(outer, For) or not isinstance(outer.body, Block) or region_body is None:
        return
    if not any(n is outer for n in walk(region_body)) or not any(s is claim.marked for s in outer.body.statements):
        return
    front = dict(_until_wait(outer.body.statements)[0])
    region, state = build_region(facts.origin(function), (outer,), around[:-1], guards=False)
    if region.broken or state.lost or not region.reached:
        return
    reported: set[Symbol] = set()
    for group in references(state, region, owned, lambda s: id(s.within[-1]) if s.within else 0):
        ahead = [r for r in group if any(s is claim.marked for s in r.statement.within)]
        for first, second in ((a, b) for a in ahead for b in group if a.access.write or b.access.write):
            later = next((s for s in second.statement.within if s in front), None)
            if later is None or first.access.base in reported:
                continue
            pragma = front[later] if later is not claim.marked else claim.pragma
            found = _race_of_rounds(state, region, claim, (first, second), (outer, later, pragma))
            if found is not None:
                reported.add(first.access.base)
                yield found


def _race_of_rounds(
    state: State, region: Region, claim: Claim, pair: tuple[Reference, Reference], at: tuple[For, Stmt, Pragma | None]
) -> Reason | None:
    """Return the race of the loop with a statement of the next round; `at`: the loop around, the statement, its
    pragma."""
    (first, second), (outer, later, pragma) = pair, at
    directive = pragma.directive if pragma is not None else None
    shared = common_steps(first.element, second.element)
    if directive is None or shared is None or not shared[1] or not (first.exact and second.exact):
        return None
    if _differs(claim, first) or _differs(claim, second) or first.statement.loops[:1] != (outer,):
        return None
    if not directive.shares_loop or not isinstance(later, For) or later not in second.statement.loops[1:2]:
        return None
    dynamic = any("static" not in d.argument("schedule") and d.has("schedule") for d in (claim.directive, directive))
    depths = len(first.statement.counters), len(second.statement.counters)
    relation = access_map(state, first, shared[0]).apply_range(access_map(state, second, shared[0]).reverse())
    apart = not dynamic or _one_range(claim.loops[0], later)
    ids = {loop: loop.variable.name for loop in (*first.statement.loops, *second.statement.loops)}
    relation = relation.intersect(next_round(*depths, outer.step, apart=apart))
    conflict = None if relation.is_empty() else meaningful(state, Conflict(first, second, relation))
    dependence = describe(state, region, conflict, ids) if conflict is not None and not state.unproved else None
    if dependence is None:
        return None
    return _reason(claim, first, second, dependence, f" in the next round of {outer.variable.name}")


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
