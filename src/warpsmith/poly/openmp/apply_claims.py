"""The facts of a function with its pragmas applied: every claim judged, the unproved ones granted where they can be.

    Proved    the loop is what the analysis finds it to be; nothing rests on the pragma
    Refuted   the pragma counts for nothing: the loop is ported only if it is proved without it
    Unknown   the loop's verdict rests on the claim (an assumption `granted` by the pragma), and the referee tests it

A claim is granted as the user's sequential program means it: variables that the pragma makes each thread's own are each
iteration's own, what it reduces is combined, and only where the kernel can do exactly that. What it cannot do is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.poly.aliasing.blockers import blocker
from warpsmith.poly.analyze import Facts, too_large
from warpsmith.poly.claimed import claims_of, threadprivate
from warpsmith.poly.dependences.reductions import array_reductions
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.facts import ClaimFacts, FunctionFacts, LoopFacts, Reduction, least_first
from warpsmith.poly.legality.privacy import private_in
from warpsmith.poly.openmp.claims import judge_claim, unjudged
from warpsmith.poly.openmp.readings import with_reading
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import Assign, DeclStmt, For, Function, Loop, Stmt, Unary
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import loops, names, root_symbol, walk

__all__ = ["apply_claims"]


def apply_claims(facts: Facts, found: FunctionFacts) -> FunctionFacts:
    """Return the facts of a function with its claims, and with what those grant: those of a loop are judged when it is
    asked about."""
    own = facts.summaries.remember("threadprivate", lambda: threadprivate(facts.program))
    claims = claims_of(found.function, own)
    if not claims:
        return found
    around = dict(loops(found.function.body))
    large = too_large([*around.items()], facts.options.max_nodes)
    honored = _Honored(facts, found, claims, around, large)
    return FunctionFacts(found.unit, found.function, honored.loop, honored.judge_all)


class _Honored(Struct, frozen=True):
    """What the loops of one function share: its claims, and those that are judged, by their place among them."""

    facts: Facts
    found: FunctionFacts
    claims: tuple[Claim, ...]
    around: dict[Loop, tuple[Loop, ...]]
    large: Mapping[Loop, int]
    judged: dict[int, ClaimFacts] = field(default_factory=dict)

    def loop(self, loop: Loop) -> LoopFacts:
        """Return the facts of a loop with its claims; what stands in it is judged before it, as everywhere."""
        for inner in least_first(inner for inner, _ in loops(loop)):
            self.found.of(inner)
        plain = self.found.of(loop)
        mine = [self.claim(n) for n, claim in enumerate(self.claims) if _is_about(claim, loop)]
        honored = _with_claims(self.facts, self.found.function, plain, mine)
        read = [n for n, claim in enumerate(self.claims) if claim.pragma.reading is not None]
        return with_reading(honored, [self.claim(n) for n in read], self.around)

    def judge_all(self) -> None:
        """Judge all loops, then all claims in their order."""
        self.found.judge_all()
        for number in range(len(self.claims)):
            self.claim(number)

    def claim(self, number: int) -> ClaimFacts:
        """Return the verdict on one claim: each before it that was too much work halves what it may cost."""
        if number not in self.judged:
            self.judged[number] = self._judge(number)
        return self.judged[number]

    def _judge(self, number: int) -> ClaimFacts:
        claim = self.claims[number]
        if claim.marked in self.large and not claim.unclaimed:
            # what is too much to read for its verdict is so for that of its pragma
            return unjudged(claim)
        earlier = (one for n, one in self.judged.items() if n < number)
        given_up = sum(one.given_up for one in earlier if one.claim.marked not in self.large)
        before = {loop: self.found.of(loop) for loop in (claim.marked, *claim.loops)}
        return _judge_claim(self.facts, self.found.function, claim, self.around, before, given_up=given_up)


def _is_about(claim: Claim, loop: Loop) -> bool:
    return claim.marked is loop or any(covered is loop for covered in claim.loops)


def _judge_claim(
    facts: Facts,
    function: Function,
    claim: Claim,
    around: dict[Loop, tuple[Loop, ...]],
    before: dict[Loop, LoopFacts],
    *,
    given_up: int,
) -> ClaimFacts:
    """Return the verdict on a claim, from the memo where loop, pragmas and surroundings are the same nodes."""
    live = facts.liveness(function).after[claim.marked]
    key = (id(claim.marked), id(claim.pragma), id(claim.region), tuple(map(id, around[claim.marked])), live)
    known = facts.claims.get(key)
    if not isinstance(known, ClaimFacts):
        known = judge_claim(facts, function, claim, before, given_up)
        facts.claims[key] = known
    return known


def _with_claims(facts: Facts, function: Function, loop: LoopFacts, judged: list[ClaimFacts]) -> LoopFacts:
    """Return the facts of a loop with the claims about it."""
    mine = tuple(judged)
    for position, one in enumerate(mine):
        if _is_believed(facts, one.claim) and _may_be_granted(loop, one):
            granted = _grant_claim(facts, function, loop, one.claim)
            if isinstance(granted, Reason):
                return replace(loop, claims=mine, reasons=(*loop.reasons, granted))
            used = replace(one, granted=_assumption(one.claim))
            return replace(granted, claims=(*mine[:position], used, *mine[position + 1 :]))
    return replace(loop, claims=mine) if mine else loop


def _is_believed(facts: Facts, claim: Claim) -> bool:
    place = claim.span.file.path, claim.span.line
    return facts.options.claims == "trust" and place not in facts.options.disbelieved


def _may_be_granted(loop: LoopFacts, one: ClaimFacts) -> bool:
    """Whether the loop's verdict needs the claim, and the claim is open."""
    settled = isinstance(loop.verdict, Proved) or isinstance(loop.combined, Proved)
    wrong = isinstance(loop.verdict, Refuted) and loop.category == "sequential"
    open_claim = isinstance(one.verdict, Unknown) and one.understood and one.claim.kind == "threads"
    return open_claim and not settled and not wrong


