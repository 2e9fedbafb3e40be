"""The verdict on one counted loop.

Tried in this order, the first answer that proves the loop parallel wins: as written; with the conditions that the
user granted; with guards. So nothing is assumed that is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.dependences.avoid import avoid, is_avoidable
from warpsmith.poly.dependences.dependences import Conflict, Reference, conflicts, describe, references
from warpsmith.poly.dependences.in_place import find_in_place
from warpsmith.poly.dependences.packed import find_packed, is_element
from warpsmith.poly.dependences.possible import show
from warpsmith.poly.dependences.reductions import array_reductions, array_scans, updates
from warpsmith.poly.dependences.running import running_value, running_values
from warpsmith.poly.dependences.scalars import CarriedScalar, ScalarRoles
from warpsmith.poly.dependences.updates import AssociativeUpdate
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import Category, PolyOptions, Reduction
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region
from warpsmith.poly.regions.state import State
from warpsmith.tree.containers import holds_no_container
from warpsmith.tree.nodes import Call, For, Loop, VarDecl
from warpsmith.tree.printing.printer import quote_expression
from warpsmith.tree.types import Array, Pointer, Symbol
from warpsmith.tree.walk import walk

__all__ = ["Judgement", "Question", "doubt", "judge", "reaches_further", "unknown_element"]


class Question(Struct, frozen=True):
    """May the iterations of `loop` run in any order, the loops `around` it held fixed? `brief`: a refusal needs no
    witness (and is Unknown then)."""

    origin: Origin
    loop: For
    around: tuple[Loop, ...]
    roles: ScalarRoles
    options: PolyOptions
    ids: Mapping[For, str]
    brief: bool = False


class Doubted(Struct, frozen=True):
    """The conflicts that a refusal without a witness names, with the state in which they are possible."""

    state: State
    hard: tuple[Conflict, ...]


class Judgement(Struct, frozen=True):
    """The answer, with the model that it was read from. `combined` and `blamed`: see LoopFacts; `certain`: a refusal
    that no condition can change, unless it is `avoidable` (see avoid.py); `doubted`: see Doubted."""

    category: Category
    verdict: Verdict
    reasons: tuple[Reason, ...]
    reductions: tuple[Reduction, ...]
    region: Region
    combined: Verdict | None = None
    blamed: tuple[Symbol, ...] = ()
    certain: bool = False
    avoidable: bool = False
    doubted: Doubted | None = None


def judge(question: Question) -> Judgement:
    """Return the verdict on a loop that has no blocker."""
    options = question.options
    best = _attempt(question, granted=False, guards=False)
    if options.granted and not isinstance(best.combined or best.verdict, Proved):
        best = _better(best, _attempt(question, granted=True, guards=False))
    if options.guards and _open(best):
        best = _better(best, _attempt(question, granted=bool(options.granted), guards=True))
    return best if best.doubted is None else _show(question, best, best.doubted)


def _show(question: Question, answer: Judgement, doubted: Doubted) -> Judgement:
    """Return the answer with two iterations that meet, where some are found: certainly, or if data let them."""
    region, reasons = answer.region, list(answer.reasons)
    proofs: list[Reason] = []
    for conflict in sorted(doubted.hard, key=_interest)[: question.options.described]:
        shown = show(doubted.state, region, question.loop, conflict, question.ids)
        if shown is None:
            continue
        if shown.certain:
            text = f"carries {_article(shown.dependence.kind)} dependence on {shown.dependence.variable}"
            proofs.append(Reason("POR003", text, conflict.second.access.expr.span, shown.dependence))
            continue
        said = doubt(conflict)
        at = next((k for k, r in enumerate(reasons) if r.dependence is None and _same(r, said)), None)
        if at is not None:
            reasons[at] = replace(reasons[at], dependence=shown.dependence)
    if not proofs:
        return replace(answer, reasons=tuple(reasons), verdict=Unknown(tuple(reasons)))
    settled = region.reached and not region.unproved
    found = tuple(proofs)
    return replace(answer, category="sequential", reasons=found, verdict=(Refuted if settled else Unknown)(found))


def _same(one: Reason, other: Reason) -> bool:
    return (one.rule, one.text, one.span) == (other.rule, other.text, other.span)


def _better(old: Judgement, new: Judgement) -> Judgement:
    """Return the later answer, unless only the earlier one is certain, or needs less for as much."""
    if isinstance(new.verdict, Proved):
        return new
    if old.combined is not None:
        return new if isinstance(new.combined, Proved) and not isinstance(old.combined, Proved) else old
    return old if isinstance(old.verdict, Refuted) and isinstance(new.verdict, Unknown) else new


def _open(answer: Judgement) -> bool:
    """Whether guards could still settle an answer."""
    if isinstance(answer.verdict, Proved):
        return False
    if isinstance(answer.combined, Proved):
        # under a guard its elements may turn out to be apart: then it is parallel, which is better; a witness may be
        # one of rows that overlap, C[0][n] and C[1][0], which the guard of the rows excludes
        return not _is_certain(answer) or any(isinstance(r.variable.type, Array | Pointer) for r in answer.reductions)
    if answer.combined is not None or answer.avoidable:
        return True
    return not (answer.region.reached and not answer.region.unproved and _is_certain(answer))


def _is_certain(answer: Judgement) -> bool:
    return answer.certain or isinstance(answer.verdict, Refuted)


def _attempt(question: Question, *, granted: bool, guards: bool) -> Judgement:
    loop, origin = question.loop, question.origin
    grant = question.options.granted if granted else ()
    region, state = build_region(origin, (loop,), question.around, guards=guards, granted=grant)
    groups = references(state, region, _find_skipped(question))
    found = conflicts(state, region, loop, groups)
    region = _update_region(region, state)
    if loop in region.broken:
        reason = Reason("POR008", region.broken[loop], loop.header, legal_if=("use a wider or signed counter",))
        return Judgement("unanalyzable", Unknown((reason,)), (reason,), (), region)
    if state.lost:
        reason = Reason("POR005", state.lost_words, state.lost[0].span)
        return Judgement("unanalyzable", Unknown((reason,)), (reason,), (), region)
    updated = _own_updates(loop, region, found)
    accumulated = {r.variable: r for r in (*question.roles.reductions, *array_reductions(loop), *updated)}
    beside = {symbol for r in accumulated.values() for symbol in r.companions}
    scans = {r.variable: r for r in (*question.roles.scans, *_scans_in_place(loop, region))}
    packed = find_packed(loop, [r.variable for r in question.roles.scans], region)
    found = [c for c in found if c.first.access.base not in packed]
    question, scans = _drop_dependent(question, {**accumulated, **scans}, scans, found)
    hard = [c for c in found if c.first.access.base not in accumulated.keys() | scans.keys() | beside]
    if guards and hard and not question.roles.carried and avoid(state, hard):
        found = [c for c in found if c not in hard]
        hard, region = [], _update_region(region, state)
    if hard or question.roles.carried:
        return _sequential(question, region, state, hard)
    carried = {c.first.access.base for c in found}
    kept = tuple(r for s, r in {**accumulated, **scans}.items() if s in carried or _is_scalar(question, s))
    if kept:
        return _accumulating(question, region, state, _Carried(found, kept, guards))
    return _parallel(question, region, guards=guards)


class _Carried(Struct, frozen=True):
    """What a loop of associative updates carries, and whether guards may be used."""

    found: list[Conflict]
    kept: tuple[Reduction, ...]
    guards: bool


def _own_updates(loop: For, region: Region, found: list[Conflict]) -> list[Reduction]:
    """Return the objects all of whose conflicts are between the parts of associative updates by one operator."""
    owners = {id(node): update for update in updates(loop) for node in update.nodes}
    operators: dict[Symbol, set[str]] = {}
    spans: dict[Symbol, Span] = {}
    for conflict in found:
        pair = [owners.get(id(r.access.expr)) for r in (conflict.first, conflict.second)]
        used = operators.setdefault(conflict.first.access.base, set())
        used |= {"" if update is None or update.companions else update.op for update in pair}
        spans[conflict.first.access.base] = conflict.first.access.expr.span
    return [
        Reduction(min(ops), s, spans[s])
        for s, ops in operators.items()
        if len(ops) == 1 and not ops & {"", "&&", "||"} and not _is_read_beside(region, s, owners)
    ]


def _scans_in_place(loop: For, region: Region) -> Iterator[Reduction]:
    """Yield the running values in arrays that the iterations reach at their own elements, and at those before, only."""
    uses = {place.symbol: {id(use) for use in place.uses} for place in find_in_place(loop)}
    for scan in array_scans(loop):
        accesses = (a for s in region.statements for a in s.accesses if a.base == scan.variable and is_element(a))
        if all(id(a.expr) in uses[scan.variable] for a in accesses):
            yield scan


def _drop_dependent(
    question: Question, combined: Mapping[Symbol, Reduction], scans: dict[Symbol, Reduction], found: list[Conflict]
) -> tuple[Question, dict[Symbol, Reduction]]:
    """Return the scans without those that are none unless all that the loop combines can be computed together, where it
    cannot: the scalars among them are carried then."""
    loop, carried = question.loop, {c.first.access.base for c in found}
    known = {place.symbol for place in find_in_place(loop) if place.beside}
    dependent = {s: r for s, r in scans.items() if r.op == "latest" or s in known}
    together = [r for s, r in combined.items() if s in carried or _is_scalar(question, s)]
    stop = running_values(loop, together, question.origin.summaries) if dependent else ()
    if not isinstance(stop, Reason):
        return question, scans
    passed = (r for s, r in dependent.items() if _is_scalar(question, s))
    more = tuple(CarriedScalar(r.variable, Reason("POR003", stop.text, r.span), r.span, r.span) for r in passed)
    roles = replace(question.roles, carried=(*question.roles.carried, *more))
    return replace(question, roles=roles), {s: r for s, r in scans.items() if s not in dependent}


def _is_read_beside(region: Region, symbol: Symbol, owners: Mapping[int, AssociativeUpdate]) -> bool:
    """Whether something that is no update, or one of another kind, touches the very element that an update does: equal
    accesses are tested once, so that the conflicts do not tell."""
    accesses = [a for s in region.statements for a in s.accesses if a.base == symbol]
    updated = {repr(a.path): owners[id(a.expr)] for a in accesses if id(a.expr) in owners}
    mine = [(owners[id(a.expr)], updated[repr(a.path)]) for a in accesses if id(a.expr) in owners]
    if any(one.op != other.op or one.companions for one, other in mine):
        return True
    return any(repr(a.path) in updated or not a.known for a in accesses if id(a.expr) not in owners)


def _update_region(region: Region, state: State) -> Region:
    """Return the region with the assumptions that the dependence test added."""
    return Region(
        region.scope,
        region.vocabulary,
        region.statements,
        region.outer,
        state.context,
        tuple(state.assumptions),
        tuple(dict.fromkeys((*region.unproved, *state.unproved))),
        region.broken,
        region.reached,
    )


def _is_scalar(question: Question, symbol: Symbol) -> bool:
    roles = question.roles
    return any(r.variable == symbol for r in (*roles.reductions, *roles.scans))


def _find_skipped(question: Question) -> frozenset[Symbol]:
    """Return the variables that every iteration owns: private ones, those declared inside, counters."""
    owned = set(question.roles.private) | set(question.roles.local)
    for node in walk(question.loop):
        if isinstance(node, VarDecl) and node.symbol.storage == "local":
            owned.add(node.symbol)
        elif isinstance(node, For):
            owned.add(node.variable)
    return frozenset(owned)


def _sequential(question: Question, region: Region, state: State, hard: list[Conflict]) -> Judgement:
    """Something is carried: with a witness Refuted, else Unknown."""
    answer = _judge_briefly(question, region, hard) if question.brief else _judge_carried(question, region, state, hard)
    blamed = (*(c.first.access.base for c in hard), *(c.symbol for c in question.roles.carried))
    avoidable = not question.roles.carried and is_avoidable(state, hard)
    return replace(answer, blamed=tuple(dict.fromkeys(blamed)), avoidable=avoidable)


def _judge_briefly(question: Question, region: Region, hard: list[Conflict]) -> Judgement:
    certain = [c for c in hard if c.certain]
    if certain:
        category: Category = "sequential"
        reasons = (doubt(certain[0]), *(c.reason for c in question.roles.carried[:1]))
    else:
        category, doubts = _find_doubts(question, hard)
        reasons = doubts[:2]
    return Judgement(category, Unknown(reasons), reasons, (), region, certain=bool(certain) and region.reached)


def _judge_carried(question: Question, region: Region, state: State, hard: list[Conflict]) -> Judgement:
    proofs: list[Reason] = []
    ordered = sorted((c for c in hard if c.certain), key=_interest)
    for conflict in ordered[: question.options.described]:
        dependence = describe(state, region, conflict, question.ids)
        if dependence is not None:
            text = f"carries {_article(dependence.kind)} dependence on {dependence.variable}"
            span = conflict.second.access.expr.span
            proofs.append(Reason("POR003", text, span, dependence))
    if proofs:
        verdict = Refuted(tuple(proofs)) if region.reached else Unknown(tuple(proofs))
        return Judgement("sequential", verdict, tuple(proofs), (), region)
    category, doubts = _find_doubts(question, hard)
    open_conditions = tuple(Reason("POR005", text, question.loop.header) for text in region.unproved[:3])
    reasons = (*doubts, *open_conditions)
    return Judgement(category, Unknown(reasons), reasons, (), region, doubted=Doubted(state, tuple(hard)))


def _find_doubts(question: Question, hard: list[Conflict]) -> tuple[Category, tuple[Reason, ...]]:
    """Return the category of a loop of which nothing is certain, and its doubts, as many as are described: first those
    that decide the category."""
    carried = [one.reason for one in question.roles.carried]
    known = {(r.rule, r.text, r.span): r for r in (*map(doubt, hard), *carried)}
    doubts = sorted(known.values(), key=lambda reason: reason.rule == "POR003")
    category: Category = "unanalyzable" if doubts and doubts[0].rule != "POR003" else "sequential"
    return category, tuple(doubts[: question.options.described + len(carried)])


def _interest(conflict: Conflict) -> int:
    return ("flow", "anti", "output").index(conflict.kind)


def doubt(conflict: Conflict) -> Reason:
    """Return why a possible conflict cannot be excluded."""
    for reference in (conflict.first, conflict.second):
        if reference.element is None:
            return _vague(reference)
    name = conflict.first.access.base.name
    text = f"may carry {_article(conflict.kind)} dependence on {name}, under a condition that depends on data"
    return Reason("POR003", text, conflict.second.access.expr.span)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "ao" else f"a {kind}"


def _vague(reference: Reference) -> Reason:
    access = reference.access
    shown = quote_expression(access.expr)
    if isinstance(access.expr, Call):
        text = f"{shown} may touch any part of {access.base.name}"
    elif reaches_further(access):
        text = unknown_element(access)
    else:
        text = f"the subscript of {shown} is not affine"
    if isinstance(access.expr, Call):
        return Reason("POR005", text, access.expr.span, legal_if=("write the call's body here",))
    return Reason("POR005", text, access.expr.span)


def reaches_further(access: Access) -> bool:
    """Whether all that is known of a reference is the pointer, or the container, that it starts from."""
    return not access.known and (isinstance(access.base.type, Pointer) or not holds_no_container(access.base.type))


def unknown_element(access: Access) -> str:
    """Return the words for a reference of which only the variable is known that it starts from."""
    base, shown = access.base, quote_expression(access.expr)
    own = isinstance(base.type, Pointer) and shown.split("[")[0].strip() == base.name
    return f"{shown} may touch {'any element of' if own else 'anything that is reached through'} {base.name}"


def _accumulating(question: Question, region: Region, state: State, carried: _Carried) -> Judgement:
    """Only associative updates are carried."""
    kept, found = carried.kept, carried.found
    names = ", ".join(f"{r.op}: {r.variable.name}" for r in kept)
    scan_symbols = {r.variable for r in (*question.roles.scans, *_scans_in_place(question.loop, region))}
    category: Category = "scan" if any(r.variable in scan_symbols for r in kept) else "reduction"
    certain = sorted((c for c in found if c.certain), key=_interest)
    shown = () if question.brief else certain[:2]
    dependences = [d for c in shown if (d := describe(state, region, c, question.ids)) is not None]
    what = "a running value" if category == "scan" else "an associative update"
    text = f"{what} ({names}) is the only carried dependence"
    stop = _no_scan(question, [r for r in kept if r.variable in scan_symbols])
    rule = "POR002" if stop is None else "POR003"
    text = text if stop is None else f"{text}, and {stop.text}"
    reasons = tuple(Reason(rule, text, kept[0].span, d) for d in dependences[:1])
    if not reasons:
        reasons = (Reason(rule, text, kept[0].span),)
    verdict = Refuted(reasons) if dependences and region.reached else Unknown(reasons)
    if stop is not None:
        return Judgement("sequential", verdict, reasons, (), region, certain=bool(certain) and region.reached)
    assumptions, doubts = overlaps(question.origin, (question.loop,), region, question.options, guards=carried.guards)
    combined: Verdict = Unknown(doubts) if doubts else Proved(assumptions)
    settled = bool(certain) and question.brief and region.reached
    return Judgement(category, verdict, reasons, kept, region, combined, certain=settled)


def _no_scan(question: Question, scans: Sequence[Reduction]) -> Reason | None:
    """Return why a running value cannot be computed in parts, if one cannot."""
    found = (running_value(question.loop, scan, question.origin.summaries, _latest(scans)) for scan in scans)
    return next((reason for reason in found if isinstance(reason, Reason)), None)


def _latest(scans: Iterable[Reduction]) -> frozenset[Symbol]:
    return frozenset(scan.variable for scan in scans if scan.op == "latest")


def _parallel(question: Question, region: Region, *, guards: bool) -> Judgement:
    """No object conflicts with itself; what remains is whether two names are one object."""
    assumptions, doubts = overlaps(question.origin, (question.loop,), region, question.options, guards=guards)
    if doubts:
        return Judgement("unanalyzable", Unknown(doubts), doubts, (), region)
    how = "; ".join(a.text for a in assumptions)
    text = f"no carried dependence (if {how})" if how else "no carried dependence (proven)"
    reason = Reason("POR001", text, question.loop.header, assumptions=tuple(a.text for a in assumptions))
    return Judgement("parallel", Proved(assumptions), (reason,), (), region)
