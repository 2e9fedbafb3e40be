"""Is what a pragma says of a loop true? Each claim is Proved, Refuted with a witness, or Unknown.

    #pragma omp parallel for            t is written and read by every iteration: `t` needs private:
    for (i …) { t = a[i]; b[i] = t; }   iteration i = 0 writes t, iteration i = 1 writes it too

The analysis that judges loops without pragmas is asked another question here: with exactly the variables owned by each
thread that the clauses name, do two iterations touch one element, one of them writing? And of what a thread owns: does
an iteration read it before it has a value there, is it read after the loop, is it combined by the right operator?

Invariant: Refuted only with a pair of iterations (or one, for a variable that has no value yet) that certainly
run and certainly touch the element, and only where the program certainly reaches the loop; Proved only where no pair
exists, under the assumptions listed. With `collapse(n)` each of the n loops is judged, those around it held fixed: two
points of the iteration space differ first in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.aliasing.blockers import blocker
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of, find_covered_inside, regions_of, threadprivate
from warpsmith.poly.dependences.dependences import Conflict, Reference, conflicts, describe, meaningful, references
from warpsmith.poly.dependences.judge import doubt
from warpsmith.poly.dependences.reductions import array_reductions
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.facts import ClaimFacts, LoopFacts
from warpsmith.poly.isl.formula import both
from warpsmith.poly.isl.space import OutOfBudgetError, budget, far, in_other_chunks
from warpsmith.poly.openmp.concurrency.begun import find_begun
from warpsmith.poly.openmp.concurrency.concurrent import Asked
from warpsmith.poly.openmp.concurrency.nowait import find_overtaken
from warpsmith.poly.openmp.linear_lists import find_apart_by_linear
from warpsmith.poly.openmp.lists import owned_reasons
from warpsmith.poly.openmp.locks import with_critical_sections
from warpsmith.poly.openmp.same_pointers import SamePointers, find_same_pointers, in_later_rounds
from warpsmith.poly.openmp.words import ClaimContext, missing_clause, word_witness
from warpsmith.poly.pointers.fixed import fixed_pointers
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.places import followed_pointers
from warpsmith.poly.regions.region import Access, Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim, Protected
from warpsmith.tree.nodes import DeclStmt, For, Function, Literal, Loop, Name
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops, names, peel, walk

__all__ = ["judge_claim", "unjudged"]

_SHOWN = 3
# a claim may cost this part of what the verdict on its loop may
_SHARE = 2


def judge_claim(
    facts: Facts,
    function: Function,
    claim: Claim,
    judged: Mapping[Loop, LoopFacts] | None = None,
    given_up: int = 0,
) -> ClaimFacts:
    """Return the verdict on one claim of `function`; `judged`: what is known of its loops without their pragmas;
    `given_up`: how many claims of the function were too much work before, each of which halves the work budget."""
    if claim.unclaimed:
        reasons = tuple(Reason("CLM003", text, claim.span) for text in claim.unclaimed)
        return ClaimFacts(claim, Unknown(reasons), understood=False)
    locked = with_critical_sections(function, claim)
    if locked is not None:
        own = threadprivate(facts.program)
        sections = next(one for one in claims_of(locked, own) if one.pragma is claim.pragma)
        known = facts.after(facts.program.with_function(function, locked))
        return replace(judge_claim(known, locked, sections, None, given_up), claim=claim)
    question = _Question.of(facts, function, claim, judged or {})
    try:
        with budget(facts.options.max_operations // _SHARE >> given_up):
            return ClaimFacts(claim, question.answer())
    except OutOfBudgetError:
        return unjudged(claim)


def unjudged(claim: Claim) -> ClaimFacts:
    """Return what is known of a claim that is too much work."""
    text = "whether the claim is true could not be worked out within the work budget"
    return ClaimFacts(claim, Unknown((Reason("CLM002", text, claim.span),)), given_up=True)


class _Found(Struct):
    """What one attempt came upon."""

    wrong: list[Reason] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)


class _Question(Struct, frozen=True):
    facts: Facts
    function: Function
    claim: Claim
    around: tuple[Loop, ...]
    roles: ScalarRoles
    combined: frozenset[Symbol]
    judged: Mapping[Loop, LoopFacts]

    @classmethod
    def of(cls, facts: Facts, function: Function, claim: Claim, judged: Mapping[Loop, LoopFacts]) -> _Question:
        loop = claim.loops[0]
        around = next(outer for inner, outer in loops(function.body) if inner is loop)
        roles = classify_scalars(facts.program, function, loop, facts.liveness(function), facts.summaries)
        combined = frozenset(r.variable for r in (*roles.reductions, *array_reductions(loop)))
        return cls(facts, function, claim, around, roles, combined, judged)

    def answer(self) -> Verdict:
        """Try without conditions, then with what the user granted and with guards."""
        stop = blocker(self.facts.origin(self.function), self.claim.loops[0])
        if stop is not None:
            return Unknown((stop,))
        options = self.facts.options
        # what is known of the loops was tried without conditions before, but for pointers that are followed here
        known = options.guards and all(self._independent(loop) is not None for loop in self.claim.loops)
        known = known and not self._names_fixed_pointers()
        found = self._attempt(guards=known)
        if not known and not found.wrong and found.doubts and options.guards:
            found = self._attempt(guards=True)
        if not found.wrong:
            found.wrong += self._find_wrong_in_later_rounds()
        if found.wrong:
            return Refuted(_one_each(found.wrong)[:_SHOWN])
        if found.doubts:
            return Unknown(tuple(dict.fromkeys(found.doubts))[:_SHOWN])
        return Proved(tuple(dict.fromkeys(found.assumptions)))

    def _find_wrong_in_later_rounds(self) -> list[Reason]:
        """Return what is wrong where pointers are one that are two only in the first round of a loop around."""
        loop, wrong = self.claim.loops[0], list[Reason]()
        for same in find_same_pointers(self.facts.origin(self.function), loop, self.around):
            found = _Found()
            self._collect_conflicts(found, loop, self.around, 0, guards=False, same=same)
            wrong += (replace(reason, text=f"{same.text}: {reason.text}") for reason in found.wrong)
        return wrong

    def _names_fixed_pointers(self) -> bool:
        origin = self.facts.origin(self.function)
        fixed = fixed_pointers(self.function, origin.hidden)
        return any(n.symbol in fixed for n in names(self.claim.loops[0]))

    def _attempt(self, *, guards: bool) -> _Found:
        found = _Found()
        around = self.around
        for level, loop in enumerate(self.claim.loops):
            self._collect_conflicts(found, loop, around, level, guards=guards)
            around = (*around, loop)
        inside = frozenset(
            d.symbol
            for n in walk(self.claim.loops[0]) if isinstance(n, DeclStmt)
            for d in n.declarations if d.symbol.storage == "local"
        )  # fmt: skip
        owned = self._find_owned(self.claim.loops[0]) | inside
        asked = Asked(self.facts, self.function, self.claim, owned, guards)
        for beside in (find_overtaken(asked), find_begun(asked)):
            found.wrong += beside.wrong
            found.doubts += beside.doubts
            found.assumptions += beside.assumptions
        wrong, doubts = owned_reasons(self.facts, self.function, self.claim, self.around, self.roles)
        found.wrong += wrong
        found.doubts += doubts
        return found

    # --- what all threads share

    def _collect_conflicts(
        self,
        found: _Found,
        loop: For,
        around: tuple[Loop, ...],
        level: int,
        *,
        guards: bool,
        same: SamePointers | None = None,
    ) -> None:
        """Collect the conflicts of two iterations of one covered loop on what they share; `same`: only of rounds in
        which these pointers are one."""
        known = self._independent(loop) if same is None else None
        if known is not None and (guards or not any(a.kind == "guarded" for a in known)):
            found.assumptions += known
            return
        origin = self.facts.origin(self.function)
        granted = self.facts.options.granted if guards else ()
        held = () if same is None else ((same.pointer, same.value),)
        region, state = build_region(origin, (loop,), around, guards=guards, granted=granted, fixed=True, same=held)
        if same is not None:
            later = in_later_rounds(state, same)
            if later is None:
                return
            state.context = both((state.context, later))
        owned = self._find_owned(loop)
        groups = [*references(state, region, owned, self._guard_of), *_counters(region, loop, owned)]
        pairs = conflicts(state, region, loop, groups)
        if loop in region.broken:
            found.doubts.append(Reason("POR008", region.broken[loop], loop.header))
        if state.lost:
            found.doubts.append(Reason("POR005", state.lost_words, state.lost[0].span))
        reported = set(find_apart_by_linear(self.claim, region)) if not level else set()
        for pair in sorted(pairs, key=lambda c: ("flow", "output", "anti").index(c.kind)):
            if pair.first.access.base not in reported and self._conflict(found, region, state, pair, level):
                reported.add(pair.first.access.base)
        region = Region(
            region.scope, region.vocabulary, region.statements, region.outer, state.context, tuple(state.assumptions),
            tuple(dict.fromkeys((*region.unproved, *state.unproved))), region.broken, region.reached,
        )  # fmt: skip
        followed = followed_pointers(state, loop)
        assumptions, doubts = overlaps(origin, (loop,), region, self.facts.options, guards=guards, followed=followed)
        found.assumptions += assumptions
        found.doubts += doubts

    def _independent(self, loop: For) -> list[Assumption] | None:
        """Return under which conditions the iterations of a loop are independent, where each owns what the verdict
        without pragmas needs it to own: the claim says nothing new of what they share."""
        found = self.judged.get(loop)
        if (
            found is None
            or not isinstance(found.verdict, Proved)
            or not self._find_owned(loop).issuperset(found.private)
        ):
            return None
        return [assumption for assumption in found.verdict.assumptions if isinstance(assumption, Assumption)]

    def _find_owned(self, loop: For) -> frozenset[Symbol]:
        """Return the variables of which every iteration of `loop` has its own."""
        declared = {d.symbol for n in walk(loop) if isinstance(n, DeclStmt) for d in n.declarations}
        counters = {n.variable for n in walk(loop) if isinstance(n, For) and n.declares}
        covered = {covered.variable for covered in self.claim.loops}
        own = frozenset(s for s in declared if s.storage == "local") | counters | covered
        return own | self.claim.owned | self.claim.inner

    def _conflict(self, found: _Found, region: Region, state: State, pair: Conflict, level: int) -> bool:
        """Sort one conflict; True where it says all that there is to say about its object."""
        base = pair.first.access.base
        if base in self.claim.reductions:
            return True
        guards = [self._protection(r) for r in (pair.first, pair.second)]
        if self._keeps_order(guards):
            return False
        if _same_protection(guards):
            if base not in self.combined or any(g is not None and _is_ordered(g) for g in guards):
                found.doubts.append(_order_matters(pair, guards[0]))
            return False
        ends = (pair.first.access.expr, pair.second.access.expr)
        # an element that depends on the thread is another one in each
        apart = any(n.symbol in self.claim.differing for expr in ends for n in names(expr))
        weak = apart or (self.claim.kind == "simd" and (pair.kind != "flow" or self.claim.directive.has("safelen")))
        pair = _between_threads(pair, self.claim, level)
        real = meaningful(state, pair) if pair.certain and not weak else None
        dependence = None if real is None or state.unproved else describe(state, region, real, self._names())
        if dependence is None:
            found.doubts.append(doubt(pair))
            return False
        said = word_witness(dependence.witness, region)
        if not region.reached:
            text = f"if the loop is entered: {said}"
            found.doubts.append(Reason("CLM002", text, pair.second.access.expr.span, dependence))
            return True
        head = missing_clause(ClaimContext(self.facts, self.function, self.claim, self.roles), base, level)
        found.wrong.append(Reason("CLM001", f"{head}: {said}", pair.second.access.expr.span, dependence))
        return True

    def _keeps_order(self, pair: list[Protected | None]) -> bool:
        """Whether two statements run in the order of the loop's iterations: both in its `ordered` part."""
        inside = all(one is not None and one.kind == "ordered" for one in pair)
        asked = self.claim.directive.has("ordered") and len(self.claim.loops) == 1
        return inside and asked and not find_covered_inside(self.claim.loops[0])

    def _names(self) -> dict[For, str]:
        return {n: a for n, a in loop_names(self.function).items() if isinstance(n, For)}

    def _protection(self, reference: Reference) -> Protected | None:
        return self._guard_of(reference.statement)

    def _is_one_team(self) -> bool:
        """Whether the loop is certainly run by one team."""
        around = [r.directive for r in regions_of(self.function) if any(n is self.claim.marked for n in walk(r.body))]
        return any(directive.argument("num_teams").strip() == "1" for directive in (self.claim.directive, *around))

    def _guard_of(self, statement: Statement) -> Protected | None:
        """Return what keeps other threads out while the statement runs."""
        inside = (p for p in self.claim.protected if any(p.statement is stmt for stmt in statement.within))
        found = next(inside, None)
        # critical sections of two teams run at once
        teams = {"teams", "distribute"}.intersection(self.claim.directive.words) and not self._is_one_team()
        return None if found is not None and teams and found.kind != "atomic" else found