def _assumption(claim: Claim) -> Assumption:
    text = f"the claim in line {claim.span.line} is true: {claim.text}"
    return Assumption(text, "granted", None, claim.span)


def _grant_claim(facts: Facts, function: Function, loop: LoopFacts, claim: Claim) -> LoopFacts | Reason:
    """Return the facts of a loop as its claim has them, or why a kernel could not honor the claim."""
    if not isinstance(loop.loop, For):
        return loop.reasons[0]
    stop = blocker(facts.origin(function), loop.loop)
    if stop is not None:
        return _inapplicable(claim, stop.text)
    roles = classify_scalars(facts.program, function, loop.loop, facts.liveness(function), facts.summaries)
    combined = {r.variable: r for r in (*roles.reductions, *array_reductions(loop.loop), *loop.reductions)}
    why = next(iter((*_find_unlisted(claim, roles, combined), *_find_unowned(facts, function, loop.loop, claim))), None)
    if why is not None:
        return _inapplicable(claim, why)
    live = facts.liveness(function).after[loop.loop]
    own = (*(c.symbol for c in roles.carried), *(scan.variable for scan in roles.scans))
    # of a loop that was too much work, no variable is known to be private
    private = tuple(dict.fromkeys((*loop.private, *roles.private, *own)))
    live_out = {*loop.live_out, *roles.live_out, *own}
    assumption = _assumption(claim)
    kept = tuple(r for r in combined.values() if r.variable in claim.reductions or _is_protected(claim, r.variable))
    kept += tuple(r for r in roles.reductions if r not in kept)
    reason = Reason("CLM002", f"taken from {claim.text} in line {claim.span.line}, which could not be proved",
                    claim.span, assumptions=(assumption.text,))  # fmt: skip
    common = replace(
        loop, private=private, live_out=tuple(s for s in private if s in live and s in live_out),
        reasons=(reason, *loop.reasons),
    )  # fmt: skip
    if not kept:
        return replace(common, category="parallel", verdict=Proved((assumption,)), reductions=(), combined=None)
    doubt = Unknown((reason,))
    return replace(common, category="reduction", verdict=doubt, combined=Proved((assumption,)), reductions=kept)


def _inapplicable(claim: Claim, why: str) -> Reason:
    return Reason("CLM002", f"the claim in line {claim.span.line} is not proved, and no kernel can rest on it: {why}",
                  claim.span)  # fmt: skip


def _find_unlisted(claim: Claim, roles: ScalarRoles, combined: dict[Symbol, Reduction]) -> Iterator[str]:
    """Yield what a kernel cannot do in the way that the claim says."""
    owned = claim.private | claim.lastprivate
    for carried in roles.carried:
        if carried.symbol not in owned:
            yield carried.reason.text
    for scan in roles.scans:
        if scan.variable not in owned:
            yield f"the running value of {scan.variable.name} is used"
    for symbol, op in claim.reductions.items():
        if symbol not in combined:
            yield f"the updates of {symbol.name} have no form that a kernel can combine"
        elif combined[symbol].op != op:
            yield f"{symbol.name} is combined by {combined[symbol].op}, not by {op}"
    yield from _unprotectable(claim, combined)


def _find_unowned(facts: Facts, function: Function, loop: For, claim: Claim) -> Iterator[str]:
    """Yield the arrays of which every thread has its own, and which a kernel would share."""
    named = {n.symbol for n in names(loop)}
    for symbol in sorted(((claim.owned | claim.inner) - claim.reductions.keys()) & named, key=lambda s: s.key):
        if isinstance(symbol.type, Array) and not isinstance(private_in(facts, function, loop, symbol), Proved):
            yield f"every iteration needs its own {symbol.name}"


def _unprotectable(claim: Claim, combined: dict[Symbol, Reduction]) -> Iterator[str]:
    for protected in claim.protected:
        stores = _find_stored(protected.statement)
        if protected.kind == "ordered" or not stores or not stores <= combined.keys():
            yield f"what {protected.kind} keeps apart (line {protected.statement.span.line}) is no associative update"


def _find_stored(stmt: Stmt) -> set[Symbol]:
    """Return the variables, arrays included, that a statement stores to."""
    targets = [n.target for n in walk(stmt) if isinstance(n, Assign)]
    targets += [n.operand for n in walk(stmt) if isinstance(n, Unary) and ("++" in n.op or "--" in n.op)]
    declared = {d.symbol for n in walk(stmt) if isinstance(n, DeclStmt) for d in n.declarations}
    return {s for target in targets if (s := root_symbol(target)) is not None} - declared


def _is_protected(claim: Claim, symbol: Symbol) -> bool:
    return any(n.symbol == symbol for p in claim.protected for n in names(p.statement))