def _between_threads(pair: Conflict, claim: Claim, level: int) -> Conflict:
    """Return the conflict without the iterations that one thread certainly runs after another: those of a chunk."""
    loop, clause = claim.loops[0], "schedule" if "for" in claim.directive.words else "dist_schedule"
    _, _, size = claim.directive.argument(clause).partition(",")
    if not size or pair.relation is None or size.strip() == "1":
        return pair
    if level or len(claim.loops) > 1 or not size.strip().isdecimal():
        # the chunks of collapsed loops, or of a size that is not known
        return Conflict(pair.first, pair.second, None)
    length = int(size) * abs(loop.step)
    depths = len(pair.first.statement.counters), len(pair.second.statement.counters)
    first = peel(loop.lower)
    if isinstance(first, Literal) and isinstance(first.value, int) and loop.step > 0:
        apart = in_other_chunks(*depths, first.value, length)
    else:
        apart = far(*depths, length)
    relation = pair.relation.intersect(apart)
    return Conflict(pair.first, pair.second, None if relation.is_empty() else relation)


def _one_each(reasons: list[Reason]) -> tuple[Reason, ...]:
    """Return one reason for each thing that is wrong: a value that passes between iterations says most."""
    kinds = {"flow": 0, "output": 1, "anti": 2}
    best: dict[str, Reason] = {}
    for reason in sorted(reasons, key=lambda r: kinds.get(r.dependence.kind, 0) if r.dependence is not None else 0):
        best.setdefault(reason.text.partition(":")[0] if reason.dependence is not None else reason.text, reason)
    return tuple(best.values())


def _is_ordered(protected: Protected) -> bool:
    """Whether the order in which the protected statements run is what the program sees."""
    return protected.kind == "ordered" or any(protected.directive.has(word) for word in ("capture", "read", "write"))


def _same_protection(pair: list[Protected | None]) -> bool:
    one, other = pair
    return one is not None and other is not None and (one.kind, one.name) == (other.kind, other.name)


def _order_matters(pair: Conflict, protected: Protected | None) -> Reason:
    base = pair.first.access.base.name
    kind = "atomic" if protected is None else protected.kind
    text = f"{kind} keeps threads apart, but the order in which they come to {base} may matter"
    return Reason("CLM002", text, pair.second.access.expr.span)


def _counters(region: Region, loop: For, owned: frozenset[Symbol]) -> Iterator[list[Reference]]:
    """Yield, for each counter of an inner loop that threads share, the places where it is set. The counter of a loop
    with a pragma of its own is private there."""
    apart = find_covered_inside(loop)
    groups: dict[Symbol, list[Reference]] = {}
    for inner in walk(loop.body):
        entry = region.entries.get(inner) if isinstance(inner, For) else None
        if entry is None or not isinstance(inner, For) or inner.variable in owned or inner in apart:
            continue
        name = Name(span=inner.header, type=inner.variable.type, symbol=inner.variable)
        access = Access(name, inner.variable, "", (), True, inner.variable.type, True)
        statement = Statement(inner, entry.loops, entry.counters, both(entry.path), entry.exact, (access,), (inner,))
        groups.setdefault(inner.variable, []).append(Reference(statement, access, ()))
    yield from groups.values()
